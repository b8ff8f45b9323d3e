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
    from support.scripted_server import Say

    VARIANTS = [("0.12", "builtin"), ("0.11", "own")]
    NAMES = [" ".join(variant) for variant in VARIANTS]
    Start = Callable[..., Nvim]

    def nvim_at(version: str) -> Path:
        program = Path(str(FOLDER)) / f"nvim-{version}"
        assert program.exists(), f"no Neovim {version}"
        return program

    def says(answers: tuple[Say | str, ...]) -> list[Say]:
        return [Say(text=answer) if isinstance(answer, str) else answer for answer in answers]

    @pytest.fixture
    def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Short, because sockets lie in it."""
        return tmp_path_factory.mktemp("n")

    @pytest.fixture
    def program() -> Path:
        return nvim_at("0.12")

    @pytest.fixture(scope="session", params=VARIANTS, ids=NAMES)
    def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nvim]:
        """One process for many tests, in each variant."""
        version, ghost = request.param
        options = {"ghost": ghost, **USUAL_KEYS}
        with Nvim.start(nvim_at(version), tmp_path_factory.mktemp("n"), options=options) as nvim:
            yield nvim

    @pytest.fixture
    def start(shared: Nvim) -> Start:
        """A Neovim as if started for this test, whose server gives the answers that are named."""

        def begin(*answers: Say | str) -> Nvim:
            shared.reset(*says(answers))
            return shared

        return begin

    @pytest.fixture(params=VARIANTS, ids=NAMES)
    def start_fresh(request: pytest.FixtureRequest, home: Path) -> Iterator[Start]:
        """A process of the test's own, in each variant."""
        version, ghost = request.param
        yield from _starts(nvim_at(version), home, ghost)

    @pytest.fixture
    def start_own(home: Path) -> Iterator[Start]:
        """A process of the test's own, with our own ghost text in a Neovim that has ghost text too."""
        yield from _starts(nvim_at("0.12"), home, "own")

    def _starts(program: Path, home: Path, ghost: str) -> Iterator[Start]:
        with ExitStack() as stack:

            def begin(*answers: Say | str, **given: Any) -> Nvim:
                options = {"ghost": ghost, **USUAL_KEYS, **given.pop("options", {})}
                return stack.enter_context(Nvim.start(program, home, *says(answers), options=options, **given))

            yield begin
