"""Agent files of Claude Code and its like: read by the reader that loads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.files.front_matter import Split, split
from domain.agents.files.line_scan import scan
from domain.agents.files.nodes import Fields
from domain.agents.files.parse import parse_agent_file
from domain.agents.imported.draft import Draft, key_rows, problem_row

if TYPE_CHECKING:
    from domain.agents.files.nodes import ReadYaml


def claude_draft(data: bytes, name: str, read_yaml: ReadYaml) -> Draft:
    """Make a draft of a file's bytes; `name` names the file in reports. It raises nothing."""
    parsed = parse_agent_file(data, read_yaml)
    header = _header(data, read_yaml)
    if header is None:
        rows = tuple(problem_row("", one) for one in parsed.problems)
    else:
        rows = key_rows(header, parsed.problems)
    return Draft(name, parsed.agent, rows)


def _header(data: bytes, read_yaml: ReadYaml) -> Fields | None:
    """Read the header's keys once more, for the report; None where there is no header."""
    try:
        parts = split(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    if not isinstance(parts, Split):
        return None
    read = read_yaml(parts.header, parts.first_line)
    if isinstance(read, Fields):
        return read
    return scan(parts.header, parts.first_line, read_yaml).fields
