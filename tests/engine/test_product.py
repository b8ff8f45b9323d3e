"""A product with weights laid out for the processor is the plain product."""

from __future__ import annotations

import pytest
import torch

from midfill_engine.models.product import gated_product, product


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 24), (7, 24), (2, 3, 24), (0, 24), (1, 300, 24)])
def test_what_comes_out_is_the_plain_product(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(40, 24, generator=generator).to(dtype)
    rows = torch.randn(shape, generator=generator).to(dtype)
    got = product(weight)(rows)
    assert got.dtype is dtype
    torch.testing.assert_close(got, torch.nn.functional.linear(rows, weight), atol=5e-2, rtol=2e-2)


def test_rows_that_are_a_part_of_others_may_be_multiplied() -> None:
    """The layers hand over slices that are not contiguous."""
    weight = torch.randn(16, 24, generator=torch.Generator().manual_seed(0)).bfloat16()
    rows = torch.randn(3, 5, 60, generator=torch.Generator().manual_seed(1)).bfloat16()[..., 10:34]
    torch.testing.assert_close(product(weight)(rows), torch.nn.functional.linear(rows, weight), atol=5e-2, rtol=2e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 24), (7, 24), (2, 3, 24), (0, 24), (1, 300, 24)])
def test_a_gated_product_is_the_plain_one(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    gates, inputs = torch.randn(2, 40, 24, generator=generator).to(dtype)
    rows = torch.randn(shape, generator=generator).to(dtype)
    got = gated_product(gates, inputs)(rows)
    linear = torch.nn.functional.linear
    active = torch.nn.functional.gelu(linear(rows.float(), gates.float()), approximate="tanh")
    assert got.dtype is dtype
    torch.testing.assert_close(got.float(), active * linear(rows.float(), inputs.float()), atol=0.2, rtol=3e-2)
