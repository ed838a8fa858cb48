"""What was decided about a request whose slot may have been taken, for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import refused, rule_of, to_json
from domain.events import Decision
from domain.ids import run_stream, slot_stream
from legato.cli.spelling import spelled

if TYPE_CHECKING:
    from domain.errors import LegatoError
    from ledger.dispatch import Dispatched
    from legato.cli.console import Call


def decided_json(done: Dispatched, page: str) -> dict[str, object]:
    """Give the decision, the holder that was met, and the run that does it, "" for none."""
    asked = done.asked
    row: dict[str, object] = {"ok": done.decision is not Decision.DROPPED}
    row |= {"decision": done.decision.value, "run_id": done.run_id}
    row |= {"holder": done.holder, "slot": asked.slot, "request": asked.run_id}
    row |= {"workflow_id": done.workflow_id, "agent": asked.agent, "ui": page}
    stream = run_stream(done.run_id) if done.run_id else slot_stream(asked.slot)
    row |= {"stream": stream, "version": done.version}
    own = done.run_id == asked.run_id
    status = "queued" if done.run_id else ""
    return row | {"status": status, "session": asked.session if own else ""}


def decided_text(done: Dispatched) -> str:
    """Say the decision in words, and how to go on from there."""
    run_id, holder = done.run_id, done.holder
    follow = f"follow it with `legato log {run_id} --follow`"
    match done.decision:
        case Decision.STARTED:
            return f"accepted: {run_id}\n{follow}"
        case Decision.QUEUED:
            return f"queued: {run_id} waits in line behind run {holder}\n{follow}"
        case Decision.COALESCED if run_id != done.asked.run_id:
            return f"coalesced: run {run_id}, which waits behind run {holder}, does it\n{follow}"
        case Decision.COALESCED:
            return f"coalesced: {run_id} waits behind run {holder} for others like it\n{follow}"
        case Decision.SUPERSEDING:
            return f"superseding: {run_id} begins once run {holder} has been stopped\n{follow}"
        case Decision.DROPPED:
            return f"dropped: run {holder} holds the slot {done.asked.slot}"


def say_dropped(call: Call, done: Dispatched) -> int:
    """Say that nothing was begun, and what to do; gives the exit status."""
    error = dropped(done)
    if call.json:
        call.write_json({**decided_json(done, ""), "error": to_json(error)["error"]}, indent=2)
    else:
        call.fail(error)
    return rule_of(error.code, error.kind).exit


def dropped(done: Dispatched) -> LegatoError:
    """Say that a request was dropped, with the holder and what to do."""
    return refused(
        "slot_taken",
        f"not started: run {done.holder} holds the slot {done.asked.slot}",
        cause="asked with `--on-collision drop`; the decision is recorded in the slot's stream",
        next=spelled(
            f"see `legato show {done.holder}`; ask again once it has ended, or with "
            "`--on-collision queue`"
        ),
        details={"holder": done.holder, "slot": done.asked.slot, "request": done.asked.run_id},
    )
