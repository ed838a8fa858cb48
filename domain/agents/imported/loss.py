"""The loss report: what became of each field of what another program saved."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.runs.conversation import Frozen
from domain.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

Given: TypeAlias = Literal["absent", "null", "empty", "value"]
"""How a field stood in the source: these four are never the same thing."""

MOST_ROWS = 200


class Became(StrEnum):
    """What became of a field."""

    MAPPED = "mapped"
    TRANSFORMED = "transformed"
    DEFAULTED = "defaulted"
    DROPPED = "dropped"
    REFUSED = "refused"


class FieldReport(Frozen):
    """What became of one field, or of one entry of its list.

    No value of the source is ever in it: `field` is a known name with its position, `code` is
    stable, `says` tells in one sentence, `next` what a person can do. `widens` and `narrows` name
    what the agent may do more or less than the source said, such as `database:write`, `tools`,
    `skills` or `steps`. `person` tells that someone should decide, which `--strict` waits for.
    """

    field: str
    given: Given
    became: Became
    code: str
    says: str
    next: str = ""
    widens: tuple[str, ...] = ()
    narrows: tuple[str, ...] = ()
    person: bool = False


def refused(field: str, code: str, says: str, step: str) -> FieldReport:
    """Refuse what stands in a source where `field` says, and have a person take the next step."""
    return FieldReport(
        field=field,
        given="value",
        became=Became.REFUSED,
        code=code,
        says=says,
        next=step,
        person=True,
    )


def left_out(field: str, code: str, says: str, step: str, narrows: str = "tools") -> FieldReport:
    """Report what an agent does not get, for a person to look at; `narrows` as in a row."""
    return FieldReport(
        field=field,
        given="value",
        became=Became.DROPPED,
        code=code,
        says=says,
        next=step,
        narrows=(narrows,),
        person=True,
    )


def given(value: object) -> Given:
    """Tell null, empty and a value apart; what is absent has no value to ask about."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return "value" if value.strip() else "empty"
    return "empty" if isinstance(value, list | dict) and not value else "value"


def tools_became(entries: int, tools: int) -> str:
    """Say how many entries of a list became how many tools."""
    return f"{counted(entries, 'entry', 'entries')} became {counted(tools, 'tool')} of our names"


def problems_of(rows: Iterable[FieldReport]) -> list[str]:
    """List the refused rows as a build lists problems: `code: sentence; next step`."""
    return [
        f"{row.code}: {_where(row.field)}{row.says}" + (f"; {row.next}" if row.next else "")
        for row in rows
        if row.became is Became.REFUSED
    ]


def _where(field: str) -> str:
    """Name a field before what is said of it; what stands in brackets is no field."""
    return "" if field.startswith("(") else f"{field}: "


def bounded(rows: Iterable[FieldReport]) -> tuple[FieldReport, ...]:
    """Keep a report within `MOST_ROWS`, refused rows and those for a person first."""
    every = tuple(rows)
    if len(every) <= MOST_ROWS:
        return every
    first = sorted(every, key=lambda row: (row.became is not Became.REFUSED, not row.person))
    more = FieldReport(
        field="...",
        given="value",
        became=Became.DROPPED,
        code="report_cut",
        says=f"{len(every) - MOST_ROWS + 1} more rows are not listed",
        next="`legato import` lists them all",
        person=any(row.person for row in first[MOST_ROWS - 1 :]),
    )
    return (*first[: MOST_ROWS - 1], more)
