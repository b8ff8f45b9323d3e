"""Products with weights that never change, in the form the processor wants them.

oneDNN lays bfloat16 weights out anew in every call; for a few rows that costs more than the product. Laid out once, a
product with 8 rows takes 0.4 of the time and one with 48 rows 0.8. The operators are those that torch's own compiler
emits for frozen weights; where a build of torch lacks them the plain product is made.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

Product = Callable[[Tensor], Tensor]
"""[..., out] from [..., in], both in the weight's type."""


def product(weight: Tensor) -> Product:
    """Multiply by the transpose of `weight` [out, in], which must not change any more."""
    packed = _packed(weight)
    if packed is None:
        return lambda rows: F.linear(rows, weight)
    multiply = torch.ops.mkldnn._linear_pointwise
    return lambda rows: multiply(rows, packed, None, "none", [], "")


def _packed(weight: Tensor) -> Tensor | None:
    """The weight laid out for oneDNN; None where that is not to be had or not worth it."""
    if weight.dtype is not torch.bfloat16 or weight.device.type != "cpu" or not _has_operators():
        return None
    try:
        packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
        torch.ops.mkldnn._linear_pointwise(weight.new_zeros(1, weight.shape[1]), packed, None, "none", [], "")
    except RuntimeError:  # this processor has no use for it
        return None
    return packed


def _has_operators() -> bool:
    operators = torch.ops.mkldnn
    has_both = hasattr(operators, "_linear_pointwise") and hasattr(operators, "_reorder_linear_weight")
    return has_both and torch.backends.mkldnn.is_available()
