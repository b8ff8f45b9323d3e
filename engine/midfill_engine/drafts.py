"""What a watcher is shown of a canvas after each step."""

from __future__ import annotations

from midfill_engine.api import Draft, DraftToken, OnDraft
from midfill_engine.denoise.length import Length
from midfill_engine.denoise.loop import StepView
from midfill_engine.tokens import TokenCodec


class DraftMaker:
    """Turns step views into drafts. `before`: tokens of earlier canvases; `healed`: characters that the answer begins
    with but that stand in the prefix already."""

    def __init__(self, codec: TokenCodec, length: Length, before: list[int], healed: str, on_draft: OnDraft) -> None:
        self._codec = codec
        self._length = length
        self._before = [DraftToken(text=self._text(token), is_locked=True) for token in before]
        self._healed = healed
        self._on_draft = on_draft

    def __call__(self, view: StepView) -> None:
        best = self._length.cut(view.best.tolist())
        locked = view.is_locked.tolist()
        tokens = [DraftToken(text=self._text(token), is_locked=locked[i]) for i, token in enumerate(best)]
        self._on_draft(Draft(step=view.step, tokens=tuple(self._before + _without(tokens, len(self._healed)))))

    def _text(self, token: int) -> str:
        return self._codec.token_bytes[token].decode(errors="replace")


def _without(tokens: list[DraftToken], num_chars: int) -> list[DraftToken]:
    """`tokens` less their first characters."""
    kept = []
    for token in tokens:
        cut = min(num_chars, len(token.text))
        num_chars -= cut
        if cut < len(token.text) or not cut:
            kept.append(DraftToken(text=token.text[cut:], is_locked=token.is_locked))
    return kept
