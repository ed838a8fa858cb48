"""Reads a sequence of one's own from a file: its items, and all that is wrong with them."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from domain.errors import LegatoError, problems, refused
from domain.runs.sequence import Item, item_problems

_ITEMS = TypeAdapter(tuple[Item, ...])


def read_items(path: str) -> tuple[Item, ...]:
    """Read a YAML or JSON list of items; raises `items_unreadable` and `items_invalid`."""
    try:
        document: object = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise refused(
            "items_unreadable",
            f"the items in {path} cannot be read: {why}",
            cause=str(why),
            next="name an existing YAML or JSON file after --items",
        ) from None
    except yaml.YAMLError as error:
        raise _invalid(path, [f"it is not YAML: {' '.join(str(error).split())}"]) from None
    try:
        items = _ITEMS.validate_python(document)
    except ValidationError as exc:
        wrong = exc.errors(include_input=False)
        raise _invalid(path, [_problem(one["loc"], one["msg"]) for one in wrong]) from None
    if found := item_problems(items):
        raise _invalid(path, found)
    return items


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
