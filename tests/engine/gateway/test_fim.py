"""Marks in prompts: whatever a plugin's template makes of a prefix and a suffix is read back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.gateway.fim import read_prompt

# As Continue's and Zed's sources have them, and Twinny's, but for a blank which that adds.
TEMPLATES = [
    "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
    "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
    "<fim_prefix><fim_suffix>{suffix}<fim_middle>{prefix}",
    "<PRE> {prefix} <SUF>{suffix} <MID>",
    "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
    "[SUFFIX]{suffix}[PREFIX]{prefix}",
    "<|code_prefix|>{prefix}<|code_suffix|>{suffix}<|code_middle|>",
    "<|user|>\n###PATH:a.py\n###MODE:BLOCK\n<|code_suffix|>{suffix}<|code_prefix|>{prefix}<|code_middle|><|assistant|>\n",
]
CODE = st.text(st.characters(codec="utf-8", exclude_characters="<>[]"), max_size=40)


@pytest.mark.parametrize("template", TEMPLATES)
@given(prefix=CODE, suffix=CODE)
def test_what_a_template_makes_is_read_back(template: str, prefix: str, suffix: str) -> None:
    hole = read_prompt(template.replace("{prefix}", prefix).replace("{suffix}", suffix), "")
    assert (hole.prefix, hole.suffix) == (prefix, suffix)


@given(prompt=CODE, suffix=CODE)
def test_plain_text_stays_as_it_is(prompt: str, suffix: str) -> None:
    hole = read_prompt(prompt, suffix)
    assert (hole.prefix, hole.suffix) == (prompt, suffix)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_suffix_of_its_own_says_that_the_prompt_is_plain(template: str) -> None:
    assert read_prompt(template, "\n").prefix == template


def test_a_mark_in_a_file_that_is_written_is_text() -> None:
    """A file about such marks was torn at them although nothing asked for a middle."""
    prompt = 'MARKS = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]\nfirst = '
    assert read_prompt(prompt, "").prefix == prompt


def test_files_before_the_hole_are_snippets() -> None:
    head = "<|repo_name|>repo\n<|file_sep|>a.py\nA = 1\n<|file_sep|>b.py\n"
    hole = read_prompt(head + "<|fim_prefix|>B = <|fim_suffix|>\n<|fim_middle|>", "")
    assert [(piece.path, piece.text) for piece in hole.snippets] == [("a.py", "A = 1\n")]
    assert hole.prefix == "B = "
