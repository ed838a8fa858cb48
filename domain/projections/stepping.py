"""What model requests and calls do to the rows of steps, calls and usage."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from domain.runs.account import MAYBE_BILLED
from domain.runs.budget import counted

if TYPE_CHECKING:
    from datetime import datetime

    from domain.projections.rows import CallRow, RunRow, StepRow
    from domain.projections.tables import Sequenced, Tables

Usage: TypeAlias = dict[str, Any]

_NOTHING: Usage = {"input_tokens": 0, "output_tokens": 0, "cost": "0"}


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
    if not step.requests:
        step.item = run.item
    reserved, n = body["reserved"], body["n"]
    step.reserved_tokens = (reserved["input_tokens"] or 0) + (reserved["output_tokens"] or 0)
    step.reserved_cost = reserved["cost"]
    _hold(step, n, _Held(step.reserved_tokens, step.reserved_cost, guessed=False))
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
    step.open_n, step.answered_n, step.answered_at = None, body["n"], event.at
    step.finish, step.calls = body["finish"], len(body["calls"])
    run.step = body["step"]
    run.answered += 1
    _settle(tables, (run, step), event, body["usage"])
    for asked in body["calls"]:
        call = tables.call(run.run_id, step.turn, step.step, asked["position"])
        call.item, call.name, call.asked_at = step.item, asked["name"], event.at


def failed(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a request that came to nothing; it counts unless its provider counted nothing."""
    body = event.body
    step = _step(tables, run, body)
    if body.get("partial") or body["code"] in MAYBE_BILLED:
        _give_up(tables, (run, step), event)
    elif str(body["n"]) in json.loads(step.reserved_before):
        _settle(tables, (run, step), event, _NOTHING)
    if _came_to_nothing(run, step, body) and step.open_n is None and step.answered_n is None:
        step.failed = body["code"]


def lost(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a request that was given up: it counts at its reservation."""
    step = _step(tables, run, event.body)
    _give_up(tables, (run, step), event)
    _came_to_nothing(run, step, event.body)


def _came_to_nothing(run: RunRow, step: StepRow, body: dict[str, Any]) -> bool:
    """Count a failure of the step that is being taken; False for a step behind."""
    if _is_behind(run, body):
        return False
    is_open = _is_current(run, body) and step.open_n == body["n"]
    run.step = body["step"]
    if is_open:
        step.open_n = None
        step.failures += 1
    return True


def discarded(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count what a second response used."""
    _settle(tables, (run, _step(tables, run, event.body)), event, event.body["usage"])


def compacted(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count what a summary of the conversation used, with the step that it makes room for."""
    step, usage = _step(tables, run, event.body), event.body["usage"]
    step.item = step.item or run.item
    rows = (run, step)
    said, wrote = usage["input_tokens"], usage["output_tokens"]
    tokens, cost = counted(said, wrote, usage["cost"], 0, None)
    _count(tables, rows, event.at, _Held(tokens, cost, guessed=False))
    if said is None or wrote is None:
        _unknown(tables, rows, event.at, 1)
    _tell(tables, rows, event.at, usage)


class _Held(NamedTuple):
    """What one request reserved, and whether it counts at that."""

    tokens: int
    cost: str | None
    guessed: bool


def _hold(step: StepRow, n: int, held: _Held | None) -> None:
    """Keep what a request of the step reserved, or drop it: it is settled."""
    kept = json.loads(step.reserved_before)
    kept.pop(str(n), None)
    if held is not None:
        kept[str(n)] = list(held)
    step.reserved_before = json.dumps(kept)


def _held(step: StepRow, n: int) -> _Held | None:
    kept = json.loads(step.reserved_before).get(str(n))
    return None if kept is None else _Held(*kept)


def _give_up(tables: Tables, rows: tuple[RunRow, StepRow], event: Sequenced) -> None:
    """Count a request at its reservation, once."""
    n, held = event.body["n"], _held(rows[1], event.body["n"])
    if held is not None and not held.guessed:
        _count(tables, rows, event.at, held)
        _unknown(tables, rows, event.at, 1)
        _hold(rows[1], n, held._replace(guessed=True))


def _settle(tables: Tables, rows: tuple[RunRow, StepRow], event: Sequenced, usage: Usage) -> None:
    """Count what a request used, instead of its reservation where it counted at that."""
    n, held = event.body["n"], _held(rows[1], event.body["n"])
    if held is not None and held.guessed:
        _count(tables, rows, event.at, held, sign=-1)
        _unknown(tables, rows, event.at, -1)
    _hold(rows[1], n, None)
    reserved, price = (0, None) if held is None else (held.tokens, held.cost)
    said, wrote = usage["input_tokens"], usage["output_tokens"]
    tokens, cost = counted(said, wrote, usage["cost"], reserved, price)
    _count(tables, rows, event.at, _Held(tokens, cost, guessed=False))
    if said is None or wrote is None:
        _unknown(tables, rows, event.at, 1)
    if usage is not _NOTHING:
        _tell(tables, rows, event.at, usage)


def _count(
    tables: Tables, rows: tuple[RunRow, StepRow], at: datetime, held: _Held, *, sign: int = 1
) -> None:
    """Add what one request counts to its run, its step and its item's day, or take it away."""
    run, step = rows
    used = tables.used(run, step.item, at)
    for row in (run, step, used):
        row.tokens += sign * held.tokens
        if held.cost is None:
            row.cost_unknown += sign
        else:
            row.cost = sign * Decimal(held.cost) + (row.cost or Decimal(0))


def _unknown(tables: Tables, rows: tuple[RunRow, StepRow], at: datetime, count: int) -> None:
    """Count requests whose tokens nobody told whole."""
    rows[0].tokens_unknown += count
    tables.used(rows[0], rows[1].item, at).tokens_unknown += count


def _tell(tables: Tables, rows: tuple[RunRow, StepRow], at: datetime, usage: Usage) -> None:
    """Add what a provider said of a request; what it did not say stays unknown."""
    said, wrote = usage["input_tokens"], usage["output_tokens"]
    cached = usage.get("cached_tokens")
    for row in (*rows, tables.used(rows[0], rows[1].item, at)):
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
    _begin(tables, run, call, event)
    call.round, call.name, call.intended_at = body["round"], body["name"], event.at
    run.unknown_effects -= call.unknown
    call.unknown = 0


def unknown(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell that nobody can tell; of a step behind it moves nothing."""
    body = event.body
    if not _is_current(run, body):
        return
    call = tables.call(run.run_id, body["turn"], body["step"], body["position"])
    _begin(tables, run, call, event)
    call.unknown += 1
    run.unknown_effects += 1


def settled(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Settle a call; one that was not run does not count."""
    body, outcome = event.body, event.body["outcome"]
    call = tables.call(run.run_id, body["turn"], body["step"], body["position"])
    if outcome["tag"] != "not_run" and call.settled_at is None:
        _begin(tables, run, call, event)
    call.name, call.by = body["name"], body.get("by", "execution")
    call.tag, call.code = outcome["tag"], outcome["code"] or None
    call.changed, call.settled_at = len(outcome["changed"]), event.at
    run.unknown_effects -= call.unknown
    call.unknown = 0


def _begin(tables: Tables, run: RunRow, call: CallRow, event: Sequenced) -> None:
    """Count a call of the step that is being taken, once, when it is begun."""
    if _is_current(run, event.body) and not call.round and not call.unknown:
        run.calls += 1
        tables.used(run, call.item, event.at).calls += 1
