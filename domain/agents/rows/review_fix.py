"""The roles that review and repair, and the sequences that they do it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.built_in_skills import REPAIR_METHOD
from domain.agents.instructions import review_fix as text
from domain.agents.profile import Profile
from domain.agents.role import Role
from domain.agents.surfaces import (
    ASK_PEOPLE,
    CHANGE,
    CLOSE_FINDINGS,
    FILE_FINDINGS,
    LOOK,
    REPAIRING,
    RUN,
)
from domain.codec import canonical
from domain.runs.sequence import CommandCheck, Item

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest

REVIEW_FIX = "review-fix"
REVIEW_FIX_OPERATIONS = "review-fix-operations"
CHECK_AND_FIX = "check-and-fix"


def checks_of(request: AgentRequest) -> tuple[CommandCheck, ...]:
    """Give a request's check commands as coded checks."""
    return tuple(CommandCheck(command=command) for command in request.checks)


def _repairing(request: AgentRequest, review: str, fix: str) -> tuple[Item, ...]:
    if request.message.strip():
        review = f"{review}\n\n{text.FOCUS}{request.message.strip()}"
    return (
        Item(kind="message", name="review", text=review),
        Item(kind="message", name="fix", text=fix),
        Item(kind="prevalidation", name="prevalidation", checks=checks_of(request)),
        Item(kind="message", name="receipt", text=text.RECEIPT_MESSAGE),
    )


def _code(request: AgentRequest) -> tuple[Item, ...]:
    return _repairing(request, text.REVIEW_MESSAGE, text.FIX_MESSAGE)


def _operations(request: AgentRequest) -> tuple[Item, ...]:
    return _repairing(request, text.REVIEW_OPERATIONS_MESSAGE, text.FIX_OPERATIONS_MESSAGE)


def _check_and_fix(request: AgentRequest) -> tuple[Item, ...]:
    return (
        Item(kind="message", name="pipeline", text=text.PIPELINE_MESSAGE),
        Item(kind="prevalidation", name="verification", checks=checks_of(request), repairs=0),
    )


def _shell(command: str) -> dict[str, object]:
    """Declare one command; the ones after it run whatever becomes of it."""
    return {"tool": "shell", "arguments": {"command": command}, "on_failure": "continue"}


def _commands(request: AgentRequest) -> str:
    """Declare the pipeline: each check, then the fixers where one of them failed."""
    checks = [_shell(command) for command in request.checks]
    fixers = [{**_shell(command), "after_failure": True} for command in request.fixers]
    steps = [*checks, *fixers]
    return canonical(steps).decode()


_PINNED = (*LOOK, *CHANGE, *FILE_FINDINGS, *CLOSE_FINDINGS)

ROWS = (
    Role(
        name=REVIEW_FIX,
        summary="reviews a workspace, repairs what it finds, proves it by your checks",
        default_profile=Profile.WRITER,
        instructions=text.REVIEW_FIX,
        surface=REPAIRING,
        attended_tools=ASK_PEOPLE,
        items=_code,
        pinned=_PINNED,
        skills=(REPAIR_METHOD,),
        needs_checks=True,
        needs_workspace=True,
    ),
    Role(
        name=REVIEW_FIX_OPERATIONS,
        summary="reviews how a workflow runs, repairs what keeps it from that, proves it",
        default_profile=Profile.WRITER,
        instructions=text.REVIEW_FIX_OPERATIONS,
        surface=REPAIRING,
        attended_tools=ASK_PEOPLE,
        items=_operations,
        pinned=_PINNED,
        skills=(REPAIR_METHOD,),
        needs_checks=True,
        needs_workspace=True,
    ),
    Role(
        name=CHECK_AND_FIX,
        summary="runs your checks and fixers without any model, verifies and reports",
        default_profile=Profile.WRITER,
        instructions=text.CHECK_AND_FIX,
        surface=RUN,
        required=RUN,
        items=_check_and_fix,
        needs_model=False,
        needs_checks=True,
        needs_workspace=True,
        pipeline=_commands,
    ),
)
"""The rows, in the order in which people are shown them."""
