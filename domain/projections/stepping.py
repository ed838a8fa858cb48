"""What model requests and calls do to the rows of steps, calls and usage."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.runs.budget import counted

if TYPE_CHECKING:
    from datetime import datetime

    from domain.projections.rows import RunRow, StepRow
    from domain.projections.tables import Sequenced, Tables

Usage: TypeAlias = dict[str, Any]
_Reserved: TypeAlias = tuple[int, str | None]

_NOTHING: _Reserved = (0, None)
_NO_USAGE: Usage = {"input_tokens": None, "output_tokens": None, "cost": None}


def _is_current(run: RunRow, body: dict[str, Any]) -> bool:
    """Tell whether a fact is of the step that is being taken."""
    return (run.turn, run.step) == (body["turn"], body["step"])


def _is_behind(run: RunRow, body: dict[str, Any]) -> bool:
    if body["turn"] < run.turn:
        return True
    return run.step != 0 and (body["turn"], body["step"]) < (run.turn, run.step)


def _step(tables: Tables, run: RunRow, body: dict[str, Any]) -> StepRow:
    return tables.step(run.run_id, body["turn"], body["step"])


def requested(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Open a request of the step that is being taken from here on."""
    body = event.body
    step = tables.step(run.run_id, body["turn"], body["step"])
    if step.requests:
        before = json.loads(step.reserved_before)
        before[str(step.last_n)] = [step.reserved_tokens, step.reserved_cost]
        step.reserved_before = json.dumps(before)
    else:
        step.item = run.item
    reserved, n = body["reserved"], body["n"]
    step.reserved_tokens = (reserved["input_tokens"] or 0) + (reserved["output_tokens"] or 0)
    step.reserved_cost = reserved["cost"]
    step.last_n = step.open_n = n
    step.requests += 1
    step.failed = None
    step.model, step.requested_at = body["model"], event.at
    run.step = body["step"]
    run.steps += 1
    tables.used(run, step.item, event.at).steps += 1


def responded(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close the step's request, list its calls, and count what was used."""
    body = event.body
    step = _step(tables, run, body)
    reserved = _reserved(step, body["n"]) if _is_current(run, body) else _NOTHING
    step.open_n, step.answered_n, step.answered_at = None, body["n"], event.at
    step.finish, step.calls = body["finish"], len(body["calls"])
    run.step = body["step"]
    run.answered += 1
    _count(tables, (run, step), event.at, body["usage"], reserved)
    for asked in body["calls"]:
        call = tables.call(run.run_id, step.turn, step.step, asked["position"])
        call.item, call.name, call.asked_at = step.item, asked["name"], event.at


def failed(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a request that came to nothing; it counts if text had come before it broke off."""
    _came_to_nothing(tables, run, event, counts=bool(event.body.get("partial")), lost=False)


def lost(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a request that was given up: it counts at its reservation."""
    _came_to_nothing(tables, run, event, counts=True, lost=True)


def _came_to_nothing(
    tables: Tables, run: RunRow, event: Sequenced, *, counts: bool, lost: bool
) -> None:
    body = event.body
    step = _step(tables, run, body)
    current = _is_current(run, body)
    is_open = current and step.open_n == body["n"]
    if counts and (lost or is_open):
        reserved = _reserved(step, body["n"]) if current else _NOTHING
        _count(tables, (run, step), event.at, _NO_USAGE, reserved)
    if _is_behind(run, body):
        return
    run.step = body["step"]
    if is_open:
        step.open_n = None
        step.failures += 1
    if not lost and step.open_n is None and step.answered_n is None:
        step.failed = body["code"]


def discarded(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count what a second response used."""
    step = _step(tables, run, event.body)
    _count(tables, (run, step), event.at, event.body["usage"], _NOTHING)


def compacted(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count what a summary of the conversation used, with the step that it makes room for."""
    step = _step(tables, run, event.body)
    step.item = step.item or run.item
    _count(tables, (run, step), event.at, event.body["usage"], _NOTHING)


def _reserved(step: StepRow, n: int) -> _Reserved:
    """Give what a request of the step reserved: tokens and cost."""
    if n == step.last_n:
        return step.reserved_tokens, step.reserved_cost
    tokens, cost = json.loads(step.reserved_before).get(str(n), _NOTHING)
    return tokens, cost


def _count(
    tables: Tables, rows: tuple[RunRow, StepRow], at: datetime, usage: Usage, reserved: _Reserved
) -> None:
    """Add what one request used to its run, its step and its item's day."""
    run, step = rows
    used = tables.used(run, step.item, at)
    said, wrote = usage["input_tokens"], usage["output_tokens"]
    tokens, cost = counted(said, wrote, usage["cost"], *reserved)
    run.tokens += tokens
    used.tokens += tokens
    step.tokens += tokens
    if cost is None:
        for row in (run, step, used):
            row.cost_unknown += 1
    else:
        price = Decimal(cost)
        run.cost += price
        used.cost = price if used.cost is None else used.cost + price
        step.cost = price if step.cost is None else step.cost + price
    if said is None and wrote is None:
        run.tokens_unknown += 1
        used.tokens_unknown += 1
        return
    cached = usage.get("cached_tokens")
    for row in (run, step, used):
        if said is not None:
            row.input_tokens = said + (row.input_tokens or 0)
        if wrote is not None:
            row.output_tokens = wrote + (row.output_tokens or 0)
        if cached is not None:
            row.cached_tokens = cached + (row.cached_tokens or 0)


def intended(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Begin a round of a call, which ends what was unknown of it."""
    body = event.body
    call = tables.call(run.run_id, body["turn"], body["step"], body["position"])
    call.round, call.name, call.intended_at = body["round"], body["name"], event.at
    run.unknown_effects -= call.unknown
    call.unknown = 0


def unknown(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell that nobody can tell; of a step behind it moves nothing."""
    body = event.body
    if not _is_current(run, body):
        return
    tables.call(run.run_id, body["turn"], body["step"], body["position"]).unknown += 1
    run.unknown_effects += 1


def settled(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Settle a call, which counts in the step that is being taken."""
    body, outcome = event.body, event.body["outcome"]
    call = tables.call(run.run_id, body["turn"], body["step"], body["position"])
    call.name, call.by = body["name"], body.get("by", "execution")
    call.tag, call.code = outcome["tag"], outcome["code"] or None
    call.changed, call.settled_at = len(outcome["changed"]), event.at
    run.unknown_effects -= call.unknown
    call.unknown = 0
    if _is_current(run, body):
        run.calls += 1
        tables.used(run, call.item, event.at).calls += 1
