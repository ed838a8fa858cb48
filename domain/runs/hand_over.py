"""Which facts Temporal must hear of, and how: one row for every type of event."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from domain.events import CallSettled, MessageAccepted, RunAccepted

if TYPE_CHECKING:
    from domain.events import Fact


class Tell(StrEnum):
    """What is done in Temporal for a fact: start the run's workflow, have it look, nothing."""

    START = "start"
    LOOK = "look"
    NOTHING = "nothing"


HAND_OVER: dict[str, Tell] = {
    "run.accepted": Tell.START,
    "message.accepted": Tell.LOOK,
    "input.settled": Tell.LOOK,
    "stop.requested": Tell.LOOK,
    "budget.raised": Tell.LOOK,
    # the workflow's own facts: it knows of them, or has them appended
    "run.attached": Tell.NOTHING,
    "run.defined": Tell.NOTHING,
    "run.refused": Tell.NOTHING,
    "turn.started": Tell.NOTHING,
    "model.requested": Tell.NOTHING,
    "model.responded": Tell.NOTHING,
    "model.failed": Tell.NOTHING,
    "model.lost": Tell.NOTHING,
    "model.discarded": Tell.NOTHING,
    "continuation.dropped": Tell.NOTHING,
    "summary.requested": Tell.NOTHING,
    "summary.settled": Tell.NOTHING,
    "context.compacted": Tell.NOTHING,
    "call.intended": Tell.NOTHING,
    "call.unknown": Tell.NOTHING,
    "call.settled": Tell.NOTHING,
    "input.asked": Tell.NOTHING,
    "budget.warned": Tell.NOTHING,
    "budget.spent": Tell.NOTHING,
    "run.waiting": Tell.NOTHING,
    "run.resumed": Tell.NOTHING,
    "check.completed": Tell.NOTHING,
    "turn.completed": Tell.NOTHING,
    "item.completed": Tell.NOTHING,
    "run.ended": Tell.NOTHING,
    "finding.recorded": Tell.NOTHING,
    "findings.claimed": Tell.NOTHING,
    "receipt.written": Tell.NOTHING,
    # what changes nothing for the run, or is said about it
    "input.late": Tell.NOTHING,
    "run.stuck": Tell.NOTHING,
    "run.healed": Tell.NOTHING,
    "run.reconciled": Tell.NOTHING,
    # of slots and sessions: what they begin is a run of its own, from its acceptance on
    "run.queued": Tell.NOTHING,
    "run.joined": Tell.NOTHING,
    "slot.taken": Tell.NOTHING,
    "slot.collided": Tell.NOTHING,
    "slot.left": Tell.NOTHING,
    "slot.released": Tell.NOTHING,
    "session.taken": Tell.NOTHING,
    "session.released": Tell.NOTHING,
    # of a server's tools: no run's fact, read when one is built
    "mcp.accepted": Tell.NOTHING,
}
"""Every type of event. A new one needs a row here: the relay follows no other list."""

HANDED_OVER = tuple(name for name, tell in HAND_OVER.items() if tell is not Tell.NOTHING)
"""The types of facts that Temporal must hear of."""

_SAID_ABOUT = frozenset({"input.late", "run.stuck", "run.reconciled"})


def concerned(stream: str, fact: Fact) -> str:
    """Name the run that a handed over fact concerns: its stream's, or the one it names."""
    if isinstance(fact, RunAccepted | MessageAccepted):
        return fact.run_id
    return stream.removeprefix("run/")


def comes_from_outside(fact: Fact) -> bool:
    """Tell whether a fact is no sign that its run goes on: people and watchers append it."""
    return is_from_outside(fact.type, fact.by if isinstance(fact, CallSettled) else "")


def is_from_outside(type_name: str, settled_by: str) -> bool:
    """Tell the same of a fact's type; `settled_by` is who settled a call."""
    if type_name == "call.settled":
        return settled_by == "person"
    return HAND_OVER[type_name] is not Tell.NOTHING or type_name in _SAID_ABOUT
