"""The table of roles, tested as one table."""

from __future__ import annotations

import json

import pytest

from domain.agents.build import build_definition
from domain.agents.profile import Profile
from domain.agents.request import Sources
from domain.agents.roles import ROLES
from domain.runs.pipeline import parse_pipeline
from domain.runs.sequence import CommandCheck
from tests.support.agents import a_registry, a_request, built

EVERYWHERE = {
    "list_files",
    "search_files",
    "read_file",
    "shell",
    "query_workflow_db",
    "describe_workflow_db",
}
WRITING = {"write_file", "edit_file", "delete_file", "mutate_workflow_db"}
FILING = {"record_finding", "list_findings"}

TABLE = {
    "review-fix": (
        Profile.WRITER,
        EVERYWHERE | WRITING | FILING | {"claim_findings", "write_receipt", "ask_human"},
        [
            ("message", "review"),
            ("message", "fix"),
            ("prevalidation", "prevalidation"),
            ("message", "receipt"),
        ],
    ),
    "generic": (
        Profile.WRITER,
        EVERYWHERE | WRITING | {"ask_human"},
        [("message", "message")],
    ),
    "plan-step": (
        Profile.WRITER,
        EVERYWHERE | WRITING | {"ask_human"},
        [("message", "message")],
    ),
    "specialist-reviewer": (Profile.READER, EVERYWHERE | FILING, [("message", "message")]),
    "check-and-fix": (
        Profile.WRITER,
        {"shell"},
        [("message", "pipeline"), ("prevalidation", "verification")],
    ),
}


def test_the_table_holds_each_role() -> None:
    assert set(ROLES) == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_role_gives_exactly_its_profile_tools_and_sequence(name: str) -> None:
    profile, tools, sequence = TABLE[name]
    made = built(a_request(name))

    assert made.definition.profile is profile
    assert {tool.name for tool in made.definition.tools} == tools
    assert [(item.kind, item.name) for item in made.items] == sequence
    assert made.definition.instructions == ROLES[name].instructions
    assert made.definition.skills == ROLES[name].skills


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
