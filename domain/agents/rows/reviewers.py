"""The roles that judge, file what is wrong and change nothing: Readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.built_in_skills import REVIEW_CHECKLIST
from domain.agents.instructions import reviewers as text
from domain.agents.profile import Profile
from domain.agents.role import Role, message_only
from domain.agents.surfaces import FILE_FINDINGS, LOOK, REVIEWING

if TYPE_CHECKING:
    from domain.agents.definition import Skill

SPECIALIST_REVIEWER = "specialist-reviewer"
STRATEGY_AUDITOR = "strategy-auditor"
GOAL_ADVISOR_ANALYST = "goal-advisor-analyst"
PLAN_REVIEWER = "plan-reviewer"
ARTIFACT_REVIEWER = "artifact-reviewer"
OPERATIONS_REVIEWER = "operations-reviewer"
TIMING_AND_COST_REVIEWER = "timing-and-cost-reviewer"


def _reviewer(name: str, summary: str, instructions: str, skills: tuple[Skill, ...] = ()) -> Role:
    return Role(
        name=name,
        summary=summary,
        default_profile=Profile.READER,
        instructions=instructions,
        surface=REVIEWING,
        items=message_only,
        pinned=(*LOOK, *FILE_FINDINGS),
        skills=skills,
        needs_workspace=True,
    )


ROWS = (
    _reviewer(
        SPECIALIST_REVIEWER,
        "reviews the part that the message names and files findings; changes nothing",
        text.SPECIALIST_REVIEWER,
        (REVIEW_CHECKLIST,),
    ),
    _reviewer(
        STRATEGY_AUDITOR,
        "judges whether a workflow does what it is for, and files what does not serve it",
        text.STRATEGY_AUDITOR,
    ),
    _reviewer(
        GOAL_ADVISOR_ANALYST,
        "proposes one better way to a goal, for a person to decide",
        text.GOAL_ADVISOR_ANALYST,
    ),
    _reviewer(
        PLAN_REVIEWER,
        "follows a plan as it is written and files where it does not lead there",
        text.PLAN_REVIEWER,
    ),
    _reviewer(
        ARTIFACT_REVIEWER,
        "examines what a workflow made and files what is missing, wrong or stale",
        text.ARTIFACT_REVIEWER,
    ),
    _reviewer(
        OPERATIONS_REVIEWER,
        "examines how a workflow runs and files what fails or is repeated",
        text.OPERATIONS_REVIEWER,
    ),
    _reviewer(
        TIMING_AND_COST_REVIEWER,
        "examines what a workflow takes in time and money, and files what could be saved",
        text.TIMING_AND_COST_REVIEWER,
    ),
)
"""The rows, in the order in which people are shown them."""
