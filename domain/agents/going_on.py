"""What a run asks for that goes on from an ended one: the items left, and its budget anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.roles import ROLES
from domain.errors import refused
from domain.ids import derived_run_id
from domain.runs.raising import budget_with

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest
    from domain.runs.raising import Wanted
    from domain.runs.run import Run
    from domain.runs.sequence import Item


def going_on_id(run_id: str) -> str:
    """Name the run that goes on from another: there is one at most."""
    return derived_run_id(run_id, "resumes")


def going_on(run: Run, request: AgentRequest, run_id: str, wanted: Wanted) -> AgentRequest:
    """Ask for what a run has left undone, from its first unfinished item on.

    The budget is the old one with all that was added to it, changed as `wanted`, and counts
    from nothing. Raises `run_open`, `run_has_nothing_left` and `budget_refused`.
    """
    if run.ended is None:
        raise refused(
            "run_open",
            f"the run {run_id} has not ended: there is nothing to go on from",
            next=f"`legato budget {run_id}` raises its budget, `legato stop {run_id}` ends it",
        )
    items = _items(run, request)
    left = items[run.items_done :]
    if not left:
        raise refused(
            "run_has_nothing_left",
            f"the run {run_id} is {run.ended.status} and has no unfinished item",
            cause=f"{run.items_done} of {len(items)} items are done",
            next="start a new run with `legato run`",
        )
    return request.model_copy(update={"items": left, "budget": budget_with(run.budget, wanted)})


def _items(run: Run, request: AgentRequest) -> tuple[Item, ...]:
    """Give the sequence: as it was defined, or as it would have been."""
    if run.defined is not None:
        return run.defined.items
    return request.items or ROLES[request.role].items(request)
