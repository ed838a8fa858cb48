"""Makes a saved step a part of the request that an agent is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from domain.agents.imported import step_model
from domain.agents.imported.loss import Became, FieldReport, left_out, problems_of
from domain.agents.imported.loss import refused as refused_row
from domain.agents.imported.plan_step import PlanStep
from domain.agents.imported.step_config import Asked, translate
from domain.agents.imported.step_file import find_entry
from domain.agents.profile import Profile, may_have
from domain.agents.reach import surface_of
from domain.agents.request import AgentRequest, Sources
from domain.agents.role import Role
from domain.agents.skill_files import slug
from domain.agents.surfaces import STORES
from domain.mcp.bring import server_of

if TYPE_CHECKING:
    from domain.agents.imported.step_file import StepFile
    from domain.runs.budget import Budget
    from domain.tools.registry import ToolSpec

_ACCEPT = "declare the server in mcp.toml, look with `legato mcp list`, accept its tools"


@dataclass(frozen=True)
class Applied:
    """The request with the step in it, the report of it, and what is refused."""

    request: AgentRequest
    rows: tuple[FieldReport, ...] = ()
    problems: tuple[str, ...] = ()


def names_skills(request: AgentRequest, file: StepFile) -> bool:
    """Tell whether the saved step of a request names skills, which must then be read."""
    entry, _ = find_entry(file, request.step)
    step = None if entry is None else translate(entry, file.form).step
    return step is not None and bool(step.skills)


def with_step(role: Role, request: AgentRequest, sources: Sources) -> Applied:
    """Give the request that a saved step amounts to; one without a step stays as it is."""
    if not request.step_file:
        return Applied(request)
    if not role.takes_steps:
        says = f"step_not_of_role: {role.name} is not launched from a saved step"
        return Applied(request, problems=(f"{says}; leave it out, or name no agent",))
    if sources.steps is None:
        why = sources.steps_problem or "it was not read"
        return Applied(request, problems=(f"step_file_unreadable: {why}",))
    return _found(role, request, sources, sources.steps)


def _found(role: Role, request: AgentRequest, sources: Sources, file: StepFile) -> Applied:
    entry, rows = find_entry(file, request.step)
    if entry is None:
        return Applied(request, rows, tuple(problems_of(rows)))
    asked = Asked(role.default_profile, request.profile)
    done = translate(entry, file.form, asked)
    rows = (*rows, *done.rows)
    if done.step is None:
        return Applied(request, rows, tuple(problems_of(rows)))
    return _applied(_Launch(role, request, sources, done.step, done.places), rows)


@dataclass(frozen=True)
class _Launch:
    """What meets: the role, what the call asks for, what there is, and the saved step."""

    role: Role
    request: AgentRequest
    sources: Sources
    step: PlanStep
    places: Mapping[str, str]

    @property
    def profile(self) -> Profile:
        return self.request.profile or self.step.profile or self.role.default_profile

    def place(self, field: str, number: int, name: str) -> str:
        """Say where in the source a name stands."""
        return self.places.get(name, f"{field}[{number}]")


def _applied(launch: _Launch, rows: tuple[FieldReport, ...]) -> Applied:
    request, step = launch.request, launch.step
    tools, lost = _tools(launch)
    skills, unknown = _skills(launch)
    found = (*authority_rows(request.profile, step), *lost, *unknown, *_ambiguous(launch))
    filled = request.model_copy(
        update={
            "profile": request.profile if step.profile is None else launch.profile,
            "tools": tools,
            "skills": skills,
            "model": request.model or step.model,
            "fallback": request.fallback or ("" if request.model else step.fallback),
            "budget": _limited(request.budget, step.max_steps),
        }
    )
    rows = (*_modelled(request, step, rows), *found)
    return Applied(filled, rows, tuple(problems_of(found)))


def _limited(budget: Budget, most: int | None) -> Budget:
    """Lower the limit of steps to the saved one; a soft limit above it goes to its usual share."""
    if most is None or (budget.steps is not None and budget.steps <= most):
        return budget
    above = budget.soft.steps is not None and budget.soft.steps > most
    soft = budget.soft.model_copy(update={"steps": None}) if above else budget.soft
    return budget.model_copy(update={"steps": most, "soft": soft})


def authority_rows(asked: Profile | None, step: PlanStep) -> tuple[FieldReport, ...]:
    """Refuse a saved program as an agent, and a call that asks for more than is stored."""
    found: list[FieldReport] = []
    if step.mode == "scripted":
        says = "the step runs a saved program, which is no agent"
        mend = "set its declared_execution_mode (mode) to agentic if an agent is to do it"
        found.append(refused_row("(step)", "step_scripted", says, mend))
    if step.profile is Profile.READER and asked is Profile.WRITER:
        says = "the step is stored as a Reader and the call asks for a Writer"
        mend = "call it without --writer, or change the stored profile"
        found.append(refused_row("profile", "profile_narrower", says, mend))
    return tuple(found)


def _tools(launch: _Launch) -> tuple[tuple[str, ...] | None, list[FieldReport]]:
    """Give the tools by name, None for the role's own, with a row for each that is not had."""
    step, asked = launch.step, launch.request.tools
    if step.tools is None and step.mcp_tools is None:
        return asked, []
    specs = launch.sources.registry.specs
    there = [name for name in sorted(surface_of(launch.role, specs)) if name in specs]
    matched, rows = _matched(launch)
    own = [one for one in there if not server_of(specs[one])]
    named = own if step.tools is None else [one for one in step.tools if one in there]
    stores = [one for one in STORES if one in there] if step.tools else []
    every = dict.fromkeys((*named, *stores, *matched))
    kept = [one for one in every if may_have(launch.profile, specs[one].writes)]
    for n, one in enumerate(step.tools or ()):
        place = launch.place("tools", n, one)
        if one not in there:
            rows.append(_not_here(place, "tool_not_here", "no such tool belongs to it here"))
        elif one not in kept:
            rows.append(_not_here(place, "tool_not_of_profile", "a Reader never has it"))
    return tuple(one for one in kept if asked is None or one in asked), rows


