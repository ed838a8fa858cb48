"""Reads a header as YAML, strictly: scalars by their source text, each node with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import yaml

from domain.agents.files.nodes import MOST_DEPTH, Fault, Fields, Items, Node, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Reader(Protocol):
    """What is asked of the library: one event after the other, None after the last."""

    def get_event(self) -> yaml.Event | None: ...


_LOADER = cast("Callable[[str], _Reader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
"""libyaml's, where PyYAML was built with it: ten times faster, and more lenient with tabs."""


class _FaultyError(Exception):
    """The text is YAML, but not of the kind that a header may be."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def read_yaml(text: str, first_line: int) -> Node | Fault:
    """Read one YAML document, by `domain.agents.files.nodes.ReadYaml`'s contract.

    Only events are asked of the library: no value is constructed, no date or number
    guessed, no alias expanded.
    """
    try:
        return _document(iter(_LOADER(text).get_event, None), first_line)
    except _FaultyError as error:
        return Fault(error.line)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = getattr(mark, "line", 0)  # libyaml's marks are no `yaml.Mark`
        return Fault(first_line + (line if isinstance(line, int) else 0))
    except (ValueError, RecursionError):  # such as a character that UTF-8 has not
        return Fault(first_line)


def _document(events: Iterator[yaml.Event], first_line: int) -> Node:
    next(events)  # the stream's start
    if isinstance(next(events), yaml.StreamEndEvent):
        return Fields((), first_line)
    node = _node(next(events), events, first_line, 0)
    next(events)  # the document's end
    after = next(events)
    if not isinstance(after, yaml.StreamEndEvent):
        raise _FaultyError(_line(after, first_line))
    return node


def _line(event: yaml.Event, first_line: int) -> int:
    mark = event.start_mark
    return first_line + (mark.line if mark is not None else 0)


def _node(event: yaml.Event, events: Iterator[yaml.Event], first: int, depth: int) -> Node:
    line = _line(event, first)
    if depth > MOST_DEPTH or getattr(event, "anchor", None) or getattr(event, "tag", None):
        raise _FaultyError(line)
    if isinstance(event, yaml.ScalarEvent):
        return Scalar(event.value, line, plain=not event.style)
    if isinstance(event, yaml.SequenceStartEvent):
        values: list[Node] = []
        while not isinstance(one := next(events), yaml.SequenceEndEvent):
            values.append(_node(one, events, first, depth + 1))
        return Items(tuple(values), line)
    if isinstance(event, yaml.MappingStartEvent):
        pairs: list[tuple[Scalar, Node]] = []
        while not isinstance(one := next(events), yaml.MappingEndEvent):
            key = _node(one, events, first, depth + 1)
            if not isinstance(key, Scalar):
                raise _FaultyError(line)
            pairs.append((key, _node(next(events), events, first, depth + 1)))
        return Fields(tuple(pairs), line)
    raise _FaultyError(line)
