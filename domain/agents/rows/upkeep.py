"""The roles that carry out what was decided, and that keep what was learned."""

from __future__ import annotations

from domain.agents.instructions import upkeep as text
from domain.agents.profile import Profile
from domain.agents.role import Role, message_only
from domain.agents.surfaces import (
    ASK_KNOWLEDGE,
    ASK_LEARNINGS,
    ASK_PEOPLE,
    CHANGE,
    CHANGE_KNOWLEDGE,
    CHANGE_LEARNINGS,
    EVERYDAY,
    GUIDE,
    LOOK,
    RUN,
    STORES,
)

GOAL_ADVISOR_FINALIZER = "goal-advisor-finalizer"
KNOWLEDGE_MAINTENANCE = "knowledge-maintenance"
LEARNING_MAINTENANCE = "learning-maintenance"


def _keeping(name: str, summary: str, instructions: str, pinned: tuple[str, ...]) -> Role:
    """Make a row that reads the workspace and changes its stores only."""
    return Role(
        name=name,
        summary=summary,
        default_profile=Profile.WRITER,
        instructions=instructions,
        surface=(*LOOK, *STORES, *GUIDE, *ASK_PEOPLE),
        attended_tools=ASK_PEOPLE,
        items=message_only,
        pinned=pinned,
        needs_workspace=True,
    )


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
    _keeping(
        KNOWLEDGE_MAINTENANCE,
        "keeps the knowledgebase true: brings together, corrects and takes out notes",
        text.KNOWLEDGE_MAINTENANCE,
        (*ASK_KNOWLEDGE, *CHANGE_KNOWLEDGE),
    ),
    _keeping(
        LEARNING_MAINTENANCE,
        "keeps what earlier runs learned short, true and worth reading before each run",
        text.LEARNING_MAINTENANCE,
        (*ASK_LEARNINGS, *CHANGE_LEARNINGS),
    ),
)
"""The rows, in the order in which people are shown them."""