def _matched(launch: _Launch) -> tuple[list[str], list[FieldReport]]:
    """Find the tools of MCP servers that the step's patterns name."""
    there = _remote(launch)
    names: list[str] = []
    rows: list[FieldReport] = []
    for n, pattern in enumerate(launch.step.mcp_tools or ()):
        found = [spec.name for spec in there if _covers(pattern, spec)]
        names += found
        if not found:
            place = launch.place("mcp_tools", n, pattern)
            says = "no accepted tool of an MCP server here matches it"
            row = _not_here(place, "server_not_here", says)
            rows.append(row.model_copy(update={"next": _ACCEPT}))
    return names, rows


def _remote(launch: _Launch) -> list[ToolSpec]:
    """Give the tools of MCP servers that there are, by name."""
    specs = launch.sources.registry.specs
    return [spec for _, spec in sorted(specs.items()) if server_of(spec)]


def _covers(pattern: str, spec: ToolSpec) -> bool:
    """Tell whether a pattern names a tool, by its name here or by the server's own."""
    own = f"mcp__{server_of(spec)}__{spec.remote}"
    return fnmatchcase(spec.name, pattern) or fnmatchcase(own, pattern)


def _ambiguous(launch: _Launch) -> list[FieldReport]:
    """Refuse a tool that is named without its server and that several servers have."""
    there = _remote(launch)
    rows: list[FieldReport] = []
    for n, pattern in enumerate(launch.step.mcp_tools or ()):
        servers = {spec.source for spec in there if _covers(pattern, spec)}
        if pattern.startswith("mcp__*__") and not pattern.endswith("__*") and len(servers) > 1:
            place = launch.place("mcp_tools", n, pattern)
            says = f"{len(servers)} servers have a tool of that name"
            rows.append(refused_row(place, "tool_ambiguous", says, "write SERVER:TOOL in the file"))
    return rows


def _skills(launch: _Launch) -> tuple[tuple[str, ...] | None, list[FieldReport]]:
    """Give the skills asked for and those of the step that the workspace has."""
    asked, saved = launch.request.skills, launch.step.skills
    if not saved:
        return asked, []
    there = {skill.name for skill in launch.sources.skills}
    rows = [
        _not_here(
            launch.place("skills", n, one),
            "skill_not_here",
            "the workspace has no such skill",
            "skills",
        )
        for n, one in enumerate(saved)
        if slug(one) not in there
    ]
    held = [slug(one) for one in saved if slug(one) in there]
    return (tuple(dict.fromkeys((*(asked or ()), *held))) or asked), rows


def _modelled(
    request: AgentRequest, step: PlanStep, rows: tuple[FieldReport, ...]
) -> tuple[FieldReport, ...]:
    """Say of the step's model that the call's counts, where that is another."""
    if not step.model or request.model in {"", step.model}:
        return rows
    other = {"became": Became.DROPPED, "code": "model_overruled", "says": "the call names another"}
    return tuple(
        row.model_copy(update=other) if row.field == step_model.FIELD else row for row in rows
    )


def _not_here(field: str, code: str, says: str, narrows: str = "tools") -> FieldReport:
    step = "add it to this deployment, or take it out of the step"
    return left_out(field, code, says, step, narrows)
