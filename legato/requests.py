"""Reads everything that one model request of a run was made from, and makes it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.definition import AgentDefinition
from domain.agents.roles import ROLES
from domain.codec import decode_object
from domain.errors import refused
from domain.events import MessageAccepted, RunAccepted, RunDefined
from domain.ids import incoming_stream
from domain.runs.recorded import facts_of
from domain.runs.sent import Sent, sent_request
from ledger.blobs import get_blob
from ledger.reads import read_stream
from ledger.session import read_earlier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.recorded import Recorded
    from ledger.connect import Ledger


async def read_request(ledger: Ledger, events: Sequence[Recorded], number: int) -> Sent:
    """Make the request of a number again; raises `request_not_found`."""
    facts = facts_of(events)
    accepted = next((fact for fact in facts if isinstance(fact, RunAccepted)), None)
    defined = next((fact for fact in facts if isinstance(fact, RunDefined)), None)
    sent = None
    if accepted is not None and defined is not None:
        bundle = await get_blob(ledger, bytes.fromhex(defined.bundle))
        definition = AgentDefinition.model_validate(decode_object(bundle))
        incoming = await _incoming(ledger, accepted.session)
        earlier = await read_earlier(ledger, accepted) if accepted.n > 1 else ()
        sent = sent_request(facts, number, definition, incoming, known_tools(), earlier)
    if sent is None:
        count = sum(1 for fact in facts if fact.type == "model.requested")
        raise refused(
            "request_not_found",
            f"the run has no model request {number}",
            cause=f"it has made {count} so far",
            next=f"name one from 1 to {count}" if count else "wait until it has made one",
        )
    return sent


async def _incoming(ledger: Ledger, session: str) -> dict[int, str]:
    stored = await read_stream(ledger, incoming_stream(session))
    return {one.version: one.fact.text for one in stored if isinstance(one.fact, MessageAccepted)}


def known_tools() -> frozenset[str]:
    """Name every tool that ships, whichever agent it belongs to."""
    return frozenset(name for role in ROLES.values() for name in role.surface)
