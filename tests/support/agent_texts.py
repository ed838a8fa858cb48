"""Agent files as texts, read by the product's own parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.files.parse import Parsed, parse_agent_file
from legato.agent_files.yaml_header import read_yaml

if TYPE_CHECKING:
    from domain.agents.files.agent_file import AgentFile

FILE = "agents/one.md"


def read(text: str | bytes) -> Parsed:
    """Read one file."""
    data = text if isinstance(text, bytes) else text.encode()
    return parse_agent_file(data, read_yaml, file=FILE)


def header(*lines: str, body: str = "Do it.") -> str:
    """Write a file of a name, a description and these lines."""
    return "\n".join(("---", "name: one", "description: Does it.", *lines, "---", body, ""))


def codes(parsed: Parsed) -> list[str]:
    """Give the codes of all problems, in order of lines."""
    return [one.code for one in parsed.problems]


def kept(text: str | bytes) -> AgentFile:
    """Read a file whose definition is kept."""
    agent = read(text).agent
    assert agent is not None, codes(read(text))
    return agent
