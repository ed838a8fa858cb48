"""Writes docs/events.md and docs/states.md from the code: every event type, every state.

Run it from the checkout: `.venv/bin/python docs/make_events.py`, or `make docs`.
"""

from __future__ import annotations

import inspect
import re
import types
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from domain.events import Event, Fact
from domain.runs.run import OPEN, TERMINAL, TRANSITIONS, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

DOCS = Path(__file__).resolve().parent
FACTS: tuple[type[Event], ...] = get_args(Fact)

EVENTS_HEAD = """# Events

Every fact that can stand in the ledger, as `domain/events.py` declares it; this page is made from
the code by `make docs`. [The ledger](ledger.md) says how facts are stored and chained.

An event's id is its type and the run's own coordinates; within one stream it is unique. *Use* says
what a second append of the same id means. **same**: the writer repeats a command; equal content
gives the first result, other content is `idempotency_mismatch`. **first**: writers compete; the
loser is given the winner's event and goes on from it. *After the end* says whether a run that has
ended still takes it.

| event | id | use | after the end |
| --- | --- | --- | --- |
"""

STATES_HEAD = """# States of a run

Made by `make docs` from `TRANSITIONS` in `domain/runs/run.py`. A fact that has no arrow from the
state a run is in changes nothing about that state; a terminal state is final.

"""


def type_name(fact: type[Event]) -> str:
    """Give the name under which a type of event is stored."""
    return str(fact.model_fields["type"].default)


def shown(annotation: object) -> str:
    """Write a type as a reader expects it, naming other values by their own names."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is type(None):
        return "none"
    if origin is Annotated:
        return shown(inner[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in {Union, types.UnionType}:
        return " or ".join(shown(one) for one in inner)
    if origin is tuple:
        one = shown(inner[0])
        return f"list of ({one})" if " or " in one else f"list of {one}"
    name = str(getattr(annotation, "__name__", annotation))
    plain = {"str": "text", "int": "whole number", "float": "number", "bool": "yes or no"}
    return plain.get(name, f"[{name}](#{name.lower()})")


def described(owner: type[object]) -> str:
    """Give a docstring as one flowing text, its paragraphs kept."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(owner) or "")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def default_of(field: FieldInfo) -> str:
    """Write a field's default; empty where it must be given."""
    if field.is_required():
        return ""
    value: object = field.default
    if value is PydanticUndefined or isinstance(value, BaseModel):
        return "its own defaults"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    listed = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    return ", ".join(f"`{one}`" for one in listed if one != "") or "empty"


def fields_table(model: type[BaseModel]) -> list[str]:
    """List the fields of a value, the stored type left out."""
    rows = [
        f"| `{name}` | {shown(_whole(field))} | {default_of(field)} |"
        for name, field in model.model_fields.items()
        if name != "type"
    ]
    return ["| field | type | default |", "| --- | --- | --- |", *rows] if rows else []


def _whole(field: FieldInfo) -> object:
    return cast("object", field.annotation)


def values_in(annotation: object) -> Iterator[type[Any]]:
    """Find the values of our own that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | StrEnum):
        yield annotation
    for one in get_args(annotation):
        yield from values_in(one)


def all_values() -> dict[str, type[Any]]:
    """Find every value that any event holds, by name."""
    found: dict[str, type[Any]] = {}
    left: list[type[BaseModel]] = list(FACTS)
    while left:
        for field in left.pop().model_fields.values():
            for value in values_in(_whole(field)):
                if value.__name__ not in found and issubclass(value, BaseModel):
                    left.append(value)
                found[value.__name__] = value
    return dict(sorted(found.items()))


def id_of(fact: type[Event]) -> str:
    """Write what an event's id is made of."""
    name = type_name(fact)
    return f"{name}:{'.'.join(f'<{key}>' for key in fact.keys)}" if fact.keys else name


def event_section(fact: type[Event]) -> list[str]:
    """Describe one type of event."""
    marks = [f"Id `{id_of(fact)}`", f"use **{fact.use.value}**", f"schema version {fact.version}"]
    if fact.after_end:
        marks.append("may follow the run's end")
    if fact.closes:
        marks.append("closes its stream")
    return [f"## {type_name(fact)}", described(fact), f"{', '.join(marks)}.", *_table(fact)]


def _table(model: type[BaseModel]) -> list[str]:
    rows = fields_table(model)
    return ["\n".join(rows)] if rows else []


def value_section(value: type[Any]) -> list[str]:
    """Describe one value that events hold."""
    if issubclass(value, StrEnum):
        choices = ", ".join(f"`{one.value}`" for one in value)
        return [f"### {value.__name__}", described(value), f"One of {choices}."]
    return [f"### {value.__name__}", described(value), *_table(value)]


def events_page() -> str:
    """Write the page of events."""
    rows = "\n".join(
        f"| [{type_name(fact)}](#{type_name(fact).replace('.', '')}) | `{id_of(fact)}` "
        f"| {fact.use.value} | {'yes' if fact.after_end else 'no'} |"
        for fact in FACTS
    )
    parts = [EVENTS_HEAD + rows]
    for fact in FACTS:
        parts += event_section(fact)
    parts += ["## Values in events"]
    for value in all_values().values():
        parts += value_section(value)
    return "\n\n".join(parts) + "\n"


def moves() -> Iterator[tuple[Status, str, Status]]:
    """List the transition table by state, the end last."""
    for source in Status:
        rows = [(event, to) for (state, event), to in TRANSITIONS.items() if state is source]
        for event, to in sorted(rows, key=lambda row: (row[0] == "run.ended", row[0])):
            yield source, event, to


def diagram() -> str:
    """Draw the transition table; all open states end alike."""
    lines = ["stateDiagram-v2", f"    [*] --> {Status.QUEUED.value} : run.accepted"]
    lines.append("    state open {")
    lines += [
        f"        {source.value} --> {target.value} : {event}"
        for source, event, target in moves()
        if event != "run.ended"
    ]
    lines.append("    }")
    for status in Status:
        if status in TERMINAL:
            lines.append(f"    open --> {status.value} : run.ended")
    lines += [f"    {status.value} --> [*]" for status in Status if status in TERMINAL]
    return "\n".join(lines)


def states_page() -> str:
    """Write the page of states."""
    rows = ["| from | event | to |", "| --- | --- | --- |"]
    for source, event, target in moves():
        to = "the terminal state it names" if event == "run.ended" else f"`{target.value}`"
        rows.append(f"| `{source.value}` | `{event}` | {to} |")
    opened = ", ".join(f"`{status.value}`" for status in Status if status in OPEN)
    ended = ", ".join(f"`{status.value}`" for status in Status if status in TERMINAL)
    return (
        f"{STATES_HEAD}```mermaid\n{diagram()}\n```\n\n"
        f"Open: {opened}.\n\nTerminal: {ended}.\n\n" + "\n".join(rows) + "\n"
    )


PAGES = {"events.md": events_page, "states.md": states_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
