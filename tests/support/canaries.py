"""Finds planted text in Temporal's histories, in plain and in every encoded form."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import quote

from ledger.reads import list_streams

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.client import WorkflowHistory

    from tests.support.rig import Rig

CANARY = "canary/7f3e+91 word"
"""Content: put it into scripts, files, arguments and results; Temporal may never hold it."""


def forms(text: str) -> dict[str, bytes]:
    """Give a text in each form in which it could travel."""
    data = text.encode()
    found = {
        "plain": data,
        "in JSON": text.replace("/", "\\/").encode(),
        "in a URL": quote(text, safe="").encode(),
        "in a path of a URL": quote(text).encode(),
        "in a form": quote(text, safe="").replace("%20", "+").encode(),
        "in hexadecimal": data.hex().encode(),
        "reversed": data[::-1],
    }
    for shift in range(3):
        found[f"in base64, shifted by {shift}"] = _base64(data, shift, b"+/")
        found[f"in base64 for URLs, shifted by {shift}"] = _base64(data, shift, b"-_")
    return found


def _base64(data: bytes, shift: int, letters: bytes) -> bytes:
    """Encode bytes that stand behind `shift` others; keep what depends on them alone."""
    encoded = base64.b64encode(bytes(shift) + data, altchars=letters).rstrip(b"=")
    first = -(-shift * 8 // 6)
    whole = (shift + len(data)) * 8 // 6
    return encoded[first:whole]


def sightings(data: bytes, texts: Collection[str]) -> list[str]:
    """List which texts are seen in bytes, and in which form."""
    lowered = data.lower()
    return [
        f"{text!r} {form}"
        for text in texts
        for form, encoded in forms(text).items()
        if encoded in data or (form in {"in a URL", "in hexadecimal"} and encoded in lowered)
    ]


def event_bytes(event: HistoryEvent) -> bytes:
    """Give an event with its payloads as they are, not encoded a second time."""
    return event.SerializeToString(deterministic=True)


def seen_in(history: WorkflowHistory, texts: Collection[str]) -> list[str]:
    """List what is seen of texts in a history, and in which of its events."""
    return [
        f"{found} in event {event.event_id} of {history.workflow_id}"
        for event in history.events
        for found in sightings(event_bytes(event), texts)
    ]


async def run_ids(rig: Rig) -> list[str]:
    """List the runs that were launched in the rig's own workspace."""
    streams = await list_streams(rig.ledger, "run")
    ids = [stream.removeprefix("run/") for stream in streams]
    accepted = {run_id: (await rig.run(run_id)).accepted for run_id in ids}
    return [
        run_id
        for run_id, fact in accepted.items()
        if fact is not None and fact.request.workspace == str(rig.workspace)
    ]


async def histories_of(rig: Rig, run_id: str) -> list[WorkflowHistory]:
    """Fetch the histories of a run, one for each link of its chain, the oldest first."""
    run = await rig.run(run_id)
    assert run.accepted is not None
    name = run.accepted.workflow_id
    links = run.temporal_runs or (None,)
    handles = [rig.client.get_workflow_handle(name, run_id=link) for link in links]
    return [await handle.fetch_history() for handle in handles]


def lines(found: Collection[str]) -> Iterator[str]:
    """Give findings once each, sorted."""
    yield from sorted(set(found))
