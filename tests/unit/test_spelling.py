"""Commands that are printed can be run from where they are read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from legato.cli.spelling import program_here, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Start the program from a folder that is not on PATH, two folders above it."""
    file = tmp_path / "venv" / "bin" / "legato"
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(file), "show"])
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    program_here.cache_clear()
    yield file
    program_here.cache_clear()


@pytest.mark.usefixtures("program")
def test_off_the_path_commands_are_written_with_the_path_from_here() -> None:
    assert spelled("see `legato show X`") == "see `venv/bin/legato show X`"
    assert spelled('legato answer R I "..."') == 'venv/bin/legato answer R I "..."'


@pytest.mark.usefixtures("program")
def test_what_is_no_command_stays_as_it_is() -> None:
    for text in ("legato 0.1.0", "the legato run", "/src/legato show", "`legato`"):
        assert spelled(text) == text


def test_on_the_path_the_name_is_enough(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    program_here.cache_clear()

    assert spelled("`legato down`") == "`legato down`"
