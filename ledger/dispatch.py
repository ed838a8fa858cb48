"""Begins a run: one append of the slot, the session and the run's acceptance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.request import AgentRequest
from domain.events import Entry, RunAccepted, SessionTaken, SlotTaken
from domain.ids import run_stream, session_stream, slot_of, slot_stream, workflow_id, workspace_slug
from ledger.append import Part, append

if TYPE_CHECKING:
    from ledger.connect import Ledger
    from ledger.encode import Author


@dataclass(frozen=True)
class Launch:
    """What a front door asks to begin. `run_id` is made once by it and reused on retries."""

    run_id: str
    entry: Entry
    request: AgentRequest
    queue: str
    resumes: str = ""


def accepted_fact(launch: Launch, principal: str) -> RunAccepted:
    """Describe a run started by hand: its scope, and with it its slot, is its own."""
    workspace = workspace_slug(launch.request.workspace or "none")
    slot = slot_of(workspace, launch.request.role, launch.run_id[-8:])
    return RunAccepted(
        run_id=launch.run_id,
        workflow_id=workflow_id(slot, 1),
        agent=launch.request.role,
        entry=launch.entry,
        workspace=workspace,
        session=launch.run_id,
        slot=slot,
        n=1,
        queue=launch.queue,
        request=launch.request,
        resumes=launch.resumes,
        principal=principal,
    )


async def dispatch(ledger: Ledger, author: Author, launch: Launch) -> tuple[RunAccepted, int]:
    """Accept a run; repeating it under the same id gives the first result.

    Returns what was accepted and the version of the run's stream.
    """
    fact = accepted_fact(launch, author.principal)
    stream = run_stream(launch.run_id)
    appended = await append(
        ledger,
        author,
        Part(slot_stream(fact.slot), (SlotTaken(run_id=launch.run_id, n=1),), 0),
        Part(session_stream(fact.session), (SessionTaken(run_id=launch.run_id),), 0),
        Part(stream, (fact,), 0),
    )
    return fact, appended.heads[stream][0]
