"""The ordered items of a run: what is said to the agent, and what is checked in code."""

from __future__ import annotations

import math
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from domain.runs.conversation import Frozen

MOST_REPAIRS = 3
_MOST_SECONDS = 86400
_MOST_ROWS = 1_000_000


class CommandCheck(Frozen):
    """A command that must end with status 0; `limit` is in seconds."""

    kind: Literal["command"] = "command"
    command: str
    limit: float = 600.0


class FileCheck(Frozen):
    """A file that must exist; with `json_path` (dotted) the JSON value there must be equal."""

    kind: Literal["file"] = "file"
    path: str
    json_path: str = ""
    equals: str | int | float | bool | None = None


class RowsCheck(Frozen):
    """A read-only query of the workflow database that must give at least so many rows."""

    kind: Literal["rows"] = "rows"
    sql: str
    at_least: int = 1


Check: TypeAlias = Annotated[CommandCheck | FileCheck | RowsCheck, Field(discriminator="kind")]


class Item(Frozen):
    """One item. `message` and `reflection` are a turn; `prevalidation` is checks in code.

    A prevalidation with `text` begins with a turn. Failing checks become the next message,
    at most `repairs` times in the same conversation; then the item fails.
    """

    kind: Literal["message", "reflection", "prevalidation"]
    name: str
    text: str = ""
    checks: tuple[Check, ...] = ()
    repairs: int = MOST_REPAIRS


def _check_problems(check: Check) -> list[str]:
    """List what no record could hold of a check, or no check could keep to."""
    match check:
        case CommandCheck() if not 0 < check.limit <= _MOST_SECONDS:
            return [f"the limit of a command must be above 0 and at most {_MOST_SECONDS} seconds"]
        case FileCheck(equals=float() as number) if not math.isfinite(number):
            return ["a file's value is compared with no number"]
        case RowsCheck() if not 0 <= check.at_least <= _MOST_ROWS:
            return [f"at_least must be 0 to {_MOST_ROWS}"]
        case _:
            return []


def item_problems(items: tuple[Item, ...]) -> list[str]:
    """List everything that makes a sequence unfit to run."""
    found: list[str] = []
    if not items:
        found.append("the sequence has no items")
    for n, item in enumerate(items, start=1):
        where = f"item {n} ({item.name or 'unnamed'})"
        if not item.name.strip():
            found.append(f"{where} has no name")
        if item.kind == "prevalidation" and not item.checks:
            found.append(f"{where} is a prevalidation without checks")
        if item.kind != "prevalidation" and item.checks:
            found.append(f"{where} is a {item.kind} and cannot have checks")
        if item.kind != "prevalidation" and not item.text.strip():
            found.append(f"{where} says nothing")
        if not 0 <= item.repairs <= MOST_REPAIRS:
            found.append(f"{where}: repairs must be 0 to {MOST_REPAIRS}")
        found += [f"{where}: {said}" for check in item.checks for said in _check_problems(check)]
    return found
