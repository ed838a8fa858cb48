"""Name patterns: `*` and `?` within a name, `**` over folders, `{a,b}` for alternatives."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import TypeAlias

from domain.errors import refused

_MOST_ALTERNATIVES = 64
_ANY_FOLDERS = "**"

Step: TypeAlias = "re.Pattern[str] | None"
"""One name of a pattern; None stands for any number of folders."""


@dataclass(frozen=True)
class Glob:
    """A compiled pattern: alternatives, each a list of names."""

    alternatives: tuple[tuple[Step, ...], ...]

    def matches(self, parts: tuple[str, ...]) -> bool:
        """Tell whether a path, as its names, matches; time is bounded by the lengths."""
        return any(_matches(steps, parts) for steps in self.alternatives)


def compile_glob(pattern: str) -> Glob:
    """Compile a pattern; without "/" it is matched against the file's name alone.

    Raises `invalid_glob` for more than 64 alternatives.
    """
    return Glob(tuple(_steps(one) for one in _expanded(pattern)))


def _expanded(pattern: str) -> list[str]:
    """Write out the alternatives of braces; a brace without its partner is an ordinary letter."""
    done, pending = list[str](), [pattern]
    while pending:
        if len(done) + len(pending) > _MOST_ALTERNATIVES:
            raise refused(
                "invalid_glob",
                f"the glob has more than {_MOST_ALTERNATIVES} alternatives",
                next="use fewer {a,b} groups",
            )
        text = pending.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", text)
        if braces is None:
            done.append(text)
            continue
        head, tail = text[: braces.start()], text[braces.end() :]
        pending.extend(head + choice + tail for choice in braces.group(1).split(","))
    return done


def _steps(pattern: str) -> tuple[Step, ...]:
    names = [name for name in pattern.split("/") if name not in {"", "."}]
    if "/" not in pattern:
        names.insert(0, _ANY_FOLDERS)
    return tuple(
        None if name == _ANY_FOLDERS else re.compile(fnmatch.translate(name)) for name in names
    )


def _matches(steps: tuple[Step, ...], parts: tuple[str, ...]) -> bool:
    """Match by a table of which prefixes fit, so that no pattern can take exponential time."""
    fits = [True] + [False] * len(parts)
    for step in steps:
        if step is None:
            for index in range(1, len(fits)):
                fits[index] = fits[index] or fits[index - 1]
            continue
        fits = [False] + [
            fits[index] and step.match(part) is not None for index, part in enumerate(parts)
        ]
    return fits[-1]
