"""The one table of roles: why an agent is launched, and what that gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from domain.agents import instructions as text
from domain.agents.built_in_skills import REPAIR_METHOD, REVIEW_CHECKLIST
from domain.agents.definition import Skill
from domain.agents.profile import Profile
from domain.agents.request import AgentRequest
from domain.codec import canonical
from domain.runs.sequence import CommandCheck, Item

REVIEW_FIX = "review-fix"
GENERIC = "generic"
PLAN_STEP = "plan-step"
SPECIALIST_REVIEWER = "specialist-reviewer"
CHECK_AND_FIX = "check-and-fix"

LOOK = ("list_files", "search_files", "read_file")
CHANGE = ("write_file", "edit_file", "delete_file")
RUN = ("shell",)
ASK_DATABASE = ("query_workflow_db", "describe_workflow_db")
CHANGE_DATABASE = ("mutate_workflow_db",)
STORES = (*ASK_DATABASE, *CHANGE_DATABASE)
"""The tools of a workspace's stores: a plan step has them by its profile, whatever it names."""
FILE_FINDINGS = ("record_finding", "list_findings")
CLOSE_FINDINGS = ("claim_findings", "write_receipt")
ASK_PEOPLE = ("ask_human",)


@dataclass(frozen=True)
class Role:
    """One row. The fields are all that a role decides.

    `surface` names the tools that it may have, `attended_tools` those among them that only
    work where a person can answer (they stay in the definition; the turn policy hides
    them), `required` those without which the role is refused, `plugins` whether tools that
    plug-ins brought belong to it too. `items` makes its sequence from a request, `pipeline`
    the declared pipeline (JSON) of a role without a model, "" for others. `takes_steps` tells
    whether it may be launched from a saved plan step.
    """

    name: str
    summary: str
    default_profile: Profile
    instructions: str
    surface: tuple[str, ...]
    items: Callable[[AgentRequest], tuple[Item, ...]]
    skills: tuple[Skill, ...] = ()
    attended_tools: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    plugins: bool = False
    needs_model: bool = True
    needs_checks: bool = False
    needs_workspace: bool = False
    takes_steps: bool = False
    pipeline: Callable[[AgentRequest], str] = lambda _request: ""


def checks_of(request: AgentRequest) -> tuple[CommandCheck, ...]:
    """Give a request's check commands as coded checks."""
    return tuple(CommandCheck(command=command) for command in request.checks)


def _message_only(request: AgentRequest) -> tuple[Item, ...]:
    return (Item(kind="message", name="message", text=request.message),)


def _review_and_fix(request: AgentRequest) -> tuple[Item, ...]:
    review = text.REVIEW_MESSAGE
    if request.message.strip():
        review = f"{review}\n\n{text.FOCUS}{request.message.strip()}"
    return (
        Item(kind="message", name="review", text=review),
        Item(kind="message", name="fix", text=text.FIX_MESSAGE),
        Item(kind="prevalidation", name="prevalidation", checks=checks_of(request)),
        Item(kind="message", name="receipt", text=text.RECEIPT_MESSAGE),
    )


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


_ROWS = (
    Role(
        name=REVIEW_FIX,
        summary="reviews a workspace, repairs what it finds, proves it by your checks",
        default_profile=Profile.WRITER,
        instructions=text.REVIEW_FIX,
        surface=(
            *LOOK,
            *CHANGE,
            *RUN,
            *ASK_DATABASE,
            *CHANGE_DATABASE,
            *FILE_FINDINGS,
            *CLOSE_FINDINGS,
            *ASK_PEOPLE,
        ),
        attended_tools=ASK_PEOPLE,
        items=_review_and_fix,
        pinned=(*LOOK, *CHANGE, *FILE_FINDINGS, *CLOSE_FINDINGS),
        skills=(REPAIR_METHOD,),
        needs_checks=True,
        needs_workspace=True,
    ),
    Role(
        name=GENERIC,
        summary="does what the message asks, with every ordinary tool and those of plug-ins",
        default_profile=Profile.WRITER,
        instructions=text.GENERIC,
        surface=(*LOOK, *CHANGE, *RUN, *ASK_DATABASE, *CHANGE_DATABASE, *ASK_PEOPLE),
        attended_tools=ASK_PEOPLE,
        items=_message_only,
        pinned=(*LOOK, *CHANGE, *RUN),
        plugins=True,
    ),
    Role(
        name=PLAN_STEP,
        summary="does one step of a plan, with the tools and skills that were saved for it",
        default_profile=Profile.WRITER,
        instructions=text.PLAN_STEP,
        surface=(*LOOK, *CHANGE, *RUN, *STORES, *ASK_PEOPLE),
        attended_tools=ASK_PEOPLE,
        items=_message_only,
        pinned=(*LOOK, *CHANGE, *RUN),
        plugins=True,
        takes_steps=True,
    ),
    Role(
        name=SPECIALIST_REVIEWER,
        summary="reviews the part that the message names and files findings; changes nothing",
        default_profile=Profile.READER,
        instructions=text.SPECIALIST_REVIEWER,
        surface=(*LOOK, *RUN, *ASK_DATABASE, *FILE_FINDINGS),
        items=_message_only,
        pinned=(*LOOK, *FILE_FINDINGS),
        skills=(REVIEW_CHECKLIST,),
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

ROLES: Mapping[str, Role] = MappingProxyType({row.name: row for row in _ROWS})
"""Every role by name."""
