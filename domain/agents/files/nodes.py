"""A header as plain nodes: scalars by their source text, lists, mappings, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from domain.codec import clean_text

MOST_DEPTH = 20
NULLS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as it was written; `plain` without quotes, which alone can be null."""

    text: str
    line: int
    plain: bool = True


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    values: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping, its pairs in the order of the text, repeated keys too."""

    pairs: tuple[tuple[Scalar, Node], ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there are no nodes: the text breaks in this line. What it holds is not said."""

    line: int


Node: TypeAlias = "Scalar | Items | Fields"

ReadYaml: TypeAlias = Callable[[str, int], "Node | Fault"]
"""Reads YAML strictly; is given the text and the number of its first line.

Anchors, aliases, tags and keys that are no scalars are faults, as is a nesting deeper than
`MOST_DEPTH`. It raises nothing.
"""


def is_null(node: Node) -> bool:
    """Tell whether a node is YAML's null, which no quoted text is."""
    return isinstance(node, Scalar) and node.plain and node.text in NULLS


def nodes_of(value: object, line: int = 0, depth: int = 0) -> Node | Fault:
    """Read a JSON value as nodes: one normaliser serves files and the wire."""
    if depth > MOST_DEPTH:
        return Fault(line)
    if isinstance(value, str):
        return Scalar(clean_text(value), line, plain=False)
    if value is None:
        return Scalar("null", line)
    if isinstance(value, bool):
        return Scalar("true" if value else "false", line)
    if isinstance(value, Mapping):
        return _fields(cast("Mapping[object, object]", value), line, depth)
    if isinstance(value, Sequence):
        inner = [nodes_of(one, line, depth + 1) for one in cast("Sequence[object]", value)]
        whole = tuple(one for one in inner if not isinstance(one, Fault))
        return Items(whole, line) if len(whole) == len(inner) else Fault(line)
    return Scalar(str(value), line)


def _fields(value: Mapping[object, object], line: int, depth: int) -> Fields | Fault:
    pairs: list[tuple[Scalar, Node]] = []
    for key, one in value.items():
        node = nodes_of(one, line, depth + 1)
        if isinstance(node, Fault):
            return node
        pairs.append((Scalar(clean_text(str(key)), line, plain=False), node))
    return Fields(tuple(pairs), line)
