"""Checks agent files wherever they lie, by the reader that loads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from domain.agents.files.codes import Level
from domain.agents.files.parse import NO_TOOLS
from domain.agents.files.problems import Problem
from domain.agents.files.registry import Located, unique
from domain.errors import refused
from legato.agent_files.folder import is_agent_name, read_agent, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NOT_OURS = frozenset({".git", ".venv", "__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at: every file is kept or dropped; problems in order of files and lines."""

    files: int
    kept: int
    dropped: int
    problems: tuple[Problem, ...]

    def failed(self, *, strict: bool = False) -> bool:
        """Tell whether anything must be mended: notes count only where that is `strict`.

        A file in a folder that is no agent file at all does not count unless `strict`.
        """
        levels = {one.level for one in self.problems}
        return bool(levels if strict else levels & {Level.DROPPED, Level.ERROR})


def lint(paths: Sequence[str], more_tools: frozenset[str] = NO_TOOLS) -> Report:
    """Check files, and folders to any depth; a file that is named must be an agent file.

    Links to folders within a folder are not followed. Names must be unique in one folder.

    Raises:
        LegatoError: `agents_path_not_found`, every missing path named at once.

    """
    missing = [path for path in paths if not os.path.exists(path)]  # noqa: PTH110 - it raises nothing
    if missing:
        raise refused(
            "agents_path_not_found",
            f"there is nothing at {', '.join(shown(Path(one)) for one in missing)}",
            next="name agent files, or folders that hold some",
        )
    problems: list[Problem] = []
    found: dict[Path, list[Located]] = {}
    files = kept = 0
    for path, named in _files(paths):
        files += 1
        parsed, located = read_agent(path, shown(path), more_tools)
        problems += [_as_named(one) for one in parsed.problems] if named else parsed.problems
        if located is not None:
            found.setdefault(path.parent, []).append(located)
    for folder in found.values():
        one = unique(folder)
        kept += len(one.found)
        problems += one.problems
    problems.sort(key=lambda one: (one.file, one.line, one.code))
    return Report(files, kept, files - kept, tuple(problems))


def _as_named(one: Problem) -> Problem:
    """Count a file that somebody named as dropped where in a folder it would be skipped."""
    if one.level is not Level.SKIPPED:
        return one
    return Problem(one.file, one.line, one.code, one.message, one.next, Level.DROPPED)


def _files(paths: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """Give each file once, with whether it was named itself."""
    seen: set[tuple[str, str]] = set()
    for path in paths:
        folder = Path(path)
        for file, named in _below(folder) if folder.is_dir() else [(folder, True)]:
            place = _real(file.parent), file.name
            if place not in seen:
                seen.add(place)
                yield file, named


@lru_cache(maxsize=1)
def _real(folder: Path) -> str:
    return os.path.realpath(folder)


def _below(folder: Path) -> Iterator[tuple[Path, bool]]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _NOT_OURS, key=os.fsencode)
        for name in sorted(filter(is_agent_name, names), key=os.fsencode):
            yield Path(root, name), False
