"""What model requests and calls do to the rows of steps, calls and usage."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import orjson

from domain.runs.account import MAYBE_BILLED
from domain.runs.budget import counted

if TYPE_CHECKING:
    from domain.projections.rows import CallRow, RunRow, StepRow, UsageRow
    from domain.projections.tables import Sequenced, Tables

Usage: TypeAlias = dict[str, Any]

_NOTHING: Usage = {"input_tokens": 0, "output_tokens": 0, "cost": "0"}
_FREE = Decimal(0)


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
    step.item = step.item or run.item
    held, n = _reserved(body["reserved"]), body["n"]
    step.reserved_tokens, step.reserved_cost, _ = held
    _hold((run, step), str(n), held)
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
    _settle(tables, (run, step), event, (str(body["n"]), body["usage"]))
    for asked in body["calls"]:
        call = tables.call(run.run_id, step.turn, step.step, asked["position"])
        call.item, call.name, call.asked_at = step.item, asked["name"], event.at


def failed(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a request that came to nothing; it counts unless its provider counted nothing."""
    body = event.body
    step = _step(tables, run, body)
    if body.get("partial") or body["code"] in MAYBE_BILLED:
        _give_up(tables, (run, step), event, str(body["n"]))
    elif str(body["n"]) in _all_held(step):
        _settle(tables, (run, step), event, (str(body["n"]), _NOTHING))
    if _came_to_nothing(run, step, body) and step.open_n is None and step.answered_n is None:
        step.failed = body["code"]


def lost(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a request that was given up: it counts at its reservation."""
    step = _step(tables, run, event.body)
    _give_up(tables, (run, step), event, str(event.body["n"]))
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
    used = (str(event.body["n"]), event.body["usage"])
    _settle(tables, (run, _step(tables, run, event.body)), event, used)


def summary_requested(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Reserve for a summary of the conversation, with the step that it makes room for."""
    step = _step(tables, run, event.body)
    step.item = step.item or run.item
    _hold((run, step), _summary(event.body), _reserved(event.body["reserved"]))
    step.requests += 1
    run.steps += 1
    tables.used(run, step.item, event.at).steps += 1


def summary_settled(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count a summary that took no place."""
    of, key = (run, _step(tables, run, event.body)), _summary(event.body)
    if event.body["code"] == "lost":
        _give_up(tables, of, event, key)
    else:
        _settle(tables, of, event, (key, event.body["usage"]))


def compacted(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count what the summary used that took its place."""
    step = _step(tables, run, event.body)
    step.item = step.item or run.item
    _settle(tables, (run, step), event, (_summary(event.body), event.body["usage"]))


def _summary(body: dict[str, Any]) -> str:
    """Tell a step's summaries from its own requests."""
    return f"s{body.get('n', 0)}"


class _Held(NamedTuple):
    """What one request reserved, and whether it counts at that."""

    tokens: int
    cost: str | None
    guessed: bool


def _reserved(usage: Usage) -> _Held:
    tokens = (usage["input_tokens"] or 0) + (usage["output_tokens"] or 0)
    return _Held(tokens, usage["cost"], guessed=False)


def _all_held(step: StepRow) -> dict[str, Any]:
    """Read what the step's requests reserved and nobody has settled, by their numbers."""
    held: dict[str, Any] = orjson.loads(step.reserved_before)
    return held


def _hold(of: tuple[RunRow, StepRow], key: str, held: _Held) -> None:
    """Keep what a request of the step reserved."""
    run, step = of
    kept = _all_held(step)
    if (before := kept.get(key)) is not None:
        _under_way(run, _Held(*before), -1)
    kept[key] = list(held)
    _under_way(run, held, 1)
    step.reserved_before = orjson.dumps(kept).decode()


def _let_go(of: tuple[RunRow, StepRow], key: str) -> _Held | None:
    """Drop what a request of the step reserved, and give it: it is settled."""
    run, step = of
    kept = _all_held(step)
    before = kept.pop(key, None)
    if before is None:
        return None
    held = _Held(*before)
    _under_way(run, held, -1)
    step.reserved_before = orjson.dumps(kept).decode()
    return held


def _under_way(run: RunRow, held: _Held, sign: int) -> None:
    """Add what a request reserves that nothing came of yet, or take it away."""
    if held.guessed:
        return
    run.reserved_tokens += sign * held.tokens
    if held.cost is None:
        run.reserved_unpriced += sign
    else:
        run.reserved_cost += sign * Decimal(held.cost)


_Rows: TypeAlias = "tuple[RunRow, StepRow, UsageRow]"


def _rows(tables: Tables, of: tuple[RunRow, StepRow], event: Sequenced) -> _Rows:
    """Give all rows in which a request of a step counts: its run's, its own, its item's day's."""
    run, step = of
    return run, step, tables.used(run, step.item, event.at)


def _give_up(tables: Tables, of: tuple[RunRow, StepRow], event: Sequenced, key: str) -> None:
    """Count a request at its reservation, once."""
    kept = _all_held(of[1]).get(key)
    held = None if kept is None else _Held(*kept)
    if held is not None and not held.guessed:
        rows = _rows(tables, of, event)
        _count(rows, held.tokens, held.cost)
        _unknown(rows, 1)
        _hold(of, key, held._replace(guessed=True))


def _settle(
    tables: Tables, of: tuple[RunRow, StepRow], event: Sequenced, used: tuple[str, Usage]
) -> None:
    """Count what a request used, instead of its reservation where it counted at that."""
    key, usage = used
    rows, held = _rows(tables, of, event), _let_go(of, key)
    if held is not None and held.guessed:
        _count(rows, held.tokens, held.cost, sign=-1)
        _unknown(rows, -1)
    _spend(rows, usage, held)


def _spend(rows: _Rows, usage: Usage, held: _Held | None) -> None:
    """Count what a request used; `held` is what it had reserved."""
    reserved, price = (0, None) if held is None else (held.tokens, held.cost)
    said, wrote = usage["input_tokens"], usage["output_tokens"]
    tokens, cost = counted(said, wrote, usage["cost"], reserved, price)
    _count(rows, tokens, cost)
    if said is None or wrote is None:
        _unknown(rows, 1)
    if usage is not _NOTHING:
        _tell(rows, usage)


def _count(rows: _Rows, tokens: int, cost: str | None, *, sign: int = 1) -> None:
    """Add what one request counts to its rows, or take it away."""
    price = None if cost is None else sign * Decimal(cost)
    for row in rows:
        row.tokens += sign * tokens
        if price is None:
            row.cost_unknown += sign
        else:
            row.cost = price + (row.cost or _FREE)


def _unknown(rows: _Rows, count: int) -> None:
    """Count requests whose tokens nobody told whole; the step has no such figure."""
    run, _, used = rows
    run.tokens_unknown += count
    used.tokens_unknown += count


def _tell(rows: _Rows, usage: Usage) -> None:
    """Add what a provider said of a request; what it did not say stays unknown."""
    said, wrote = usage["input_tokens"], usage["output_tokens"]
    cached = usage.get("cached_tokens")
    for row in rows:
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
