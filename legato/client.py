"""The only user of Temporal's client API: connecting, and handing the ledger's facts over."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio.client import Client
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from domain.agents.roles import ROLES
from domain.errors import LegatoError
from domain.events import RunAccepted
from domain.ids import run_stream
from domain.runs.card import Shown
from domain.runs.hand_over import concerned
from domain.runs.model_name import short_name
from domain.runs.position import Position
from ledger.connect import Ledger
from ledger.reads import read_event
from legato.payloads import CONVERTER
from workflows.agent_run import AgentRun, RunStart

if TYPE_CHECKING:
    from temporalio.runtime import Runtime

    from domain.events import Fact
    from ledger.reads import Stored
    from legato.settings import Settings

RELAY = "temporal"
"""The relay's name in the ledger: whose mark, and whose parked events."""

_HOST_SHOWN = 8
_MOST_SHOWN = 200
"""Characters: Temporal refuses a start whose summary or attributes are too long."""


@dataclass(frozen=True)
class HandOver:
    """What handing over needs: Temporal, the ledger, and when a run continues as new."""

    client: Client
    ledger: Ledger
    most_events: int


async def connect(address: str, namespace: str, *, runtime: Runtime | None = None) -> Client:
    """Connect; raises `temporal_unreachable` where Temporal does not answer.

    `runtime` is what the SDK's own logs and metrics go to, its default if not said.
    """
    try:
        return await Client.connect(
            address,
            namespace=namespace,
            data_converter=CONVERTER,
            identity=_identity(),
            runtime=runtime,
        )
    except RuntimeError as exc:
        raise LegatoError(
            "temporal_unreachable",
            f"Temporal does not answer at {address}",
            cause=str(exc).splitlines()[0][:200],
            next="run `legato status`, or check TEMPORAL_ADDRESS",
        ) from None


def _identity() -> str:
    """Name this process as Temporal shows it: ten times in the history of a turn, so briefly."""
    return f"{os.getpid()}@{socket.gethostname().partition('.')[0][:_HOST_SHOWN]}"


def host_of(settings: Settings) -> str:
    """Name this machine's task queue: what touches its workspaces goes there.

    The name is made once for a home, at random; of two processes that make it at once both
    use the one that is there first.
    """
    if settings.task_queue_host:
        return settings.task_queue_host
    mark = settings.home / "host"
    if not mark.exists():
        settings.home.mkdir(parents=True, exist_ok=True)
        name = f"h{secrets.token_hex(8)}"
        draft = mark.with_name(f".host-{name}")
        draft.write_text(name)
        with suppress(FileExistsError):
            mark.hardlink_to(draft)
        draft.unlink()
    return mark.read_text().strip()


def home_queue(settings: Settings) -> str:
    """Name the queue for runs with a workspace on this machine."""
    return f"home/{host_of(settings)}"


def shown_of(fact: RunAccepted) -> Shown:
    """Say what is shown of a run in Temporal; a profile that was left open is the role's."""
    role, request = ROLES.get(fact.agent), fact.request
    profile = request.profile or (role.default_profile if role is not None else None)
    return Shown(
        agent=fact.agent,
        workspace=fact.workspace,
        session=fact.session,
        profile=profile.value if profile is not None else "",
        entry=fact.entry.value,
        model=short_name(request.model) if role is not None and role.needs_model else "",
    )


def _attributes(shown: Shown) -> TypedSearchAttributes:
    values = {
        "LegatoWorkspace": shown.workspace,
        "LegatoAgent": shown.agent,
        "LegatoProfile": shown.profile,
        "LegatoSession": shown.session,
        "LegatoEntry": shown.entry,
        "LegatoStatus": "running",
    }
    return TypedSearchAttributes(
        [
            SearchAttributePair(SearchAttributeKey.for_keyword(name), value[-_MOST_SHOWN:])
            for name, value in values.items()
            if value
        ]
    )


async def hand_over(to: HandOver, fact: Fact, event: str, run_id: str) -> None:
    """Tell Temporal of one fact; returns once it has answered, whatever it answered.

    Done, already started and already closed are all answers. Raises RPCError where there
    was none.
    """
    if isinstance(fact, RunAccepted):
        await _start(to, fact)
        return
    first = await read_event(to.ledger, run_stream(run_id), "run.accepted")
    if first is None or not isinstance(first.fact, RunAccepted):
        return
    await tell_to_look(to.client, first.fact.workflow_id, fact.type, event)


async def tell_to_look(client: Client, workflow_id: str, kind: str, event: str) -> None:
    """Send the one signal there is; to a workflow that is closed or gone it says nothing."""
    try:
        await client.get_workflow_handle(workflow_id).signal(AgentRun.look, args=[kind, event])
    except RPCError as exc:
        if exc.status is not RPCStatusCode.NOT_FOUND:
            raise


async def start_again(to: HandOver, fact: RunAccepted, position: Position, behind: str) -> None:
    """Start a run's workflow anew where Temporal has forgotten it; who else did is as good.

    It goes on from what the ledger records. `behind` is a Temporal run that was superseded
    and is open in Temporal all the same: it is ended before.
    """
    if behind:
        await end_workflow(to.client, fact.workflow_id, behind, "superseded in the ledger")
    await _start(to, fact, position)


async def end_workflow(client: Client, workflow_id: str, temporal_run: str, reason: str) -> None:
    """Terminate one Temporal run; one that is closed or gone stays as it is."""
    handle = client.get_workflow_handle(workflow_id, run_id=temporal_run or None)
    try:
        await handle.terminate(reason=f"legato: {reason}")
    except RPCError as exc:
        if exc.status is not RPCStatusCode.NOT_FOUND:
            raise


async def _start(to: HandOver, fact: RunAccepted, again: Position | None = None) -> None:
    """Start a run's workflow; on a cluster without our search attributes, without them."""
    attributes = _attributes(shown_of(fact))
    try:
        await _start_with(to, fact, attributes, again)
    except RPCError as exc:
        if exc.status is not RPCStatusCode.INVALID_ARGUMENT or not _is_unregistered(exc):
            raise
        await _start_with(to, fact, None, again)


def _is_unregistered(exc: RPCError) -> bool:
    return "search attribute" in exc.message.lower()


async def _start_with(
    to: HandOver,
    fact: RunAccepted,
    attributes: TypedSearchAttributes | None,
    again: Position | None,
) -> None:
    """Start once; `again` is where a run begins anew that had a workflow and lost it."""
    reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE
    if again is not None:
        reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
    try:
        await to.client.start_workflow(
            AgentRun.run,
            RunStart(fact.run_id, shown_of(fact), to.most_events, again or Position()),
            id=fact.workflow_id,
            task_queue=fact.queue,
            id_reuse_policy=reuse,
            search_attributes=attributes,
            static_summary=f"{fact.agent} in {fact.workspace[-_MOST_SHOWN:]}",
            static_details=f"Legato run `{fact.run_id}`: `legato show {fact.run_id[:13]}`",
        )
    except WorkflowAlreadyStartedError:
        return


def run_of(stored: Stored) -> str:
    """Name the run that a stored fact concerns."""
    return concerned(stored.stream, stored.fact)
