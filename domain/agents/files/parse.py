"""Reads one agent file: strictly as YAML first, then line by line, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from domain.agents.files.agent_file import AgentFile
from domain.agents.files.caps import MOST_FILE
from domain.agents.files.front_matter import split
from domain.agents.files.keys import swallowed
from domain.agents.files.line_scan import scan
from domain.agents.files.nodes import Fields, nodes_of
from domain.agents.files.problems import Problem, in_file, in_order, problem
from domain.agents.files.reading import read_definition
from domain.codec import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.files.front_matter import Split
    from domain.agents.files.nodes import ReadYaml

NO_TOOLS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A definition, or None with the problem that dropped it; problems in order of lines."""

    agent: AgentFile | None
    problems: tuple[Problem, ...] = ()


def parse_agent_file(
    data: bytes, read_yaml: ReadYaml, *, file: str = "", more_tools: frozenset[str] = NO_TOOLS
) -> Parsed:
    """Read a file's bytes; raises nothing, whatever they hold.

    `file` names the file in problems, `more_tools` tools beside Legato's own. A problem
    never repeats what the file holds: it could be a secret.
    """
    text = _text(data)
    if isinstance(text, Problem):
        return Parsed(None, in_file((text,), file))
    parts = split(text)
    if isinstance(parts, Problem):
        return Parsed(None, in_file((parts,), file))
    header, repaired = _header(parts, read_yaml)
    agent, found = read_definition(header, parts.body, more_tools)
    every = in_order((*parts.found, *repaired, *found))
    lost = any(one.loses for one in every)
    return Parsed(None if lost else agent, in_file(every, file))


def _text(data: bytes) -> str | Problem:
    if len(data) > MOST_FILE:
        return problem("file_too_large", most=MOST_FILE)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return problem("not_text")
    return problem("not_text") if "\0" in text else text


def _header(parts: Split, read_yaml: ReadYaml) -> tuple[Fields, tuple[Problem, ...]]:
    read = read_yaml(parts.header, parts.first_line)
    if isinstance(read, Fields):
        given = {key.text for key, _ in read.pairs}
        return read, tuple(swallowed(parts.header.split("\n"), parts.first_line, read, given))
    scanned = scan(parts.header, parts.first_line, read_yaml)
    last = parts.first_line + parts.header.count("\n")
    return scanned.fields, (problem("header_repaired", min(read.line, last)), *scanned.found)


def parse_wire(value: object, place: int) -> Parsed:
    """Read a definition that came as JSON: a header's keys, and `body`. By the same rules."""
    node = nodes_of(value)
    if not isinstance(node, Fields):
        return Parsed(None, (problem("wire_invalid", place=place),))
    body = cast("Mapping[str, object]", value).get("body")
    if not isinstance(body, str | None) or "\0" in (body or ""):
        return Parsed(None, (problem("wire_invalid", place=place),))
    header = Fields(tuple(pair for pair in node.pairs if pair[0].text != "body"), 0)
    return Parsed(*read_definition(header, clean_text(body or "").strip(), NO_TOOLS))
