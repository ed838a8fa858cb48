"""Reads the skills that a workspace keeps, following no link out of it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from activities.tools.beneath import FOLDER, open_folder
from activities.tools.contents import open_regular
from domain.agents import skill_files
from domain.agents.skill_files import ENDING, MOST_BYTES, MOST_FILES, parse_skill
from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import Generator

    from domain.agents.definition import Skill

_WHERE = "/".join(skill_files.FOLDER)


def read_skills(workspace: str) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
    """Read every skill of a workspace, and all that is wrong with their files.

    A workspace without the folder has none. Problems are given as `code: sentence`.
    """
    skills: list[Skill] = []
    found: list[str] = []
    try:
        with _folder(workspace) as folder:
            with os.scandir(folder) as scan:
                names = sorted(entry.name for entry in scan if entry.name.endswith(ENDING))
            if len(names) > MOST_FILES:
                found.append(
                    f"skills_too_many: {_WHERE} holds {len(names)} skills, at most {MOST_FILES}"
                )
            for name in names[:MOST_FILES]:
                one = _read(folder, name)
                if isinstance(one, str):
                    found.append(f"skill_invalid: {_WHERE}/{name!a} {one}")
                else:
                    skills.append(one)
    except FileNotFoundError:
        return (), ()
    except OSError as exc:
        found.append(f"skill_invalid: {_WHERE} cannot be read: {exc.strerror}")
    return tuple(skills), tuple(found)


@contextmanager
def _folder(workspace: str) -> Generator[int]:
    root = os.open(workspace, FOLDER)
    try:
        folder = open_folder(root, skill_files.FOLDER)
    finally:
        os.close(root)
    try:
        yield folder
    finally:
        os.close(folder)


def _read(folder: int, name: str) -> Skill | str:
    """Read one file: the skill, or what is wrong with it."""
    try:
        with open_regular(folder, name, name) as opened, os.fdopen(os.dup(opened), "rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError, LegatoError) as exc:
        why = exc.code if isinstance(exc, LegatoError) else type(exc).__name__
        return f"cannot be read as UTF-8 text: {why}"
    if len(data) > MOST_BYTES:
        return f"is larger than {MOST_BYTES // 1024} KiB"
    skill = parse_skill(text)
    return skill or "does not begin with a line `# NAME: DESCRIPTION`"
