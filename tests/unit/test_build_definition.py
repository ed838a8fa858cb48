"""A build gives a whole agent or one refusal that lists everything wrong."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from domain.agents.definition import Skill
from domain.agents.profile import Profile
from domain.runs.budget import Budget, Limits
from domain.runs.sequence import Item
from domain.tools.registry import Registry, Writes
from tests.support.agents import LASTING, a_registry, a_request, a_tool, built, codes, refusals


def names(**request: object) -> tuple[str, ...]:
    """Give the names of the tools of a built agent."""
    return tuple(tool.name for tool in built(a_request("generic", **request)).definition.tools)


@pytest.mark.parametrize(
    ("code", "request_fields"),
    [
        ("role_unknown", {"role": "wizard"}),
        ("model_missing", {"model": " "}),
        ("check_missing", {"role": "review-fix", "checks": ()}),
        ("workspace_missing", {"role": "review-fix", "workspace": ""}),
        ("tool_missing", {"tools": ("no_such_tool",)}),
        ("tool_not_of_role", {"tools": ("write_receipt",)}),
        ("tool_not_of_profile", {"profile": Profile.READER, "tools": ("write_file",)}),
        ("name_duplicate", {"tools": ("read_file", "read_file")}),
        ("name_reserved", {"tools": ("read_skill",)}),
        ("budget_invalid", {"budget": Budget(steps=-1)}),
        ("budget_invalid", {"budget": Budget(cost="NaN")}),
        ("budget_invalid", {"budget": Budget(cost="much")}),
        ("budget_invalid", {"budget": Budget(seconds=-1)}),
        ("budget_invalid", {"budget": Budget(seconds=float("inf"))}),
        ("budget_invalid", {"budget": Budget(steps=2, soft=Limits(steps=3))}),
        ("budget_invalid", {"budget": Budget(soft=Limits(cost="-1"))}),
        ("budget_invalid", {"budget": Budget(cost="1e999999999")}),
        ("budget_invalid", {"budget": Budget(tokens=10**400)}),
        ("max_tokens_invalid", {"max_tokens": 0}),
        ("temperature_invalid", {"temperature": -0.1}),
        ("path_relative", {"workspace": "here"}),
        ("check_empty", {"checks": ("make test", " ")}),
        ("fixer_empty", {"fixers": ("",)}),
        ("message_missing", {"message": ""}),
        ("items_invalid", {"items": (Item(kind="prevalidation", name="p"),)}),
    ],
)
def test_one_problem_is_refused_with_its_code(code: str, request_fields: dict[str, Any]) -> None:
    assert codes(refusals(a_request(**request_fields))) == {code}


def test_all_problems_come_at_once() -> None:
    request = a_request(
        "review-fix", model="", checks=(), workspace="", tools=("x",), budget=Budget(tokens=-1)
    )

    assert codes(refusals(request)) >= {
        "model_missing",
        "workspace_missing",
        "tool_missing",
        "budget_invalid",
    }


def test_without_a_workspace_nobody_is_told_to_give_checks() -> None:
    found = refusals(a_request("review-fix", checks=(), workspace=""))

    assert codes(found) == {"workspace_missing"}
    assert "--workspace" in found[0]


def test_who_names_no_model_is_told_the_forms_of_a_name() -> None:
    found = refusals(a_request(model=""))[0]

    for part in ("--model", "anthropic:MODEL", "script:FILE"):
        assert part in found


def test_an_unknown_role_does_not_hide_the_other_problems() -> None:
    found = refusals(a_request("wizard", max_tokens=0))

    assert codes(found) == {"role_unknown", "max_tokens_invalid"}
    assert "review-fix" in found[0]


def test_a_limit_in_money_is_refused_for_a_model_without_a_price() -> None:
    request = a_request(budget=Budget(cost="1"))

    assert codes(refusals(request, prices_known=False)) == {"budget_price_unknown"}
    assert built(request).runtime.budget.cost == "1"


def test_a_model_that_cannot_be_used_is_refused_with_its_reason() -> None:
    assert refusals(a_request(), model_problem="its key is not set") == [
        "model_unusable: its key is not set"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "DATABASE_URL",
        "TEMPORAL_ADDRESS",
        "LEGATO_HOME",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "OPENAI_COMPATIBLE_API_KEY",
        "openai_api_key",
    ],
)
def test_no_command_is_given_legatos_own_access_or_a_providers_key(name: str) -> None:
    found = refusals(a_request(environment=("CI", name, "LEGATO_X", "MY_DATABASE_URL")))

    assert codes(found) == {"environment_forbidden"}
    assert [one.split()[1] for one in found] == [name, "LEGATO_X"]


def test_names_none_and_nothing_are_three_different_wishes() -> None:
    assert len(names(tools=None)) > 5
    assert names(tools=()) == ()
    assert names(tools=("read_file",)) == ("read_file",)


def test_a_reader_differs_from_a_writer_by_the_lasting_tools_only() -> None:
    writer, reader = names(), names(profile=Profile.READER)

    assert set(writer) - set(reader) == set(LASTING)
    assert set(reader) < set(writer)


def test_tools_and_skills_stand_sorted_and_nothing_can_be_changed() -> None:
    skills = (Skill(name="z", description="", text=""), Skill(name="a", description="", text=""))
    definition = built(a_request(skills=("a", "z")), skills=skills).definition

    assert [tool.name for tool in definition.tools] == sorted(t.name for t in definition.tools)
    assert [skill.name for skill in definition.skills] == ["a", "z"]
    assert isinstance(definition.tools, tuple)
    with pytest.raises(ValidationError):
        definition.instructions = "other"
    with pytest.raises(ValidationError):
        definition.tools[0].description = "other"


@pytest.mark.parametrize(
    ("name", "code"),
    [("call_tool", "name_reserved"), ("", "name_invalid"), (" padded ", "name_invalid")],
)
def test_a_skill_with_an_unfit_name_is_refused(name: str, code: str) -> None:
    skills = (Skill(name=name, description="d", text="t"),)

    assert codes(refusals(a_request(skills=(name,)), skills=skills)) == {code}


def test_two_skills_of_one_name_are_refused() -> None:
    skills = (Skill(name="s", description="", text="1"), Skill(name="s", description="", text="2"))

    assert codes(refusals(a_request(skills=("s",)), skills=skills)) == {"name_duplicate"}


def test_a_registry_that_was_not_checked_is_checked() -> None:
    wrong = {
        "read_skill": a_tool("read_skill"),
        "late": a_tool("late", timeout=-1.0),
        "other": a_tool("one"),
        " pad ": a_tool(" pad "),
        "needy": a_tool("needy", needs=("luck",)),
    }
    found = refusals(a_request(), Registry(wrong))

    assert codes(found) == {"name_reserved", "tool_invalid", "name_mismatch"}
    assert len(found) == 5


def test_a_built_in_text_may_not_promise_a_tool_that_is_missing() -> None:
    specs = {n: s for n, s in a_registry().specs.items() if n != "edit_file"}
    found = refusals(a_request("review-fix"), Registry(specs))

    assert codes(found) == {"tool_missing"}
    assert len(found) == 1
    assert "edit_file" in found[0]
    assert "the instructions, item fix" in found[0]


def test_a_role_without_the_tool_it_cannot_work_without_is_refused() -> None:
    found = refusals(a_request("check-and-fix", model="", tools=()))

    assert found == ["tool_missing: check-and-fix cannot work without shell"]


@pytest.mark.parametrize(
    ("confinement", "profile", "why"),
    [
        ("none", None, "commands cannot be confined on this machine"),
        ("bubblewrap", Profile.READER, "a Reader runs commands in a throw-away copy only"),
    ],
)
def test_a_role_whose_one_tool_no_turn_could_call_is_refused(
    confinement: str, profile: Profile | None, why: str
) -> None:
    request = a_request("check-and-fix", model="", profile=profile)
    (found,) = refusals(request, confinement=confinement)

    assert found.startswith("tool_unavailable: check-and-fix cannot work without shell, and " + why)
    assert built(a_request("review-fix"), confinement="none").definition.tools


def test_a_users_own_text_that_speaks_of_a_missing_tool_is_noted() -> None:
    skills = (Skill(name="s", description="", text="Use `write_receipt`, then shell out."),)
    made = built(a_request(skills=("s",)), skills=skills)

    assert "skill s speaks of write_receipt, which this agent does not have" in made.notes
    assert not any("shell" in note for note in made.notes)


def test_plugin_tools_belong_to_the_generic_role_only() -> None:
    registry = a_registry(a_tool("weather", source="plugin:sky"))
    generic = built(a_request(), registry).definition
    fixer = built(a_request("review-fix"), registry).definition

    assert "weather" in {tool.name for tool in generic.tools}
    assert "weather" not in {tool.name for tool in fixer.tools}


def test_a_lasting_plugin_tool_is_not_for_a_reader() -> None:
    registry = a_registry(a_tool("deploy", Writes.LASTING, source="plugin:sky"))
    made = built(a_request(profile=Profile.READER), registry)

    assert "deploy" not in {tool.name for tool in made.definition.tools}


def test_what_a_role_lacks_in_this_deployment_is_noted() -> None:
    specs = {n: s for n, s in a_registry().specs.items() if n != "shell"}

    assert built(a_request(), Registry(specs)).notes == (
        "not registered in this deployment: shell",
    )


def test_runtime_holds_what_is_not_identity() -> None:
    request = a_request(attended=False, stores="/stores", max_tokens=7, environment=("CI",))
    runtime = built(request).runtime

    assert (runtime.model, runtime.workspace, runtime.stores) == (
        "script:play.yaml",
        "/ws",
        "/stores",
    )
    assert (runtime.attended, runtime.max_tokens, runtime.environment) == (False, 7, ("CI",))
    assert runtime.pipeline == ""


def test_items_given_replace_the_roles_own() -> None:
    items = (Item(kind="message", name="only", text="do it"),)

    assert built(a_request("review-fix", items=items, checks=())).items == items
