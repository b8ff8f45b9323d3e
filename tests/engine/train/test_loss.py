"""The fused cross-entropy against the plain path."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from midfill_engine.train.loss import CHUNK, cross_entropy

CAP = 30.0


def plain(hidden: Tensor, head: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    logits = torch.tanh(hidden @ head.T / CAP) * CAP
    return (torch.nn.functional.cross_entropy(logits, target, reduction="none") * weight).sum()


@pytest.mark.parametrize("rows", [1, CHUNK - 1, CHUNK, 2 * CHUNK + 3])
def test_loss_and_gradients_equal_the_plain_path(rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    hidden, head = torch.randn(rows, 24, generator=generator), torch.randn(60, 24, generator=generator)
    target, weight = torch.randint(60, (rows,), generator=generator), torch.rand(rows, generator=generator)
    found = []
    for function in (lambda *args: cross_entropy(*args, CAP)[0], plain):
        leaves = hidden.clone().requires_grad_(), head.clone().requires_grad_()
        loss = function(*leaves, target, weight)
        (3 * loss).backward()
        found.append((loss.detach(), leaves[0].grad, leaves[1].grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_hits_are_the_rows_whose_argmax_is_the_target() -> None:
    head = torch.eye(5)
    _, right = cross_entropy(3 * torch.eye(5)[[0, 1, 2]], head, torch.tensor([0, 1, 4]), torch.ones(3), CAP)
    assert right.tolist() == [True, True, False]


def test_no_rows_cost_nothing() -> None:
    head = torch.zeros(5, 4, requires_grad=True)
    total, right = cross_entropy(torch.zeros(0, 4), head, torch.zeros(0, dtype=torch.long), torch.zeros(0), CAP)
    assert float(total.detach()) == 0
    assert len(right) == 0
