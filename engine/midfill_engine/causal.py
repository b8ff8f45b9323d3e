"""A block-diffusion model's other side: its encoder and head are a causal language model of the same weights.

Read left to right it drafts lines, blind to what follows; and in one pass it says how likely middles are together with
the text after them, which makes it a judge of all drafts, its own included. A small model that was trained briefly
knows its language better from left to right than from noise, and then this is worth its milliseconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from midfill_engine.beam import Beam, BeamDraft, Branching, best_of_each_length, search
from midfill_engine.confidence import Evidence
from midfill_engine.core import Control

MOST_OF_A_LENGTH = 3
JUDGED = 12
"""How many tokens behind a middle are read to judge it: more say hardly more, and cost as much as a middle."""


@dataclass(frozen=True)
class Likelihood:
    """log P(middle | before) and log P(after | before, middle), where `num_after` tokens are read."""

    middle: float
    after: float
    num_after: int = 0

    @property
    def total(self) -> float:
        return self.middle + self.after


def evidence_of(likelihood: Likelihood, num_tokens: int, share: float) -> Evidence:
    """What a judgement says of how sure a draft of `num_tokens` may be called; `share` see `Evidence`."""
    after = likelihood.after / max(1, likelihood.num_after)
    return Evidence(share=share, middle=likelihood.middle, num_tokens=num_tokens, after=after)


class CausalHead:
    """Drafts and judges with a causal model. `banned`, `line_ends`: [V] bool, tokens that are never drafted, and those
    that end a line."""

    def __init__(self, model: Branching, banned: Tensor, line_ends: Tensor) -> None:
        self._model = model
        self._banned = banned
        self._line_ends = line_ends

    def drafts(self, ids: list[int], beam: Beam, control: Control) -> list[BeamDraft]:
        """What may stand behind `ids` (two tokens or more), best first: the rest of a line, or the likeliest of one
        line, of two and so on. Nothing where cancelled or out of time."""

        def is_stopped() -> bool:
            return control.is_cancelled() or (control.deadline is not None and time.monotonic() >= control.deadline)

        drafts = search(self._model, ids, beam, self._banned, self._line_ends, is_stopped) or []
        return drafts[: beam.width] if beam.max_lines == 1 else best_of_each_length(drafts, MOST_OF_A_LENGTH)

    def likelihoods(self, ids: list[int], middles: list[list[int]], after: list[int]) -> list[Likelihood]:
        """How likely each middle is behind `ids`, and what follows behind the middle: the likeliest in its place has
        the highest sum."""
        said = [middle + after[:JUDGED] for middle in middles]
        room = max((len(tokens) for tokens in said), default=0)
        if room == 0:
            return [Likelihood(0.0, 0.0)] * len(middles)
        self._model.encode(ids[:-1])
        first = self._model.next_logits(ids)[-1:]
        self._model.branch(ids, len(said), room)
        rows = torch.tensor([tokens + [0] * (room - len(tokens)) for tokens in said], device=first.device)
        further = (
            self._model.branch_logits(rows[:, :-1]) if room > 1 else first.new_empty(len(said), 0, first.shape[-1])
        )
        logits = torch.cat([first.expand(len(said), 1, -1), further], 1)
        log_probs = logits.gather(-1, rows[..., None])[..., 0] - logits.logsumexp(-1)
        sizes = [(len(middle), len(tokens)) for middle, tokens in zip(middles, said, strict=True)]
        return [
            Likelihood(float(row[:inner].sum()), float(row[inner:outer].sum()), outer - inner)
            for row, (inner, outer) in zip(log_probs, sizes, strict=True)
        ]
