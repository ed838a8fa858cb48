"""Reads a sequence of one's own from a file: its items, and all that is wrong with them."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from domain.errors import LegatoError, problems, refused
from domain.runs.sequence import Item, item_problems

_ITEMS = TypeAdapter(tuple[Item, ...])
_MOST_BYTES = 1024 * 1024
_TOO_LARGE = f"it has more than {_MOST_BYTES} bytes"
_BROKEN = (ValueError, RecursionError, LookupError, AttributeError, TypeError)
"""What PyYAML raises, beside its own errors, where a date or a number cannot be made of a text."""


def read_items(path: str) -> tuple[Item, ...]:
    """Read a YAML or JSON list of items; raises `items_unreadable` and `items_invalid`."""
    document = _document(path, _text(path))
    try:
        items = _ITEMS.validate_python(document)
    except ValidationError as exc:
        wrong = exc.errors(include_input=False)
        raise _invalid(path, [_problem(one["loc"], one["msg"]) for one in wrong]) from None
    if found := item_problems(items):
        raise _invalid(path, found)
    return items


def _text(path: str) -> str:
    """Read the file whole, and never more of it than can be a list of items."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or "it cannot be opened") from None
    except ValueError:
        raise _unreadable(path, "no path holds a NUL") from None
    if len(data) > _MOST_BYTES:
        raise _unreadable(path, _TOO_LARGE)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _unreadable(path, "it is not UTF-8 text") from None


def _unreadable(path: str, why: str) -> LegatoError:
    return refused(
        "items_unreadable",
        f"the items in {path} cannot be read: {why}",
        cause=why,
        next="name an existing YAML or JSON file after --items",
    )


def _document(path: str, text: str) -> object:
    """Load YAML; what is wrong is said by its place, as a line of it may hold a secret."""
    try:
        document: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _invalid(path, [f"it is not YAML{_place(error)}"]) from None
    except _BROKEN:
        raise _invalid(path, ["it is nested too deeply, or holds a value that is none"]) from None
    return document


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" from line {mark.line + 1}, column {mark.column + 1}, on" if mark is not None else ""


def _invalid(path: str, found: list[str]) -> LegatoError:
    return problems(
        "items_invalid",
        f"the items in {path} cannot be run",
        found,
        next="mend the file; docs/agents.md has the fields of an item",
    )


def _problem(place: tuple[int | str, ...], said: str) -> str:
    """Name an item by its number, counting from 1, as all else does."""
    if not place:
        return f"it is no list of items: {said}"
    first, *rest = place
    number = first + 1 if isinstance(first, int) else first
    return f"item {number}{''.join(f'.{one}' for one in rest)}: {said}"
