"""Reads the agent files of one folder: contained, bounded, in a fixed order."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from domain.agents.files.caps import MOST_AGENTS, MOST_FILE
from domain.agents.files.parse import NO_TOOLS, Parsed, parse_agent_file
from domain.agents.files.problems import Problem, in_file, problem
from domain.agents.files.registry import Gathered, Located, unique
from domain.codec import digest_bytes
from domain.errors import LegatoError
from domain.words import on_one_line
from legato.agent_files.yaml_header import read_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDING = ".md"
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


def read_folder(folder: Path, more_tools: frozenset[str] = NO_TOOLS) -> Gathered:
    """Read `<folder>/*.md`; a folder that is not there gives nothing.

    The folder may be a link, its files may not lead out of it. Files are read in the order
    of their names' bytes; of two definitions with one name the first counts.

    Raises:
        LegatoError: `agents_folder_unreadable`.

    """
    root = os.path.realpath(folder)
    names, below = _names(root, folder)
    found: list[Located] = []
    problems: list[Problem] = []
    if below:
        problems.append(problem("folders_below", file=shown(folder)))
    if len(names) > MOST_AGENTS:
        problems.append(problem("agents_too_many", file=shown(folder), most=MOST_AGENTS))
    for name in names[:MOST_AGENTS]:
        parsed, located = read_agent(Path(root, name), shown(folder / name), more_tools)
        problems += parsed.problems
        found += [located] if located is not None else []
    kept = unique(found)
    return Gathered(kept.found, (*problems, *kept.problems))


def read_agent(
    path: Path, label: str, more_tools: frozenset[str] = NO_TOOLS
) -> tuple[Parsed, Located | None]:
    """Read one file, which may be a link to a file of the same folder. Raises nothing."""
    data = _read(path)
    if isinstance(data, Problem):
        return Parsed(None, in_file((data,), label)), None
    parsed = parse_agent_file(data, read_yaml, file=label, more_tools=more_tools)
    located = Located(parsed.agent, label, digest_bytes(data)) if parsed.agent else None
    return parsed, located


def shown(path: Path) -> str:
    """Write a path as text on one line, whatever bytes its name has."""
    return on_one_line(os.fsencode(path).decode("utf-8", errors="replace"))


def is_agent_name(name: str) -> bool:
    """Tell whether a file's name is one of an agent file; hidden files are none."""
    return name.endswith(ENDING) and not name.startswith(".")


def _names(root: str, folder: Path) -> tuple[Sequence[str], bool]:
    """List the names of agent files, and tell whether folders below hold more."""
    try:
        with os.scandir(root) as entries:
            listed = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except FileNotFoundError:
        return (), False
    except OSError as error:
        raise _unreadable(folder, error.strerror or "it cannot be listed") from None
    ours = [entry for entry in listed if not entry.name.startswith(".")]
    folders = [entry.name for entry in ours if _is_folder(entry)]
    below = any(_holds_agents(Path(root, name)) for name in folders)
    return [e.name for e in ours if is_agent_name(e.name) and e.name not in folders], below


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to where we may not look
        return False


def _holds_agents(folder: Path) -> bool:
    try:
        return any(is_agent_name(one.name) for one in folder.iterdir())
    except OSError:
        return False


def _read(path: Path) -> bytes | Problem:
    """Read a file of at most `MOST_FILE` bytes that lies in the folder it is named in."""
    try:
        if path.is_symlink():
            real = Path(os.path.realpath(path))
            if real.parent != Path(os.path.realpath(path.parent)):
                return problem("file_outside")
            path = real
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return problem("file_unreadable")
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return problem("file_unreadable")
        if status.st_size > MOST_FILE:
            return problem("file_too_large", most=MOST_FILE)
        try:
            return file.read(MOST_FILE + 1)
        except OSError:
            return problem("file_unreadable")


def _unreadable(folder: Path, cause: str) -> LegatoError:
    return LegatoError(
        "agents_folder_unreadable",
        f"The agents in {shown(folder)} cannot be read.",
        cause=cause,
        next="make it a folder that you can read, or leave it out (--no-conventional)",
    )
