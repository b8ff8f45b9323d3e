"""Beam search for the rest of a line, or for whole lines: several likely middles for little more than the price of one.

The rows share one encoded prefix and grow a token a step. Wherever a line could end, what a row has so far is a draft.
Lines are not compared by their own likelihood alone: whoever asks judges the drafts by what follows the hole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812


class Branching(Protocol):
    """A causal model whose prefix several rows can go on from."""

    def next_logits(self, ids: list[int]) -> Tensor:
        """Logits of what follows each token of `ids` that is newly encoded, [n, V]."""
        ...

    def encode(self, ids: list[int]) -> object:
        """Make the cache hold exactly `ids`."""
        ...

    def branch(self, ids: list[int], num_rows: int, room: int) -> None:
        """Begin rows behind `ids`, each with room for `room` tokens."""
        ...

    def branch_logits(self, tokens: Tensor, parents: Tensor | None = None) -> Tensor:
        """Logits of what follows each further token [B, n] of the rows, [B, n, V]; `parents` [B]: the row that each
        row goes on from."""
        ...


@dataclass(frozen=True, kw_only=True)
class Beam:
    """`width` rows of at most `max_tokens` tokens and `max_lines` lines."""

    width: int
    max_tokens: int
    max_lines: int = 1

    def __post_init__(self) -> None:
        for name in ("width", "max_tokens", "max_lines"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more, got {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class BeamDraft:
    """Tokens that end before a line end, the `num_lines`-th behind the prefix. `score`: their log-probability together
    with that of a line end behind them."""

    tokens: tuple[int, ...]
    score: float
    num_lines: int


@dataclass(frozen=True)
class _Rows:
    """The rows in descending order of their scores [B]; `num_ended` [B]: line ends in each."""

    tokens: list[tuple[int, ...]]
    scores: Tensor
    num_ended: Tensor


def search(
    model: Branching,
    ids: list[int],
    beam: Beam,
    banned: Tensor,
    line_ends: Tensor,
    is_stopped: Callable[[], bool],
) -> list[BeamDraft] | None:
    """Drafts behind `ids` (two tokens or more), best first; None where stopped.

    `banned`, `line_ends`: [V] bool, tokens that never come, and those that end a line.
    """
    model.encode(ids[:-1])
    logits = model.next_logits(ids)[-1:]
    model.branch(ids, beam.width, beam.max_tokens)
    rows = _Rows([()], logits.new_zeros(1), torch.zeros(1, dtype=torch.long, device=logits.device))
    drafts: list[BeamDraft] = []
    for step in range(beam.max_tokens):
        if is_stopped():
            return None
        log_probs = logits.masked_fill(banned, -math.inf).log_softmax(-1)
        drafts += _ended(rows, log_probs, line_ends)
        rows, parents = _grown(rows, log_probs, beam, line_ends)
        if _is_settled(drafts, rows, beam) or step + 1 == beam.max_tokens:
            break
        last = torch.tensor([[row[-1]] for row in rows.tokens], device=logits.device)
        logits = model.branch_logits(last, parents)[:, -1]
    return sorted(drafts, key=lambda draft: -draft.score)


def best_of_each_length(drafts: Iterable[BeamDraft], most: int) -> list[BeamDraft]:
    """Of the drafts with equally many lines the `most` best, for drafts of different length cannot be compared before
    what follows is taken into account."""
    kept: defaultdict[int, list[BeamDraft]] = defaultdict(list)
    for draft in sorted(drafts, key=lambda draft: -draft.score):
        if len(kept[draft.num_lines]) < most:
            kept[draft.num_lines].append(draft)
    return [draft for group in kept.values() for draft in group]


def _ended(rows: _Rows, log_probs: Tensor, line_ends: Tensor) -> list[BeamDraft]:
    """Every row, ended here. How a line ends (which indentation follows) makes no difference: the ends' odds add up."""
    scores = rows.scores + log_probs[:, line_ends].logsumexp(-1)
    ended = zip(rows.tokens, scores.tolist(), rows.num_ended.tolist(), strict=True)
    return [
        BeamDraft(tokens=tokens, score=score, num_lines=n + 1)
        for tokens, score, n in ended
        if tokens and score > -math.inf
    ]


def _grown(rows: _Rows, log_probs: Tensor, beam: Beam, line_ends: Tensor) -> tuple[_Rows, Tensor]:
    """The likeliest rows with a token more, and the row that each comes from."""
    is_full = rows.num_ended >= beam.max_lines - 1
    totals = (rows.scores[:, None] + log_probs).masked_fill(is_full[:, None] & line_ends, -math.inf)
    scores, places = totals.flatten().topk(min(beam.width, totals.numel()))
    missing = beam.width - len(scores)  # fewer than asked for can be told apart yet: rows that nothing comes of
    scores, places = F.pad(scores, (0, missing), value=-math.inf), F.pad(places, (0, missing))
    parents, tokens = places // totals.shape[-1], places % totals.shape[-1]
    grown = [rows.tokens[parent] + (token,) for parent, token in zip(parents.tolist(), tokens.tolist(), strict=True)]
    return _Rows(grown, scores, rows.num_ended[parents] + line_ends[tokens].long()), parents


def _is_settled(drafts: list[BeamDraft], rows: _Rows, beam: Beam) -> bool:
    """A search for one line ends when as many drafts as rows are likelier than any row can still become."""
    if beam.max_lines > 1 or len(drafts) < beam.width:
        return False
    best = sorted((draft.score for draft in drafts), reverse=True)
    return best[beam.width - 1] > float(rows.scores[0])
