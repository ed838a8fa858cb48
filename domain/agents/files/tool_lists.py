"""Reads `tools` and `disallowedTools`: both spellings of lists, names, patterns, calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.files.caps import MOST_TOOLS, MOST_WORD, one_line, size
from domain.agents.files.nodes import Items, Scalar, is_null
from domain.agents.files.problems import Problem, problem
from domain.agents.files.tool_names import (
    ALIASES,
    DELEGATING,
    DENIED_ALONG,
    ELSEWHERE,
    KNOWN,
    is_known,
    spelt,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from domain.agents.files.nodes import Node

_LIST = "write it as a list of names, [Read, Grep], or as one text, Read, Grep"
_OPENING, _CLOSING = "([{", ")]}"
_NO_BRACKETS = str.maketrans(dict.fromkeys(_OPENING + _CLOSING, " "))


@dataclass(frozen=True, slots=True)
class _Entry:
    text: str
    line: int
    place: int


def read_allowed(node: Node, more: frozenset[str], found: list[Problem]) -> tuple[str, ...] | None:
    """Read `tools`: None for those of the call, () for none."""
    entries = _entries("tools", node, found, more, split_any=False)
    if entries is None:
        return None
    if any(entry.text == "*" for entry in entries):
        found.append(problem("tools_star", node.line))
        return None
    rules: list[str] = []
    told: dict[str, list[_Entry]] = {}
    for entry in entries:
        code = _allow_problem(entry.text, more)
        if code:
            told.setdefault(code, []).append(entry)
        if code not in {"tool_argument", "tool_delegates"}:
            rules.append(spelt(_bare(entry.text)))
    found += _summed_up(told)
    return tuple(dict.fromkeys(rules))


def read_denied(node: Node, more: frozenset[str], found: list[Problem]) -> tuple[str, ...] | None:
    """Read `disallowedTools`: what is named for some calls only is taken away whole."""
    entries = _entries("disallowedTools", node, found, more, split_any=True)
    if entries is None:
        return None
    rules: list[str] = []
    told: dict[str, list[_Entry]] = {}
    for entry in entries:
        name = _bare(entry.text)
        if name != entry.text and not _covers_all(entry.text):
            told.setdefault("deny_argument", []).append(entry)
        if not is_known(name, more) and "*" not in name:
            told.setdefault("deny_unknown", []).append(entry)
        rules += [spelt(name), *DENIED_ALONG.get(name.casefold(), ())]
    found += _summed_up(told)
    return tuple(dict.fromkeys(rules))


def _summed_up(told: Mapping[str, list[_Entry]]) -> Iterator[Problem]:
    """Tell each code once, with the places of all entries that it is about."""
    for code, entries in told.items():
        places = ", ".join(str(entry.place) for entry in entries)
        word = "entry" if len(entries) == 1 else "entries"
        yield problem(code, entries[0].line, entries=f"{word} {places}")


def _allow_problem(text: str, more: frozenset[str]) -> str:
    name = _bare(text)
    if name.casefold() in DELEGATING:
        return "tool_delegates"
    if name != text and not _covers_all(text):
        return "tool_argument"
    foreign = name.casefold() in ELSEWHERE and name not in more
    return "" if "*" in name or (is_known(name, more) and not foreign) else "tool_unknown"


def _bare(text: str) -> str:
    """Give the name of an entry that is written like a call."""
    return text.partition("(")[0].strip() if text.endswith(")") else text


def _covers_all(text: str) -> bool:
    return text.partition("(")[2].removesuffix(")").strip() in {"", "*"}


def _entries(
    key: str, node: Node, found: list[Problem], more: frozenset[str], *, split_any: bool
) -> list[_Entry] | None:
    """Take a field apart; a shape that is none drops the definition."""
    if is_null(node):
        found.append(problem("field_null", node.line, field=key))
        return None
    scalars = _scalars(node)
    if scalars is None:
        found.append(problem("field_invalid", node.line, field=key, expected=_LIST))
        return None
    split = split_words if isinstance(node, Scalar) else _split_item
    words = [(word, one.line) for one in scalars for word in split(one.text)]
    parts = [(part, line) for word, line in words for part in _apart(word, more, split_any)]
    if len(parts) > MOST_TOOLS:
        found.append(problem("too_many", node.line, field=key, most=MOST_TOOLS))
        return None
    entries = [_Entry(text, line, n) for n, (text, line) in enumerate(parts, 1)]
    long = next((entry for entry in entries if size(entry.text) > MOST_WORD), None)
    if long is not None:
        found.append(problem("field_invalid", long.line, field=key, expected=_LIST))
        return None
    return entries


def _scalars(node: Node) -> Sequence[Scalar] | None:
    if isinstance(node, Scalar):
        return (node,)
    if not isinstance(node, Items):
        return None
    scalars = [one for one in node.values if isinstance(one, Scalar) and not is_null(one)]
    return scalars if len(scalars) == len(node.values) else None


def split_words(text: str) -> Iterator[str]:
    """Split a text of names: by commas and lines if there are any, else by blanks.

    What stands in brackets stays together.
    """
    pieces = list(_pieces(text, ",\n"))
    if len(pieces) == 1 and "," not in text:
        pieces = list(_pieces(text, " \t"))
    yield from (word for word in (one_line(piece) for piece in pieces) if word)


def _split_item(text: str) -> Iterator[str]:
    """Split an entry of a list by commas and lines only."""
    yield from (word for word in (one_line(piece) for piece in _pieces(text, ",\n")) if word)


def _pieces(text: str, separators: str) -> Iterator[str]:
    """Split a text outside brackets, or anywhere where its brackets do not close."""
    balanced = sum(map(text.count, _OPENING)) == sum(map(text.count, _CLOSING))
    if not balanced or not any(each in text for each in _OPENING):
        first = separators[0]
        plain = text if balanced else text.translate(_NO_BRACKETS)
        for other in separators[1:]:
            plain = plain.replace(other, first)
        yield from plain.split(first)
        return
    depth = begin = 0
    for n, each in enumerate(text):
        if each in _OPENING:
            depth += 1
        elif each in _CLOSING:
            depth = max(0, depth - 1)
        elif each in separators and not depth:
            yield text[begin:n]
            begin = n + 1
    yield text[begin:]


def _apart(word: str, more: frozenset[str], split_any: bool) -> Sequence[str]:  # noqa: FBT001 - one flag of a private step
    """Split a word at blanks where its parts are names of tools; one is enough for a denial."""
    parts = list(_pieces(word, " "))
    if len(parts) == 1:
        return parts
    named = [_names_a_tool(part, more) for part in parts if part]
    split = any(named) if split_any else all(named)
    return [part for part in parts if part] if split else [word]


def _names_a_tool(part: str, more: frozenset[str]) -> bool:
    name = _bare(part)
    return name in KNOWN or name in more or name.casefold() in ALIASES or name.startswith("mcp__")
