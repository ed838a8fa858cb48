"""A draft: an agent of another program as a Legato agent file, with what became of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import KEYS, AgentFile
from domain.agents.files.codes import Level
from domain.agents.files.nodes import Fields, Items, Scalar, is_null
from domain.agents.files.reading import read_definition
from domain.agents.imported.loss import Became, FieldReport, Given, refused
from domain.agents.imported.plan_step import shown_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.agents.files.nodes import Node
    from domain.agents.files.problems import Problem

_BECAME: Mapping[Level, Became] = MappingProxyType(
    {
        Level.DROPPED: Became.REFUSED,
        Level.SKIPPED: Became.DROPPED,
        Level.ERROR: Became.TRANSFORMED,
        Level.NOTE: Became.TRANSFORMED,
    }
)
_LOUD = (Level.DROPPED, Level.ERROR)
_NARROWING = ("tool_", "server_", "header_invalid", "header_forbidden")
OPEN: Mapping[str, str] = MappingProxyType(
    {
        "tools": "the tools of the call count",
        "permissionMode": "the profile of the call counts",
        "model": "the model of the call counts",
    }
)
"""The fields of an agent file that leave something to the call where they are absent."""


@dataclass(frozen=True)
class Draft:
    """One agent: its name in reports, the definition (None where it is refused), and its rows."""

    name: str
    agent: AgentFile | None
    rows: tuple[FieldReport, ...]


def lost_draft(name: str, code: str, says: str) -> Draft:
    """Give the draft of a file from which no agent can be made."""
    return Draft(name, None, (refused("(file)", code, says, "mend it there"),))


def drafted(
    name: str, header: Fields, body: str, rows: Sequence[FieldReport], more: Sequence[Problem] = ()
) -> Draft:
    """Make a draft of a header in Legato's own keys; `rows` tell where they came from."""
    agent, found = read_definition(header, body, frozenset())
    told = [problem_row("", one) for one in (*more, *found)]
    refused = any(row.became is Became.REFUSED for row in (*rows, *told))
    return Draft(name, None if refused else agent, (*rows, *told))


def key_rows(header: Fields, problems: Sequence[Problem]) -> tuple[FieldReport, ...]:
    """Report a header that is written in Legato's own keys already, key by key."""
    rows: list[FieldReport] = []
    told: set[int] = set()
    for n, (key, node) in enumerate(header.pairs):
        end = header.pairs[n + 1][0].line if n + 1 < len(header.pairs) else None
        about = [
            m
            for m, one in enumerate(problems)
            if m not in told and one.line >= key.line and (end is None or one.line < end)
        ]
        told.update(about)
        rows += _key_rows(key.text, node, [problems[m] for m in about])
    others = [one for m, one in enumerate(problems) if m not in told]
    return (*rows, *(problem_row("", one) for one in others), *left_open(header))


def _key_rows(key: str, node: Node, about: list[Problem]) -> list[FieldReport]:
    if about:
        return [problem_row(shown_field(key), one, stood(node)) for one in about]
    known = key in KEYS
    return [
        FieldReport(
            field=shown_field(key),
            given=stood(node) if known else "value",
            became=Became.MAPPED if known else Became.DROPPED,
            code="kept" if known else "field_unknown",
            says="it is kept, by the names that things have here"
            if known
            else "no agent file has such a field",
        )
    ]


def left_open(header: Fields) -> list[FieldReport]:
    """Tell what absent fields leave to the call."""
    there = {key.text for key, _ in header.pairs}
    return [
        FieldReport(
            field=name, given="absent", became=Became.DEFAULTED, code="left_open", says=says
        )
        for name, says in OPEN.items()
        if name not in there
    ]


def problem_row(field: str, one: Problem, given: Given = "value") -> FieldReport:
    """Tell a problem of an agent file as a row."""
    return FieldReport(
        field=field or (f"(line {one.line})" if one.line else "(file)"),
        given=given,
        became=_BECAME[one.level],
        code=one.code,
        says=one.message,
        next=one.next,
        narrows=("tools",) if one.code.startswith(_NARROWING) else (),
        person=one.level in _LOUD,
    )


def stood(node: Node) -> Given:
    """Tell how a field stood."""
    if is_null(node):
        return "null"
    if isinstance(node, Scalar):
        return "value" if node.text.strip() else "empty"
    whole = node.values if isinstance(node, Items) else node.pairs
    return "value" if whole else "empty"


def row(  # noqa: PLR0913 - the report's own fields
    field: str,
    node: Node,
    became: Became,
    code: str,
    says: str,
    *,
    step: str = "",
    widens: tuple[str, ...] = (),
    narrows: tuple[str, ...] = (),
    person: bool = False,
) -> FieldReport:
    """Tell what became of a field of another dialect."""
    return FieldReport(
        field=field,
        given=stood(node),
        became=became,
        code=code,
        says=says,
        next=step,
        widens=widens,
        narrows=narrows,
        person=person,
    )


def text_pair(key: str, text: str, line: int = 0) -> tuple[Scalar, Node]:
    """Make a pair of a header: a key of ours and a text."""
    return Scalar(key, line, plain=False), Scalar(text, line, plain=False)


def list_pair(key: str, names: Iterable[str], line: int = 0) -> tuple[Scalar, Node]:
    """Make a pair of a header: a key of ours and a list of names."""
    values = tuple(Scalar(name, line, plain=False) for name in names)
    return Scalar(key, line, plain=False), Items(values, line)
