"""A slot folded from its facts: who holds it, who waits in line, and what a request comes to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from domain.codec import Json, canonical
from domain.errors import refused
from domain.events import (
    Decision,
    Fact,
    OnCollision,
    SlotCollided,
    SlotLeft,
    SlotReleased,
    SlotTaken,
)
from domain.ids import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from domain.agents.request import AgentRequest

MOST_WAITING = 100
"""Runs that may wait in one slot's line."""

MOST_JOINED = 1000
"""Requests that may become one run."""

SUPERSEDED: Literal["superseded"] = "superseded"
"""The code of why a run ends whose place another one takes."""


@dataclass(frozen=True)
class InLine:
    """A run that waits: where its decision stands, and the requests that are part of it.

    `alike` is "" for a run that no other request may become part of.
    """

    run_id: str
    version: int
    supersedes: bool
    alike: str
    requests: int = 1


@dataclass(frozen=True)
class Slot:
    """A slot as its facts tell it: `holder` "" is nobody, `n` the holders so far.

    `line` is in the order of turns: a run that supersedes first, then as they came.
    """

    version: int = 0
    holder: str = ""
    n: int = 0
    line: tuple[InLine, ...] = ()

    def since(self) -> int:
        """Name the version from which on all that still counts stands in the stream."""
        return min((one.version for one in self.line), default=self.version + 1)


@dataclass(frozen=True)
class Turn:
    """What a request comes to: the run that does it, and the one that it replaces in line."""

    decision: Decision
    run_id: str
    replaces: InLine | None = None


def evolve_slot(slot: Slot, version: int, fact: Fact) -> Slot:
    """Apply one fact of the slot's stream, which stands there at `version`."""
    slot = replace(slot, version=version)
    match fact:
        case SlotTaken():
            line = tuple(one for one in slot.line if one.run_id != fact.run_id)
            return replace(slot, holder=fact.run_id, n=fact.n, line=line)
        case SlotReleased():
            return replace(slot, holder="") if slot.n == fact.n else slot
        case SlotLeft():
            return replace(slot, line=tuple(o for o in slot.line if o.run_id != fact.run_id))
        case SlotCollided():
            return replace(slot, line=_lined_up(slot.line, version, fact))
        case _:
            return slot


def _lined_up(line: tuple[InLine, ...], version: int, fact: SlotCollided) -> tuple[InLine, ...]:
    if fact.decision is Decision.DROPPED:
        return line
    if fact.decision is Decision.COALESCED and fact.request != fact.run_id:
        return tuple(
            replace(one, requests=one.requests + 1) if one.run_id == fact.run_id else one
            for one in line
        )
    first = fact.decision is Decision.SUPERSEDING
    entry = InLine(fact.run_id, version, first, fact.alike)
    return (entry, *line) if first else (*line, entry)


def fold_slot(events: Iterable[tuple[int, Fact]]) -> Slot:
    """Fold versions and facts of a slot's stream, from any `since` of it on."""
    slot = Slot()
    for version, fact in events:
        slot = evolve_slot(slot, version, fact)
    return slot


def decide(slot: Slot, request: str, on_collision: OnCollision, alike: str) -> Turn:
    """Decide what a request comes to; raises `slot_full` where the line has its limit."""
    if not slot.holder:
        return Turn(Decision.STARTED, request)
    match on_collision:
        case OnCollision.DROP:
            return Turn(Decision.DROPPED, "")
        case OnCollision.SUPERSEDE:
            first = next((one for one in slot.line if one.supersedes), None)
            return Turn(Decision.SUPERSEDING, request, first)
        case OnCollision.QUEUE:
            _check_room(slot)
            return Turn(Decision.QUEUED, request)
        case OnCollision.COALESCE:
            return Turn(Decision.COALESCED, _joins(slot, alike) or _own(slot, request))


def _own(slot: Slot, request: str) -> str:
    _check_room(slot)
    return request


def _check_room(slot: Slot) -> None:
    if len(slot.line) < MOST_WAITING:
        return
    raise refused(
        "slot_full",
        f"{MOST_WAITING} runs wait for the slot already",
        cause=f"run {slot.holder} holds it",
        next=f"`legato stop {slot.holder}` ends what holds it; or ask again later, or with "
        "`--on-collision coalesce`",
        details={"holder": slot.holder, "waiting": len(slot.line)},
    )


def _joins(slot: Slot, alike: str) -> str:
    """Name the run in line that an alike request becomes part of, "" for none."""
    if not alike:
        return ""
    found = next((one for one in slot.line if one.alike == alike), None)
    return "" if found is None or found.requests >= MOST_JOINED else found.run_id


def decided(on_collision: OnCollision) -> Decision:
    """Name what was decided about a request that waits."""
    match on_collision:
        case OnCollision.COALESCE:
            return Decision.COALESCED
        case OnCollision.SUPERSEDE:
            return Decision.SUPERSEDING
        case OnCollision.QUEUE | OnCollision.DROP:
            return Decision.QUEUED


def check_scope(name: str) -> None:
    """Refuse a slot's name that another could be taken for; raises `slot_name_invalid`."""
    if name and slug(name) == name:
        return
    raise refused(
        "slot_name_invalid",
        f"{name!r} cannot name a slot",
        cause="a slot's name has at most 40 lower-case letters, digits and dashes between them",
        next=f"name it {slug(name)!r}",
    )


def digest(value: dict[str, Json]) -> str:
    """Name a value by its content: equal values alone have equal names."""
    return hashlib.sha256(canonical(value)).hexdigest()


def one_message(messages: Sequence[str]) -> str:
    """Make one message of several, in order, each that is different told once."""
    different = list(dict.fromkeys(messages))
    if len(different) == 1:
        return different[0]
    told = "\n\n".join(f"{n}. {text}" for n, text in enumerate(different, start=1))
    return (
        f"{len(different)} requests came while another run held the slot. Do what each of "
        f"them asks, in this order.\n\n{told}"
    )


def joined(request: AgentRequest, messages: Sequence[str]) -> AgentRequest:
    """Give the one request that a run and those that joined it are."""
    if not messages:
        return request
    message = one_message((request.message, *messages))
    return request.model_copy(update={"message": message})
