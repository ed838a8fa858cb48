"""Reads, before a build begins, all that it is made from besides the request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.models.prices import reserve
from activities.skills import read_skills
from activities.step_files import read_step_file
from domain.agents.imported.apply_step import names_skills
from domain.agents.request import Sources
from domain.tools.registry import Registry

if TYPE_CHECKING:
    from domain.agents.definition import Skill
    from domain.agents.imported.step_file import StepFile
    from domain.agents.request import AgentRequest


@dataclass(frozen=True)
class Place:
    """What the deployment gives a build: its tools, its models, the machine's confinement."""

    registry: Registry
    model_problem: Callable[[str], str]
    confinement: str


async def read_sources(place: Place, request: AgentRequest) -> Sources:
    """Read a build's sources; what takes time is done on a thread."""
    return await asyncio.to_thread(_read, place, request)


def _read(place: Place, request: AgentRequest) -> Sources:
    problem = place.model_problem(request.model)
    problem = problem or place.model_problem(request.fallback)
    steps, steps_problem = read_step_file(request.step_file) if request.step_file else (None, "")
    skills, skill_problems = _skills(request, steps)
    return Sources(
        registry=place.registry,
        skills=skills,
        skill_problems=skill_problems,
        model_problem=problem,
        prices_known=bool(problem) or _price_is_known(request),
        confinement=place.confinement,
        steps=steps,
        steps_problem=steps_problem,
    )


def _skills(
    request: AgentRequest, steps: StepFile | None
) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
    """Read the workspace's skills only where some may be asked for by name."""
    named = bool(request.skills) or (steps is not None and names_skills(request, steps))
    if not named or not request.workspace:
        return (), ()
    return read_skills(request.workspace)


def _price_is_known(request: AgentRequest) -> bool:
    """Ask the price list, which takes a second to load, only where money is limited."""
    if request.budget.cost is None:
        return True
    asked = [request.model, request.fallback] if request.fallback else [request.model]
    return all(reserve(name, 1, request.max_tokens).cost is not None for name in asked)
