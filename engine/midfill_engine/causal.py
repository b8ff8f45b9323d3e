"""A block-diffusion model's other side: its encoder and head are a causal language model of the same weights.

Read left to right it drafts the rest of a line, blind to what follows; and in one pass it says how likely a middle is
together with the text after it, which makes it a judge of all drafts, its own included. A small model that was trained
briefly knows its language better from left to right than from noise, and then this is worth its few milliseconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import torch

from midfill_engine.core import Control


class CausalModel(Protocol):
    """A model that also predicts the next token."""

    def next_logits(self, ids: list[int]) -> torch.Tensor:
        """Logits of what follows each token of `ids` that is newly encoded, [n, V]."""
        ...

    def encode(self, ids: list[int]) -> object:
        """Make the cache hold exactly `ids`."""
        ...


@dataclass(frozen=True, kw_only=True)
class CausalDraft:
    """Greedy tokens of a line and their log-probabilities, the line end's last if `is_ended`."""

    tokens: list[int]
    log_probs: list[float]
    is_ended: bool


class CausalHead:
    """Drafts and judges with a causal model. `banned`, `line_ends`: [V] bool, tokens that are never drafted, and those
    before which a draft of a line ends."""

    def __init__(self, model: CausalModel, banned: torch.Tensor, line_ends: torch.Tensor) -> None:
        self._model = model
        self._banned = banned
        self._line_ends = line_ends

    def draft(self, ids: list[int], max_tokens: int, control: Control) -> CausalDraft | None:
        """The rest of the line after `ids` (two tokens or more); None where cancelled or out of time."""
        self._model.encode(ids[:-1])
        tokens: list[int] = []
        log_probs: list[float] = []
        while len(tokens) < max_tokens:
            if control.is_cancelled() or (control.deadline is not None and time.monotonic() >= control.deadline):
                return None
            scores = self._model.next_logits(ids + tokens)[-1].masked_fill(self._banned, float("-inf"))
            best, token = scores.log_softmax(-1).max(-1)
            log_probs.append(float(best))
            if bool(self._line_ends[token]):
                return CausalDraft(tokens=tokens, log_probs=log_probs, is_ended=True)
            tokens.append(int(token))
        return CausalDraft(tokens=tokens, log_probs=log_probs, is_ended=False)

    def log_likelihood(self, ids: list[int], middle: list[int], after: list[int]) -> float:
        """log P(middle, after | ids), so that of several middles the likeliest in its place has the highest."""
        said = middle + after
        if not said:
            return 0.0
        self._model.encode(ids[:-1])
        log_probs = self._model.next_logits(ids + said)[:-1].log_softmax(-1)
        return float(log_probs.gather(-1, torch.tensor(said, device=log_probs.device)[:, None]).sum())
