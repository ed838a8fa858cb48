"""The roles that work for a person's messages."""

from __future__ import annotations

from domain.agents.instructions import conversations as text
from domain.agents.profile import Profile
from domain.agents.role import Role, message_only
from domain.agents.surfaces import (
    ASK_PEOPLE,
    CHANGE,
    EVERYDAY,
    FILE_FINDINGS,
    GUIDE,
    LOOK,
    REVIEWING,
    RUN,
)

GENERIC = "generic"
BUILDER = "builder"
CHIEF_OF_STAFF = "chief-of-staff"

ROWS = (
    Role(
        name=GENERIC,
        summary="does what the message asks, with every ordinary tool and those of plug-ins",
        default_profile=Profile.WRITER,
        instructions=text.GENERIC,
        surface=EVERYDAY,
        attended_tools=ASK_PEOPLE,
        items=message_only,
        pinned=(*LOOK, *CHANGE, *RUN),
        plugins=True,
    ),
    Role(
        name=BUILDER,
        summary="builds and keeps a workflow together with the person who owns it",
        default_profile=Profile.WRITER,
        instructions=text.BUILDER,
        surface=(*EVERYDAY, *FILE_FINDINGS, *GUIDE),
        attended_tools=ASK_PEOPLE,
        items=message_only,
        pinned=(*LOOK, *CHANGE, *RUN),
        plugins=True,
        needs_workspace=True,
    ),
    Role(
        name=CHIEF_OF_STAFF,
        summary="tells what is going on and what needs a decision; changes nothing",
        default_profile=Profile.READER,
        instructions=text.CHIEF_OF_STAFF,
        surface=(*REVIEWING, *ASK_PEOPLE),
        attended_tools=ASK_PEOPLE,
        items=message_only,
        pinned=LOOK,
        needs_workspace=True,
    ),
)
"""The rows, in the order in which people are shown them."""
