"""Reads a header that is no YAML line by line: only keys that are known end a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import KEYS
from domain.agents.files.keys import AUTHORITY, hidden_key, key_problem, swallowed
from domain.agents.files.nodes import Fields, Scalar
from domain.agents.files.problems import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from domain.agents.files.nodes import Node, ReadYaml

_KEY = re.compile(r"""["']?([A-Za-z_][\w-]*)["']?\s*:""")
_TEXTS = frozenset({"name", "description", "model", "provider", "memory", "color"})
_LONG = frozenset({"description"})
_OTHERS = frozenset({
    "argument-hint", "author", "background", "category", "effort", "emoji", "env",
    "expertise_level", "handoffs", "headers", "initialPrompt", "instructions", "license",
    "mcp-servers", "mcp_servers", "metadata", "prompt", "services", "system", "tags", "target",
    "version", "vibe",
})  # fmt: skip
"""Keys that other programs know: they end a value too, so that theirs is no part of it."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A known key with its own line and all lines up to the next known key."""

    key: str
    line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scanned:
    """What was recovered, and what was not."""

    fields: Fields
    found: tuple[Problem, ...]


def scan(header: str, first_line: int, read_yaml: ReadYaml) -> Scanned:
    """Recover the known fields of a header that is no YAML as a whole.

    Each field is YAML by itself if it can be. Else a text is taken as it stands, a field
    that only narrows or decorates is left out, and one that decides on authority drops
    the definition, as does anything that looks like such a field in the midst of a text.
    """
    blocks = _blocks(_outdented(header.split("\n")), first_line)
    given = {block.key for block in blocks}
    found: list[Problem] = []
    pairs: list[tuple[Scalar, Node]] = []
    for block in blocks:
        found += _strange_keys(block, given)
        whole = _whole(block, read_yaml)
        if whole is None:
            found += _hidden(block, given)
        else:
            found += swallowed(block.lines, block.line, whole, given)
        if block.key in KEYS:
            node = _raw(block, found) if whole is None else whole.pairs[0][1]
            pairs += [] if node is None else [(Scalar(block.key, block.line), node)]
        elif block.key:
            pairs.append((Scalar(block.key, block.line), Scalar("", block.line)))
    return Scanned(Fields(tuple(pairs), first_line), tuple(found))


def _blocks(lines: Sequence[str], first_line: int) -> list[_Block]:
    """Divide the lines by known keys. What stands before the first is a block without one.

    A description may speak of keys that were there before it: those lines are its own.
    """
    begins: list[tuple[str, int]] = [("", 0)]
    seen: set[str] = set()
    for n, line in enumerate(lines):
        match = _KEY.match(line)
        key = match[1] if match else ""
        spoken_of = key in seen and key not in AUTHORITY and begins[-1][0] in _LONG
        if (key in KEYS and not spoken_of) or key in _OTHERS:
            begins.append((key, n))
            seen.add(key)
    ends = [n for _, n in begins[1:]]
    return [
        _Block(key, first_line + n, tuple(lines[n:end]))
        for (key, n), end in zip(begins, [*ends, len(lines)], strict=True)
    ]


def _strange_keys(block: _Block, given: Collection[str]) -> Iterator[Problem]:
    """Find keys at the margin that restrict the agent and are none of ours."""
    for n, line in enumerate(block.lines):
        match = _KEY.match(line)
        wrong = key_problem(match[1], block.line + n, given) if match else None
        if wrong is not None:
            yield wrong


def _outdented(lines: Sequence[str]) -> Sequence[str]:
    """Take away the indentation of the first line, where a whole header is indented."""
    first = next((line for line in lines if line.strip()), "")
    indent = len(first) - len(first.lstrip(" "))
    if not indent:
        return lines
    return [line.removeprefix(first[:indent]) for line in lines]


def _whole(block: _Block, read_yaml: ReadYaml) -> Fields | None:
    """Read a block as YAML by itself; None where it is none, or more than its one field."""
    read = read_yaml("\n".join(block.lines) + "\n", block.line)
    if isinstance(read, Fields) and len(read.pairs) == 1 and read.pairs[0][0].text == block.key:
        return read
    return None


def _raw(block: _Block, found: list[Problem]) -> Node | None:
    """Take a block's text as it stands, or tell that its field is lost."""
    first = block.lines[0].partition(":")[2].strip()
    if block.key in _TEXTS:
        rest = block.lines[1:] if block.key in _LONG else ()
        return Scalar(_unquoted("\n".join((first, *rest)).strip()), block.line, plain=False)
    if block.key in {"tools", "disallowedTools"} and first == "*" and _alone(block):
        return Scalar("*", block.line)
    code = "field_unreadable" if block.key in AUTHORITY else "field_lost"
    found.append(problem(code, block.line, field=block.key))
    return None


def _alone(block: _Block) -> bool:
    return not any(line.strip() for line in block.lines[1:])


def _hidden(block: _Block, given: Collection[str]) -> Iterator[Problem]:
    """Find what looks like a field in a text, unless that field is given itself."""
    for n, line in enumerate(block.lines):
        key = hidden_key(line)
        if key and key not in given:
            yield problem("field_hidden", block.line + n, field=key)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text
