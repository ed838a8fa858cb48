"""Which skills an agent has: its role's own, and those of the workspace that were asked for."""

from __future__ import annotations

import pytest

from domain.agents.definition import Skill
from domain.agents.roles import ROLES
from domain.agents.skill_files import parse_skill
from tests.support.agents import a_request, built, codes, refusals

STYLE = Skill(name="house-style", description="how we write", text="# House style: how we write")
OTHER = Skill(name="other", description="d", text="# other: d")


def held(role: str = "review-fix", **request: object) -> list[str]:
    """Name the skills of an agent that is built where the workspace has two."""
    made = built(a_request(role, **request), skills=(STYLE, OTHER))
    return [skill.name for skill in made.definition.skills]


def test_a_role_brings_its_own_and_the_workspaces_come_when_they_are_named() -> None:
    assert held() == ["repair-method"]
    assert held(skills=("house-style",)) == ["house-style", "repair-method"]
    assert held(skills=()) == []
    assert held("specialist-reviewer") == ["review-checklist"]
    assert held("generic", skills=("other",)) == ["other"]
    assert held("check-and-fix", model="") == []


def test_skills_belong_to_what_an_agent_is() -> None:
    fingerprints = {
        str(built(a_request("review-fix", skills=skills), skills=(STYLE,)).definition)
        for skills in (None, (), ("house-style",))
    }

    assert len(fingerprints) == 3


def test_a_skill_that_is_not_there_is_refused_with_those_that_are() -> None:
    found = refusals(
        a_request(skills=("house-style", "mine")),
        skills=(STYLE,),
        skill_problems=("skill_invalid: .legato/skills/b.md is wrong",),
    )

    assert codes(found) == {"skill_invalid", "skill_missing"}
    assert any("'mine'" in one and "house-style" in one for one in found)


def test_a_workspaces_skill_may_not_take_the_name_of_a_roles_own() -> None:
    taken = STYLE.model_copy(update={"name": "repair-method"})
    found = refusals(a_request("review-fix", skills=("repair-method",)), skills=(taken,))

    assert codes(found) == {"name_duplicate"}


def test_an_agent_without_a_model_can_be_given_no_skill() -> None:
    found = refusals(a_request("check-and-fix", model="", skills=("other",)), skills=(OTHER,))

    assert codes(found) == {"skill_not_of_role"}


@pytest.mark.parametrize(
    "role", [row for row in ROLES.values() if row.skills], ids=lambda r: r.name
)
def test_a_built_in_skill_is_useful_text_that_promises_no_tool(role: object) -> None:
    made = built(a_request(getattr(role, "name")))  # noqa: B009 - the parameter's type is open

    for skill in made.definition.skills:
        assert len(skill.text) > 1000
        assert skill.description
    assert not any("speaks of" in note for note in made.notes)


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        ("# House Style: how we write\nmore", "house-style", "how we write"),
        ("\ufeff#  API (v2) rules :  what: holds \r\nmore", "api-v2-rules", "what: holds"),
        ("# x: y", "x", "y"),
    ],
)
def test_the_first_line_names_a_skill(text: str, name: str, description: str) -> None:
    skill = parse_skill(text)

    assert skill is not None
    assert (skill.name, skill.description, skill.text) == (name, description, text)


@pytest.mark.parametrize(
    "text", ["", "no heading", "## two: deep", "# nothing after:", "# : y", "# ---: y", "#x: y",
             f"# {'x' * 65}: y", "\n# late: y"],
)  # fmt: skip
def test_a_file_whose_first_line_names_no_skill_is_none(text: str) -> None:
    assert parse_skill(text) is None
