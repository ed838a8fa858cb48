"""The table of roles, tested as one table."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from domain.agents.build import build_definition
from domain.agents.profile import Profile
from domain.agents.request import Sources
from domain.agents.roles import ROLES
from domain.agents.rows import conversations, review_fix, reviewers, steps, upkeep
from domain.errors import LegatoError
from domain.runs.pipeline import parse_pipeline
from domain.runs.sequence import CommandCheck
from domain.tools.registry import Registry
from tests.support.agents import a_registry, a_request, built, codes, refusals

LOOK = {"list_files", "search_files", "read_file", "shell"}
ASK = {
    "query_workflow_db",
    "describe_workflow_db",
    "list_knowledge",
    "search_knowledge",
    "read_knowledge",
    "read_learnings",
}
CHANGE = {"write_file", "edit_file", "delete_file"}
KEEP = {"mutate_workflow_db", "write_note", "delete_note", "write_learning", "delete_learning"}
LASTING = CHANGE | KEEP
FILING = {"record_finding", "list_findings"}
CLOSING = {"claim_findings", "write_receipt"}
PERSON = {"ask_human"}
GUIDE = {"get_workflow_command_guidance"}
READER, WRITER = Profile.READER, Profile.WRITER

EVERYDAY = LOOK | ASK | LASTING | PERSON
REVIEWING = LOOK | ASK | FILING | GUIDE
MESSAGE = "message:message"
REPAIR = "message:review message:fix prevalidation:prevalidation message:receipt"


class Row(NamedTuple):
    """What a role gives, word for word; `needs` are a workspace and checks."""

    profile: Profile
    tools: set[str]
    sequence: str = MESSAGE
    skills: tuple[str, ...] = ()
    needs: str = "workspace"
    more: str = ""


def repairing() -> Row:
    """Give the row of both kinds of Review+Fix."""
    tools = EVERYDAY | FILING | CLOSING | GUIDE
    return Row(WRITER, tools, sequence=REPAIR, skills=("repair-method",), needs="workspace checks")


KEEPING = Row(WRITER, LOOK - {"shell"} | ASK | KEEP | PERSON | GUIDE)
STEP = Row(WRITER, EVERYDAY, needs="", more="plugins steps")

TABLE = {
    "review-fix": repairing(),
    "review-fix-operations": repairing(),
    "check-and-fix": Row(
        WRITER,
        {"shell"},
        sequence="message:pipeline prevalidation:verification",
        needs="workspace checks",
    ),
    "generic": Row(WRITER, EVERYDAY, needs="", more="plugins"),
    "builder": Row(WRITER, EVERYDAY | FILING | GUIDE, more="plugins"),
    "chief-of-staff": Row(READER, REVIEWING | PERSON),
    "plan-step": STEP,
    "sequence-worker": STEP,
    "todo-parent": STEP,
    "todo-child": STEP,
    "evaluation": STEP,
    "specialist-reviewer": Row(READER, REVIEWING, skills=("review-checklist",)),
    "strategy-auditor": Row(READER, REVIEWING),
    "goal-advisor-analyst": Row(READER, REVIEWING),
    "plan-reviewer": Row(READER, REVIEWING),
    "artifact-reviewer": Row(READER, REVIEWING),
    "operations-reviewer": Row(READER, REVIEWING),
    "timing-and-cost-reviewer": Row(READER, REVIEWING),
    "goal-advisor-finalizer": Row(WRITER, EVERYDAY, more="plugins"),
    "knowledge-maintenance": KEEPING,
    "learning-maintenance": KEEPING,
}
"""Every role, with exactly what it gives."""


def test_the_table_holds_each_role_once() -> None:
    rows = [
        row for part in (conversations, review_fix, reviewers, steps, upkeep) for row in part.ROWS
    ]

    assert sorted(row.name for row in rows) == sorted(TABLE)
    assert set(ROLES) == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_role_gives_exactly_its_profile_tools_skills_and_sequence(name: str) -> None:
    expected, role = TABLE[name], ROLES[name]
    made = built(a_request(name))

    assert made.definition.profile is expected.profile
    assert [tool.name for tool in made.definition.tools] == sorted(expected.tools)
    assert " ".join(f"{item.kind}:{item.name}" for item in made.items) == expected.sequence
    assert made.definition.instructions == role.instructions
    assert tuple(skill.name for skill in made.definition.skills) == expected.skills
    assert role.attended_tools == (("ask_human",) if "ask_human" in expected.tools else ())
    more = {"plugins": role.plugins, "steps": role.takes_steps}
    assert " ".join(word for word, given in more.items() if given) == expected.more


@pytest.mark.parametrize("name", TABLE)
def test_a_role_works_in_the_workspace_that_was_named_and_in_no_other_place(name: str) -> None:
    runtime = built(a_request(name, stores="/home/stores/ws")).runtime

    assert (runtime.workspace, runtime.stores) == ("/ws", "/home/stores/ws")


@pytest.mark.parametrize("name", TABLE)
def test_what_a_role_needs_is_asked_for_before_anything_starts(name: str) -> None:
    needs = TABLE[name].needs
    bare = a_request(name, workspace="", checks=(), model="m")
    found = codes(refusals(bare)) if needs else set[str]()
    without_checks = a_request(name, checks=())
    lacking = codes(refusals(without_checks)) if "checks" in needs else set[str]()

    assert found == ({"workspace_missing"} if needs else set())
    assert lacking == ({"check_missing"} if "checks" in needs else set())
    assert built(a_request(name)).definition.profile is TABLE[name].profile


@pytest.mark.parametrize("name", TABLE)
def test_a_reader_holds_no_lasting_tool_and_a_writer_all_of_its_surface(name: str) -> None:
    role = ROLES[name]
    held = {tool.name for tool in built(a_request(name)).definition.tools}
    lasting = LASTING if role.default_profile is Profile.READER else set[str]()

    assert held == set(role.surface) - lasting


def test_the_summaries_and_instructions_tell_the_roles_apart() -> None:
    assert len({role.summary for role in ROLES.values()}) == len(ROLES)
    assert len({role.instructions for role in ROLES.values()}) == len(ROLES)
    assert all(len(role.summary) <= 90 for role in ROLES.values())


@pytest.mark.parametrize("name", [name for name, role in ROLES.items() if role.needs_model])
def test_a_role_without_one_of_its_tools_never_loses_it_in_silence(name: str) -> None:
    missing = ROLES[name].surface[-1]
    registry = Registry({n: spec for n, spec in a_registry().specs.items() if n != missing})
    request = a_request(name)
    try:
        made = built(request, registry)
    except LegatoError as refusal:
        told = str(refusal.details["problems"])
        assert f"name {missing}, which is not registered here" in told
    else:
        assert f"not registered in this deployment: {missing}" in made.notes


@pytest.mark.parametrize("name", TABLE)
def test_names_of_tools_are_in_a_role_once(name: str) -> None:
    role = ROLES[name]

    assert len(set(role.surface)) == len(role.surface)
    assert {*role.pinned, *role.required, *role.attended_tools} <= set(role.surface)


@pytest.mark.parametrize("name", TABLE)
def test_instructions_hold_no_value_of_one_run(name: str) -> None:
    one = build_definition(a_request(name), Sources(a_registry())).definition
    other = build_definition(
        a_request(name, workspace="/else", message="other", checks=("tox",), attended=False),
        Sources(a_registry()),
    ).definition

    assert one == other


def test_review_fix_proves_itself_by_the_checks_that_were_given() -> None:
    made = built(a_request("review-fix", checks=("make test", "make lint"), message="mind the API"))
    (validation,) = [item for item in made.items if item.kind == "prevalidation"]

    assert validation.checks == (
        CommandCheck(command="make test"),
        CommandCheck(command="make lint"),
    )
    assert validation.repairs == 3
    assert made.items[0].text.endswith("mind the API")


def test_a_role_without_a_model_declares_its_pipeline() -> None:
    request = a_request("check-and-fix", model="", checks=("make test",), fixers=("make format",))
    made = built(request)

    assert json.loads(made.runtime.pipeline) == [
        {"arguments": {"command": "make test"}, "on_failure": "continue", "tool": "shell"},
        {
            "after_failure": True,
            "arguments": {"command": "make format"},
            "on_failure": "continue",
            "tool": "shell",
        },
    ]
    assert len(parse_pipeline(made.runtime.pipeline)) == 2
    assert made.runtime.model == ""


def test_a_model_named_for_a_role_without_one_is_noted() -> None:
    made = built(a_request("check-and-fix"))

    assert made.notes == ("check-and-fix uses no model: script:play.yaml is not asked",)
