"""Products with weights that never change, in the form the processor wants them.

oneDNN lays bfloat16 weights out anew in every call; for a few rows that costs more than the product. Laid out once, a
product with 8 rows takes 0.4 of the time and one with 48 rows 0.8. What follows a product can be made with it while its
rows are at hand: a gated one takes half the time with 56 rows. The operators are those that torch's own compiler emits
for frozen weights; where a build of torch lacks them the plain product is made.
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


def gated_product(gates: Tensor, inputs: Tensor) -> Product:
    """gelu(rows @ gates.T) * (rows @ inputs.T), of weights [out, in] that must not change any more."""
    packed_gates, packed_inputs = _packed(gates), _packed(inputs)
    if packed_gates is None or packed_inputs is None:
        gate, take_in = product(gates), product(inputs)
        return lambda rows: F.gelu(gate(rows), approximate="tanh") * take_in(rows)
    multiply = torch.ops.mkldnn._linear_pointwise

    def gated(rows: Tensor) -> Tensor:
        active = multiply(rows, packed_gates, None, "gelu", [], "tanh")
        result: Tensor = multiply.binary(rows, active, packed_inputs, None, "mul")
        return result

    return gated


def _packed(weight: Tensor) -> Tensor | None:
    """The weight laid out for oneDNN; None where that is not to be had or not worth it."""
    if weight.dtype is not torch.bfloat16 or weight.device.type != "cpu" or not _has_operators():
        return None
    try:
        packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
        rows = weight.new_zeros(1, weight.shape[1])
        made = torch.ops.mkldnn._linear_pointwise(rows, packed, None, "gelu", [], "tanh")
        torch.ops.mkldnn._linear_pointwise.binary(rows, made, packed, None, "mul")
    except RuntimeError:  # this processor has no use for it
        return None
    return packed


def _has_operators() -> bool:
    operators = torch.ops.mkldnn
    has_both = hasattr(operators, "_linear_pointwise") and hasattr(operators, "_reorder_linear_weight")
    return has_both and torch.backends.mkldnn.is_available()
