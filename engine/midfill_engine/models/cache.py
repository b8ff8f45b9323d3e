"""The encoder's keys and values of the prefix, kept from one request to the next.

transformers' own sliding layers throw away what left the window, so that a cache past it cannot be cropped: the user
who deletes a line would pay for the whole prefix again. This one keeps every position and shows a sliding layer the
last `window - 1` of them, which is what transformers would have kept. It speaks as much of transformers' Cache protocol
as the attention of encoder and decoder uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_FIRST_CAPACITY = 256


class LayerCache:
    """Keys and values of one layer, [1, heads, capacity, dim], of which the first `length` positions count."""

    def __init__(self, window: int | None) -> None:
        self._window = window
        self._keys: Tensor | None = None
        self._values: Tensor | None = None
        self.length = 0

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store new positions; what they may attend to, as far back as a window reaches."""
        num_new = keys.shape[-2]
        self._reserve(keys, values, self.length + num_new)
        assert self._keys is not None
        assert self._values is not None
        self._keys[:, :, self.length : self.length + num_new] = keys
        self._values[:, :, self.length : self.length + num_new] = values
        self.length += num_new
        first = 0 if self._window is None else max(0, self.length - num_new - self._window + 1)
        return self._keys[:, :, first : self.length], self._values[:, :, first : self.length]

    def visible(self, batch: int) -> tuple[Tensor, Tensor]:
        """What a canvas sees, [batch, heads, positions, dim] each, without copying."""
        assert self._keys is not None
        assert self._values is not None
        first = 0 if self._window is None else max(0, self.length - self._window + 1)
        return tuple(t[:, :, first : self.length].expand(batch, -1, -1, -1) for t in (self._keys, self._values))  # type: ignore[return-value]

    def _reserve(self, keys: Tensor, values: Tensor, needed: int) -> None:
        capacity = 0 if self._keys is None else self._keys.shape[-2]
        if needed <= capacity:
            return
        capacity = max(_FIRST_CAPACITY, capacity)
        while capacity < needed:
            capacity *= 2
        self._keys = self._grown(self._keys, keys, capacity)
        self._values = self._grown(self._values, values, capacity)

    def _grown(self, old: Tensor | None, like: Tensor, capacity: int) -> Tensor:
        grown = like.new_empty(1, like.shape[1], capacity, like.shape[3])
        if old is not None:
            grown[:, :, : self.length] = old[:, :, : self.length]
        return grown


class PrefixCache:
    """All layers of one encoded prefix. `windows`: of each layer, None where it sees everything."""

    is_compileable = False

    def __init__(self, windows: list[int | None]) -> None:
        self.layers = [LayerCache(window) for window in windows]

    @property
    def length(self) -> int:
        return self.layers[0].length

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.layers[layer_idx].length

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, **_: object) -> tuple[Tensor, Tensor]:
        """What transformers' encoder attention calls to store and to see."""
        return self.layers[layer_idx].append(keys, values)

    def crop(self, length: int) -> None:
        """Forget all positions from `length` on."""
        assert 0 <= length <= self.length
        for layer in self.layers:
            layer.length = length

    def seen_by(self, batch: int) -> DecoderView:
        """The cache as the decoder of a batch of canvases reads it."""
        return DecoderView([LayerView(*layer.visible(batch)) for layer in self.layers])


@dataclass(frozen=True)
class LayerView:
    """Keys and values of one layer for a batch of canvases, [B, heads, positions, dim]."""

    keys: Tensor
    values: Tensor


@dataclass(frozen=True)
class DecoderView:
    """Read-only cache of the decoder's attention."""

    layers: list[LayerView]
    is_compileable = False


class RowCache:
    """Rows that each go on behind one prefix: what they see of it, and their own positions."""

    is_compileable = False

    def __init__(self, prefix: DecoderView) -> None:
        self._prefix = prefix
        self._own: dict[int, tuple[Tensor, Tensor]] = {}

    @property
    def length(self) -> int:
        """How many positions each row has of its own."""
        return self.get_seq_length()

    def get_seq_length(self, layer_idx: int = 0) -> int:
        own = self._own.get(layer_idx)
        return 0 if own is None else own[0].shape[-2]

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, **_: object) -> tuple[Tensor, Tensor]:
        """What transformers' encoder attention calls to store and to see."""
        if layer_idx in self._own:
            old_keys, old_values = self._own[layer_idx]
            keys, values = torch.cat([old_keys, keys], -2), torch.cat([old_values, values], -2)
        self._own[layer_idx] = keys, values
        seen = self._prefix.layers[layer_idx]
        return torch.cat([seen.keys, keys], -2), torch.cat([seen.values, values], -2)

    def reorder(self, parents: Tensor) -> None:
        """Let each row have what its parent has."""
        self._own = {i: (keys[parents], values[parents]) for i, (keys, values) in self._own.items()}


def row_mask(num_new: int, num_own: int, past: int, window: int | None, device: torch.device) -> Tensor:
    """[1, 1, num_new, seen] bool, True where a new position of a row may look, over what `RowCache.update` shows."""
    first = 0 if window is None else max(0, past - window + 1)
    query = torch.arange(past + num_own, past + num_own + num_new, device=device)[:, None]
    key = torch.arange(first, past + num_own + num_new, device=device)[None, :]
    mask = key <= query
    if window is not None:
        mask &= key > query - window
    return mask[None, None]


def causal_mask(num_new: int, past: int, window: int | None, device: torch.device) -> Tensor | None:
    """[1, 1, num_new, seen] bool, True where a new position may look, over what `LayerCache.append` shows.

    None where plain attention does: nothing cached and no window reached (then the attention's own causal flag holds),
    or a single new position that sees all it is shown.
    """
    first = 0 if window is None else max(0, past - window + 1)
    if num_new == 1 or (past == 0 and (window is None or num_new <= window)):
        return None
    query = torch.arange(past, past + num_new, device=device)[:, None]
    key = torch.arange(first, past + num_new, device=device)[None, :]
    mask = key <= query
    if window is not None:
        mask &= key > query - window
    return mask[None, None]
