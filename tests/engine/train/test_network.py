"""The lean forward against transformers' own, in values and in gradients."""

from __future__ import annotations

import torch

from midfill_engine.train.network import Network, cast_weights, embed

WINDOW, CANVAS = 150, 24


def losses_by_both(tiny) -> list[tuple[torch.Tensor, dict[str, torch.Tensor]]]:
    """A loss over encoder states and canvas logits, and its gradients, by the class and by ours."""
    model = tiny.model()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():  # norms and scales of 1 would hide a wrong fold
        for parameter in model.model.decoder.parameters():
            if parameter.ndim == 1:
                parameter.mul_(1 + 0.2 * torch.randn(parameter.shape, generator=generator))
    ids = torch.randint(16, 512, (2, WINDOW), generator=generator)
    canvas = torch.randint(16, 512, (2, CANVAS), generator=generator)
    logits = torch.randn(2, CANVAS, 512, generator=generator)
    out = model(input_ids=ids, decoder_input_ids=canvas, self_conditioning_logits=logits)
    found = [_derive(model, out.logits, out.encoder_last_hidden_state)]
    weights = cast_weights(model, torch.float32)
    network = Network(model)
    hidden, past = network.encode(weights, ids)
    soft = (logits.softmax(-1) @ weights.embedding) * weights.embed_scale
    positions = torch.arange(WINDOW, WINDOW + CANVAS)[None]
    states = network.decode(weights, canvas, soft, past, positions, (torch.zeros(2, 1, CANVAS, WINDOW + CANVAS),))
    capped = torch.tanh(states @ weights.embedding.T / weights.softcap) * weights.softcap
    return [*found, _derive(model, capped, hidden)]


def _derive(model, logits, hidden):
    weight = torch.linspace(-1, 1, logits.shape[-1])
    loss = (logits * weight).square().mean() + hidden.cos().mean()
    model.zero_grad()
    loss.backward()
    named = {name: p.grad.clone() for name, p in model.model.decoder.named_parameters() if p.grad is not None}
    return loss.detach(), named


def test_values_and_gradients_equal_the_class(tiny) -> None:
    (theirs, their_gradients), (ours, our_gradients) = losses_by_both(tiny)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert set(our_gradients) <= set(their_gradients)
    for name, gradient in their_gradients.items():
        # The router of a lone expert decides nothing: its softmax is 1 whatever it computes.
        assert "router" in name or name in our_gradients, name
        if name in our_gradients:
            torch.testing.assert_close(
                our_gradients[name], gradient, rtol=2e-3, atol=2e-5, msg=lambda m, n=name: f"{n}: {m}"
            )


def test_blocks_change_nothing(tiny) -> None:
    """Two canvases in two blocks, of which the first sees half the prefix, against each one alone."""
    model = tiny.model()
    weights, network = cast_weights(model, torch.float32), Network(model)
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(16, 512, (1, 100), generator=generator)
    canvas = torch.randint(16, 512, (1, 2 * CANVAS), generator=generator)
    _, past = network.encode(weights, ids)
    positions = torch.cat([torch.arange(50, 50 + CANVAS), torch.arange(100, 100 + CANVAS)])[None]
    masks = tuple(torch.zeros(1, 1, CANVAS, seen + CANVAS) for seen in (50, 100))
    soft = embed(weights, canvas)
    together = network.decode(weights, canvas, soft, past, positions, masks)
    for number, seen in enumerate((50, 100)):
        own = slice(number * CANVAS, (number + 1) * CANVAS)
        _, past_alone = network.encode(weights, ids[:, :seen])
        mask = (torch.zeros(1, 1, CANVAS, seen + CANVAS),)
        alone = network.decode(weights, canvas[:, own], soft[:, own], past_alone, positions[:, own], mask)
        torch.testing.assert_close(together[:, own], alone, rtol=1e-4, atol=1e-5)
