"""The facts with which a run begins: what it is asked to be, that it waits, that it is accepted."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from domain.agents.request import AgentRequest
from domain.event import Event, Use
from domain.slot_events import OnCollision


class Entry(StrEnum):
    """How a run was started: recorded, never a role, never changes the definition."""

    SCHEDULE = "schedule"
    HAND = "hand"
    BACKGROUND = "background"
    CHAT = "chat"
    CONVERTED = "converted_chat"
    API = "api"


class Asked(Event):
    """What a run is asked to be, and where it belongs.

    `incoming` is where the session's incoming stream stood; `resumes` the run it goes on
    from, "" where it goes on from none. `principal` is who asked for it and answers for
    what it does; "" stands in runs of earlier versions.
    """

    run_id: str
    agent: str
    entry: Entry
    workspace: str
    session: str
    slot: str
    queue: str
    request: AgentRequest
    incoming: int = 0
    resumes: str = ""
    principal: str = ""


class RunQueued(Asked):
    """A run waits until its slot is free: from there `run.accepted` goes on.

    `holder` is the run that held the slot when it came.
    """

    use: ClassVar[Use] = Use.SAME
    type: Literal["run.queued"] = "run.queued"
    holder: str
    on_collision: OnCollision


class RunJoined(Event):
    """One more request became part of a run that waits for its slot."""

    keys: ClassVar[tuple[str, ...]] = ("request_id",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["run.joined"] = "run.joined"
    request_id: str
    message: str


class RunAccepted(Asked):
    """A run was accepted: from here on it happens or is shown as stuck.

    `n` counts the slot's holders. `requests` are the ids of all requests that became this
    run where there were several, its own among them.
    """

    use: ClassVar[Use] = Use.SAME
    type: Literal["run.accepted"] = "run.accepted"
    workflow_id: str
    n: int
    requests: tuple[str, ...] = ()
