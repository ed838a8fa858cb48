"""What is wrong with one agent file: where, what, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.agents.files.codes import CODES, Level

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, and what to do. Lines count from 1; 0 is the file."""

    file: str
    line: int
    code: str
    message: str
    next: str
    level: Level

    @property
    def loses(self) -> bool:
        """Tell whether there is no definition because of it."""
        return self.level in {Level.DROPPED, Level.SKIPPED}


def problem(code: str, line: int = 0, file: str = "", **values: int | str) -> Problem:
    """Make a problem by its row. `values` are counts, places and names of ours, never content."""
    row = CODES[code]
    return Problem(
        file, line, code, row.says.format(**values), row.next.format(**values), row.level
    )


MOST_PROBLEMS = 100
"""Problems that are told of one file, those that drop it first."""


def in_order(found: Sequence[Problem]) -> tuple[Problem, ...]:
    """Put the problems of a file in the order of its lines, so many as are told."""
    if len(found) > MOST_PROBLEMS:
        found = sorted(found, key=lambda one: not one.loses)[:MOST_PROBLEMS]
    return tuple(sorted(found, key=lambda one: one.line))


def in_file(found: Sequence[Problem], file: str) -> tuple[Problem, ...]:
    """Say which file problems are of."""
    return tuple(replace(one, file=file) for one in found)
