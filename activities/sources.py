"""Reads, before a build begins, all that it is made from besides the request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from activities.models.prices import reserve
from domain.agents.request import Sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.agents.request import AgentRequest
    from domain.tools.registry import Registry


async def read_sources(
    registry: Registry, model_problem: Callable[[str], str], request: AgentRequest
) -> Sources:
    """Read a build's sources; what takes time is done on a thread."""
    return await asyncio.to_thread(_read, registry, model_problem, request)


def _read(
    registry: Registry, model_problem: Callable[[str], str], request: AgentRequest
) -> Sources:
    problem = model_problem(request.model)
    return Sources(
        registry=registry,
        model_problem=problem,
        prices_known=bool(problem) or _price_is_known(request),
    )


def _price_is_known(request: AgentRequest) -> bool:
    """Ask the price list, which takes a second to load, only where money is limited."""
    if request.budget.cost is None:
        return True
    return reserve(request.model, 1, request.max_tokens).cost is not None
