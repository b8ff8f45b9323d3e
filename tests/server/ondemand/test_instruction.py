"""The instruction in a selection is found in a comment of any syntax, and the comment goes."""

from __future__ import annotations

import pytest

from midfill_server.ondemand.instruction import split_instruction


@pytest.mark.parametrize(
    ("text", "instruction", "rest"),
    [
        ("# midfill: use a dict\nx = 1\n", "use a dict", "x = 1\n"),
        ("x = 1\n    # midfill: use a dict", "use a dict", "x = 1\n"),
        ("x = 1  # midfill: use a dict\ny = 2\n", "use a dict", "x = 1\ny = 2\n"),
        ("// Midfill:   faster \r\nlet x;\r\n", "faster", "let x;\r\n"),
        ("/* midfill: no loop */\nint x;\n", "no loop", "int x;\n"),
        ("<!-- midfill: a table --><p>\n", "a table", "<p>\n"),
        ("<!-- midfill: a table -->\n<p>\n", "a table", "<p>\n"),
        ("-- midfill: join\nselect 1\n", "join", "select 1\n"),
        ("(* midfill: tail recursive *)\nlet x\n", "tail recursive", "let x\n"),
        ("; midfill: loop\n(car x)\n", "loop", "(car x)\n"),
        ("% midfill: bold\n\\emph{x}\n", "bold", "\\emph{x}\n"),
        ("REM midfill: short\nECHO x\n", "short", "ECHO x\n"),
        ("{# midfill: block #}\n{% x %}\n", "block", "{% x %}\n"),
        ("# midfill: one\n# midfill: two\nx\n", "one\ntwo", "x\n"),
        ("# midfill:\nx\n", "", "x\n"),
        ("x = 'midfill: no'\n", "", "x = 'midfill: no'\n"),
        ("x = 1\n", "", "x = 1\n"),
        ("", "", ""),
    ],
)
def test_instructions_in_comments(text: str, instruction: str, rest: str) -> None:
    assert split_instruction(text) == (instruction, rest)
