"""Reads the agents of other programs and makes drafts of them: agent files of Legato's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.agents.files.caps import MOST_FILE
from domain.agents.files.render import render_agent_file
from domain.agents.imported.claude import claude_draft
from domain.agents.imported.copilot import copilot_draft
from domain.agents.imported.crewai import crew_drafts
from domain.agents.imported.draft import Draft, lost_draft
from domain.errors import refused
from legato.agent_files.folder import shown
from legato.agent_files.yaml_header import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Dialect: TypeAlias = Literal["claude", "copilot", "crewai"]

COPILOT = (".agent.md", ".chatmode.md")
"""How Copilot's agent files end."""

_YAML = frozenset({".yaml", ".yml"})
_NOT_OURS = frozenset({".git", ".venv", "node_modules"})
MOST_FILES = 5000


def dialect_of(path: Path) -> Dialect | None:
    """Tell by its name which program a file is of; None where it is of none of them."""
    if path.suffix in _YAML:
        return "crewai"
    if path.name.endswith(COPILOT):
        return "copilot"
    return "claude" if path.suffix == ".md" else None


def files_below(folder: Path) -> list[Path]:
    """Find agent files in a folder to any depth, following no links to folders, sorted."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _NOT_OURS)
        found += [Path(place, name) for name in sorted(names) if name.endswith(".md")]
        if len(found) > MOST_FILES:
            raise refused(
                "import_too_large",
                f"{folder} holds more than {MOST_FILES} files that could be agents",
                next="name the folders with agents one by one",
            )
    return found


def drafts_of(path: Path, dialect: Dialect | None) -> list[Draft]:
    """Make the drafts of one file; whatever is wrong with it is in their rows."""
    data, name = _bytes(path), shown(Path(path.name))
    if data is None:
        return [lost_draft(name, "file_unreadable", "the file cannot be read")]
    if len(data) > MOST_FILE:
        return [lost_draft(name, "file_too_large", f"the file has more than {MOST_FILE} bytes")]
    match dialect or dialect_of(path):
        case "crewai":
            return list(_crew(path, data))
        case "copilot":
            return [copilot_draft(data, _stem(path), read_yaml)]
        case _:
            return [claude_draft(data, name, read_yaml)]


def _bytes(path: Path) -> bytes | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(MOST_FILE + 1)
    except OSError:
        return None


def _stem(path: Path) -> str:
    ending = next((one for one in COPILOT if path.name.endswith(one)), path.suffix)
    return path.name.removesuffix(ending)


def _crew(path: Path, data: bytes) -> Iterator[Draft]:
    drafts, why = crew_drafts(data.decode("utf-8", errors="replace"), read_yaml)
    if why:
        yield lost_draft(shown(Path(path.name)), "crew_unreadable", why)
    yield from drafts


def unique(drafts: Sequence[Draft]) -> list[Draft]:
    """Refuse each draft whose name another before it has, but for case or punctuation."""
    known: set[str] = set()
    kept: list[Draft] = []
    for draft in drafts:
        if draft.agent is None or draft.agent.id not in known:
            known.update([] if draft.agent is None else [draft.agent.id])
            kept.append(draft)
            continue
        told = lost_draft(draft.name, "name_taken", "another of these agents has this name").rows
        kept.append(Draft(draft.name, None, (*told, *draft.rows)))
    return kept


def text_of(draft: Draft) -> tuple[str, str] | None:
    """Give the file's name and its text; None for a draft that is refused."""
    if draft.agent is None:
        return None
    return f"{draft.agent.id}.md", render_agent_file(draft.agent)
