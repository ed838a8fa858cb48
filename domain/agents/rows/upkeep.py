"""The roles that carry out what was decided, and that keep what was learned."""

from __future__ import annotations

from domain.agents.instructions import upkeep as text
from domain.agents.profile import Profile
from domain.agents.role import Role, message_only
from domain.agents.surfaces import ASK_PEOPLE, CHANGE, EVERYDAY, LOOK, RUN

GOAL_ADVISOR_FINALIZER = "goal-advisor-finalizer"

ROWS = (
    Role(
        name=GOAL_ADVISOR_FINALIZER,
        summary="carries out one proposal that a person approved, and nothing beyond it",
        default_profile=Profile.WRITER,
        instructions=text.GOAL_ADVISOR_FINALIZER,
        surface=EVERYDAY,
        attended_tools=ASK_PEOPLE,
        items=message_only,
        pinned=(*LOOK, *CHANGE, *RUN),
        plugins=True,
        needs_workspace=True,
    ),
)
"""The rows, in the order in which people are shown them."""
