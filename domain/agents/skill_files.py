"""How a workspace writes a skill of its own: a Markdown file with one heading that names it."""

from __future__ import annotations

import re

from domain.agents.definition import Skill

FOLDER = (".legato", "skills")
"""Where a workspace keeps its skills, as names below it."""

ENDING = ".md"
MOST_FILES = 32
MOST_BYTES = 64 * 1024

_HEADING = re.compile(r"#\s+(?P<name>[^:]+):\s*(?P<description>\S.*)")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 64


def parse_skill(text: str) -> Skill | None:
    """Read a skill from its file's text; None where the first line names none.

    The first line is `# NAME: DESCRIPTION`. The name becomes a slug: `House style` is
    `house-style`. The agent reads the whole text, its first line too.
    """
    heading = _HEADING.fullmatch(text.removeprefix("\ufeff").partition("\n")[0].strip())
    name = slug(heading["name"]) if heading is not None else ""
    if heading is None or not name or len(name) > _LONGEST_NAME:
        return None
    return Skill(name=name, description=heading["description"].strip(), text=text)


def slug(name: str) -> str:
    """Reduce a name to lower-case letters, digits and single dashes."""
    return _NOT_IN_SLUG.sub("-", name.casefold()).strip("-")
