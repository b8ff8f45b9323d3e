"""Our Muon against torch's; the average; the schedule."""

from __future__ import annotations

import torch

from midfill_engine.train.optimise import Muon, Optimiser, OptimiserSettings, learning_rate_scale, orthogonalise


def test_muon_equals_torch_muon() -> None:
    """Several shapes, several steps; torch iterates in bf16 always, so ours does here too, within bf16's precision."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(24, 16), (16, 24), (24, 16), (16, 16)]
    ours = [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    settings = OptimiserSettings(muon_lr=0.02, weight_decay=0.1, momentum=0.9)
    muon = Muon(ours, settings, torch.bfloat16)
    reference = torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1, momentum=0.9, adjust_lr_fn="match_rms_adamw")
    for _ in range(4):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn(a.shape, generator=generator)
            b.grad = a.grad.clone()
        muon.step(1.0)
        reference.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-3)


def test_orthogonalise_evens_out_the_singular_values() -> None:
    x = orthogonalise(torch.randn(3, 20, 12, generator=torch.Generator().manual_seed(1)), torch.float32)
    values = torch.linalg.svdvals(x)
    assert float(values.min()) > 0.3
    assert float(values.max()) < 1.6


def test_the_average_is_swapped_in_and_out(tiny) -> None:
    model = tiny.model()
    optimiser = Optimiser(model, OptimiserSettings(), torch.float32)
    before = [p.detach().clone() for p in optimiser.parameters]
    for step in range(3):
        for parameter in optimiser.parameters:
            parameter.grad = torch.ones_like(parameter)
        optimiser.step(1.0, step)
    after = [p.detach().clone() for p in optimiser.parameters]
    optimiser.swap_average()
    assert not all(torch.equal(p, kept) for p, kept in zip(optimiser.parameters, after, strict=True))
    optimiser.swap_average()
    assert all(torch.equal(p, kept) for p, kept in zip(optimiser.parameters, after, strict=True))
    assert not any(torch.equal(p, kept) for p, kept in zip(after, before, strict=True))


def test_the_vision_tower_stays_frozen(tiny) -> None:
    model = tiny.model()
    Optimiser(model, OptimiserSettings(), torch.float32)
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert trained
    assert not [name for name in trained if "vision" in name]


def test_the_schedule_is_flat_then_falls_to_its_floor() -> None:
    scales = [learning_rate_scale(fraction, decay=0.5, floor=0.1) for fraction in (0.0, 0.5, 0.75, 1.0, 2.0)]
    assert scales == [1.0, 1.0, 0.5, 0.1, 0.1]
