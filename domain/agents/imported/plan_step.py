"""A saved plan step as Legato keeps it: what of its agent a person chose, no more."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, ValidationError

from domain.agents.imported.loss import Became, FieldReport, given
from domain.agents.profile import Profile
from domain.codec import Json, canonical
from domain.runs.conversation import Frozen

VERSION = 1
MARK = "legato_steps"
"""The key that a file of saved steps carries when it is Legato's own, with its version."""

TOOL = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
PATTERN = r"mcp__(?:\*|[A-Za-z0-9][A-Za-z0-9_.-]{0,63})__(?:\*|[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})"
SKILL = r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}"

_Tool: TypeAlias = Annotated[str, Field(pattern=f"^{TOOL}$")]
_Pattern: TypeAlias = Annotated[str, Field(pattern=f"^{PATTERN}$")]
_Skill: TypeAlias = Annotated[str, Field(pattern=f"^{SKILL}$")]
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class PlanStep(Frozen):
    """One saved step.

    `profile` None takes the default of the role that it is launched as. `tools` None takes that
    role's own, () none at all; named ones are joined by the tools of the stores, which belong to
    the profile. `mcp_tools` are patterns `mcp__SERVER__TOOL` where `*` stands for any, () is
    none. `skills` () is none. `model` and `fallback` "" leave them to the call, as `max_steps`
    None does with the limit. A `scripted` step runs a saved program and is no agent.
    """

    id: str
    title: str = ""
    mode: Literal["agentic", "scripted"] = "agentic"
    profile: Profile | None = None
    tools: tuple[_Tool, ...] | None = None
    mcp_tools: tuple[_Pattern, ...] | None = None
    skills: tuple[_Skill, ...] | None = None
    model: str = ""
    fallback: str = ""
    max_steps: int | None = Field(default=None, gt=0)


def shown_id(number: int, name: object) -> str:
    """Name a step in a report: by its id where that is a plain name, else by its place."""
    plain = isinstance(name, str) and _ID.fullmatch(name) is not None
    return str(name) if plain else f"step {number}"


def saved(step: PlanStep) -> dict[str, Json]:
    """Write a step as it stands in a file; what is left open is left out."""
    fields: dict[str, Json] = step.model_dump(mode="json", exclude_defaults=True)
    return {"id": step.id, **fields}


def read_saved(entry: dict[str, Json]) -> tuple[PlanStep | None, tuple[FieldReport, ...]]:
    """Read a step of Legato's own file; the rows say what became of each field, never its value."""
    rows = [_null(name) for name, value in entry.items() if value is None]
    try:
        step = PlanStep.model_validate_json(canonical(entry), strict=True)
    except ValidationError as exc:
        rows += [_wrong(one["loc"], one["type"]) for one in exc.errors(include_input=False)]
        return None, tuple({row.field: row for row in reversed(rows)}.values())
    if rows:
        return None, tuple(rows)
    return step, tuple(_kept(name, value) for name, value in entry.items())


def _kept(name: str, value: Json) -> FieldReport:
    return FieldReport(
        field=name,
        given=given(value),
        became=Became.MAPPED,
        code="kept",
        says="it is Legato's own field and counts as it stands",
    )


def _null(name: str) -> FieldReport:
    return FieldReport(
        field=shown_field(name),
        given="null",
        became=Became.REFUSED,
        code="null_refused",
        says="null says neither none nor anything",
        next="write [] for none, or leave the field out",
        person=True,
    )


def _wrong(place: tuple[int | str, ...], kind: str) -> FieldReport:
    names = [f"[{one}]" if isinstance(one, int) else shown_field(one) for one in place]
    unknown = kind == "extra_forbidden"
    return FieldReport(
        field="".join(names),
        given="value",
        became=Became.REFUSED,
        code="field_unknown" if unknown else "value_invalid",
        says="no such field" if unknown else f"its value is refused ({kind})",
        next="docs/import.md lists the fields and what each may hold",
        person=True,
    )


def shown_field(name: str) -> str:
    """Name a field in a report: by its name where that is a plain one."""
    return name if _FIELD.fullmatch(name) else "(a field whose name is no name)"
