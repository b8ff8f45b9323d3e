"""The Neovims that the tests run in. `bash tests/editors/run_neovim` gets them and says where they are.

Without that, nothing here is collected: the plain test command needs no editor. With it, a Neovim that is missing is an
error and no test is skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("MIDFILL_EDITORS")

if FOLDER is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from editors.neovim.driver import USUAL_KEYS, Nvim
    from support.scripted_server import Say, scripted_server

    VARIANTS = [("0.12", "builtin"), ("0.11", "own")]

    @pytest.fixture
    def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Short, because sockets lie in it."""
        return tmp_path_factory.mktemp("n")

    @pytest.fixture
    def nvim_at() -> Callable[[str], Path]:
        def find(version: str) -> Path:
            program = Path(str(FOLDER)) / f"nvim-{version}"
            assert program.exists(), f"no Neovim {version}"
            return program

        return find

    @pytest.fixture(params=VARIANTS, ids=[" ".join(variant) for variant in VARIANTS])
    def start(
        request: pytest.FixtureRequest, home: Path, nvim_at: Callable[[str], Path]
    ) -> Iterator[Callable[..., Nvim]]:
        """Starts a Neovim whose server gives the answers that are named; the test runs in every variant."""
        version, ghost = request.param
        yield from _starts(nvim_at(version), home, ghost)

    @pytest.fixture
    def start_own(home: Path, nvim_at: Callable[[str], Path]) -> Iterator[Callable[..., Nvim]]:
        """The same with our own ghost text in a Neovim that has ghost text too."""
        yield from _starts(nvim_at("0.12"), home, "own")

    def _starts(program: Path, home: Path, ghost: str) -> Iterator[Callable[..., Nvim]]:
        with ExitStack() as stack:

            def start(*answers: Say | str, command: list[str] | None = None, **given: Any) -> Nvim:
                says = [Say(text=answer) if isinstance(answer, str) else answer for answer in answers]
                options = {"ghost": ghost, **USUAL_KEYS, **given.pop("options", {})}
                server = command or scripted_server(*says)
                return stack.enter_context(Nvim.start(program, home, server, options=options, **given))

            yield start
