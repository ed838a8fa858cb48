"""The roles that do one part of a plan: Writers with the everyday tools."""

from __future__ import annotations

from domain.agents.instructions import steps as text
from domain.agents.profile import Profile
from domain.agents.role import Role, message_only
from domain.agents.surfaces import ASK_PEOPLE, CHANGE, EVERYDAY, LOOK, RUN

PLAN_STEP = "plan-step"
SEQUENCE_WORKER = "sequence-worker"
TODO_PARENT = "todo-parent"
TODO_CHILD = "todo-child"
EVALUATION = "evaluation"


def _step(name: str, summary: str, instructions: str) -> Role:
    return Role(
        name=name,
        summary=summary,
        default_profile=Profile.WRITER,
        instructions=instructions,
        surface=EVERYDAY,
        attended_tools=ASK_PEOPLE,
        items=message_only,
        pinned=(*LOOK, *CHANGE, *RUN),
        plugins=True,
        takes_steps=True,
    )


ROWS = (
    _step(
        PLAN_STEP,
        "does one step of a plan, with the tools and skills that were saved for it",
        text.PLAN_STEP,
    ),
    _step(
        SEQUENCE_WORKER,
        "works through prepared messages, one after another, in one conversation",
        text.SEQUENCE_WORKER,
    ),
    _step(
        TODO_PARENT,
        "holds a task of several parts, sees each done and answers for the whole",
        text.TODO_PARENT,
    ),
    _step(TODO_CHILD, "does one part of a larger task and reports", text.TODO_CHILD),
    _step(
        EVALUATION,
        "judges the result of others' work by the criteria in its message",
        text.EVALUATION,
    ),
)
"""The rows, in the order in which people are shown them."""
