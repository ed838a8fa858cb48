"""What detection gives: commands by what they are for, and the reason for each."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_EVERYWHERE = ("/usr/local/bin", "/usr/bin", "/bin")


@dataclass(frozen=True, slots=True)
class Found:
    """Commands of a workspace.

    `tests` say whether it works (`guessed` where only files named as tests stand for them),
    `style` whether it is formatted and linted, `fixers` mend what `style` complains about.
    `why` tells in words where each came from, `missing` what is set up but cannot be run
    here.
    """

    tests: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    fixers: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    guessed: bool = False

    def without_tests(self) -> Found:
        """Leave the test commands out."""
        kept = tuple(line for line in self.why if not line.startswith(self.tests))
        return replace(self, tests=(), guessed=False, why=kept if self.tests else self.why)


def joined(*several: Found) -> Found:
    """Put several together in order, each command once."""
    return Found(
        tests=_once(command for one in several for command in one.tests),
        style=_once(command for one in several for command in one.style),
        fixers=_once(command for one in several for command in one.fixers),
        why=_once(line for one in several for line in one.why),
        missing=_once(line for one in several for line in one.missing),
        guessed=any(one.guessed for one in several),
    )


def reason(command: str, why: str) -> str:
    """Say where a command came from."""
    return f"{command}: {why}"


def program_on(search_path: str, name: str) -> str:
    """Say how to start a program from a process whose PATH may be another; "" where it is missing.

    By name where every PATH has it, else by its whole path.
    """
    found = shutil.which(name, path=search_path)
    if found is None:
        return ""
    return name if os.path.dirname(found) in _EVERYWHERE else shlex.quote(os.path.abspath(found))  # noqa: PTH100, PTH120 - text in, text out


def text_of(file: Path) -> str:
    """Read a file of the workspace; empty where it is missing or no text."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
