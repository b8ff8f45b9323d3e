"""What a watcher is shown of a canvas after each step."""

from __future__ import annotations

from codecs import getincrementaldecoder

from midfill_engine.api import Draft, DraftToken, OnDraft
from midfill_engine.denoise.length import Length
from midfill_engine.denoise.loop import StepView
from midfill_engine.heal import Healing
from midfill_engine.tokens import TokenCodec

_Decoder = getincrementaldecoder("utf-8")


class DraftMaker:
    """Turns step views into drafts. `before`: tokens of earlier canvases, which took `num_steps`; `healing`: what the
    answer begins and ends with but stands in the document already."""

    def __init__(
        self,
        codec: TokenCodec,
        length: Length,
        healing: Healing,
        on_draft: OnDraft,
        before: tuple[int, ...] = (),
        num_steps: int = 0,
    ) -> None:
        self._codec = codec
        self._length = length
        self._healing = healing
        self._on_draft = on_draft
        self._before = before
        self._num_steps = num_steps

    def __call__(self, view: StepView) -> None:
        best = self._length.cut(view.best.tolist())
        is_locked = [True] * len(self._before) + view.is_locked.tolist()[: len(best)]
        texts = self._texts([*self._before, *best])
        tokens = [DraftToken(text=text, is_locked=locked) for text, locked in zip(texts, is_locked, strict=True)]
        tokens = _without_first(tokens, self._healing.left)
        tokens = _without_last(tokens, self._healing.right)
        self._on_draft(Draft(step=self._num_steps + view.step, tokens=tuple(tokens)))

    def _texts(self, ids: list[int]) -> list[str]:
        """The text of each token; a character of several tokens is shown with its last."""
        decoder = _Decoder(errors="replace")
        return [decoder.decode(self._codec.token_bytes[i]) for i in ids]


def _without_first(tokens: list[DraftToken], text: str) -> list[DraftToken]:
    """`tokens` less the text they begin with, if they do so yet."""
    if not "".join(token.text for token in tokens).startswith(text):
        return tokens
    kept = []
    num_chars = len(text)
    for token in tokens:
        cut = min(num_chars, len(token.text))
        num_chars -= cut
        if cut < len(token.text) or not cut:
            kept.append(DraftToken(text=token.text[cut:], is_locked=token.is_locked))
    return kept


def _without_last(tokens: list[DraftToken], text: str) -> list[DraftToken]:
    """`tokens` less the text they end with, if they do so yet."""
    mirrored = [DraftToken(text=token.text[::-1], is_locked=token.is_locked) for token in reversed(tokens)]
    kept = reversed(_without_first(mirrored, text[::-1]))
    return [DraftToken(text=token.text[::-1], is_locked=token.is_locked) for token in kept]
