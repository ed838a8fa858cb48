"""Finds commands in a workspace's Makefile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .found import Found, program_on, reason, text_of

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = ("GNUmakefile", "makefile", "Makefile")
_TARGET = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_. -]*?)\s*::?(?![=:])", re.MULTILINE)
_TESTS = ("test", "tests", "check")
_STYLE = ("lint",)
_FIXERS = ("fix", "format", "fmt")


def find_in_makefile(folder: Path, search_path: str) -> Found:
    """Take the first target of each kind that is there by name."""
    targets = _targets(folder)
    make = program_on(search_path, "make")
    tests, style, fixers = (_first(make, names, targets) for names in (_TESTS, _STYLE, _FIXERS))
    commands = (*tests, *style, *fixers)
    if commands and not make:
        return Found(missing=("a Makefile is there, but make is not installed",))
    why = tuple(reason(command, "a target of the Makefile") for command in commands)
    return Found(tests, style, fixers, why)


def _targets(folder: Path) -> frozenset[str]:
    text = next(filter(None, (text_of(folder / name) for name in _NAMES)), "")
    return frozenset(name for line in _TARGET.findall(text) for name in line.split())


def _first(make: str, names: tuple[str, ...], targets: frozenset[str]) -> tuple[str, ...]:
    return next(((f"{make} {name}",) for name in names if name in targets), ())
