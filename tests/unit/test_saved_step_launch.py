"""A saved step launches as it is, through the one constructor, with the same fingerprint."""

from __future__ import annotations

import json

import pytest

from domain.agents.definition import Skill, fingerprint
from domain.agents.imported.step_file import read_steps
from domain.agents.imported.upgrade import upgraded
from domain.agents.profile import Profile
from domain.agents.surfaces import ASK_STORES, STORES
from domain.runs.budget import Budget, Limits
from domain.tools.registry import Writes
from tests.support.agents import (
    LASTING,
    a_registry,
    a_request,
    a_tool,
    built,
    codes,
    refusals,
)
from tests.support.saved_steps import (
    ELEVEN,
    a_file,
    launch_refusals,
    launched,
    real_file,
    row_of,
    tools,
)

AGENTIC = [name for name in ELEVEN if name != "scripted"]
MCP = a_registry(
    a_tool("mcp__mail__read_mail", source="mcp:mail"),
    a_tool("mcp__mail__send_mail", Writes.LASTING, source="mcp:mail"),
    a_tool("mcp__browser__click", Writes.LASTING, source="mcp:browser"),
    a_tool("mcp__sheets__read", source="mcp:sheets"),
    a_tool("plugged_in", source="plugin:some"),
)


@pytest.mark.parametrize("name", AGENTIC)
def test_every_step_of_a_real_file_launches_as_a_writer(name: str) -> None:
    made = launched(real_file(), name, MCP)

    assert made.definition.profile is Profile.WRITER
    assert {row.field for row in made.step} >= {"id", "profile"}.union(ELEVEN[name])
    assert all(row.became != "refused" for row in made.step)


@pytest.mark.parametrize("name", AGENTIC)
def test_an_upgraded_step_is_the_same_agent(name: str) -> None:
    new = upgraded(read_steps(real_file())).text

    old_one, new_one = launched(real_file(), name, MCP), launched(new, name, MCP)

    assert fingerprint(old_one.definition) == fingerprint(new_one.definition)
    assert old_one.runtime == new_one.runtime


def test_a_step_without_settings_is_the_role_itself() -> None:
    bare = built(a_request("plan-step")).definition

    for config in ({}, None, {"review_notes": "x"}, {"lock_learnings": True}):
        assert fingerprint(launched(a_file(one=config)).definition) == fingerprint(bare)


def test_what_tools_are_called_and_how_they_are_grouped_does_not_change_the_agent() -> None:
    ways = [
        ["workspace_tools:read_workspace_file", "workspace_tools:list_workspace_files"],
        ["list_files", "read_file"],
        ["other:glob_discover_workspace_files", "read_workspace_file", "read_workspace_file"],
    ]

    made = {fingerprint(launched(a_file(one={"enabled_custom_tools": w})).definition) for w in ways}
    assert len(made) == 1


def test_tools_that_are_named_come_with_those_of_the_stores() -> None:
    made = launched(a_file(one={"enabled_custom_tools": ["workspace_tools:read_workspace_file"]}))

    assert tools(made) == {"read_file", *STORES}


@pytest.mark.parametrize("none", [[], ["none:*"]])
def test_no_tools_are_none_at_all(none: list[str]) -> None:
    made = launched(a_file(one={"enabled_custom_tools": none}), registry=MCP)

    assert tools(made) == set()


def test_servers_say_which_tools_of_theirs_there_are() -> None:
    def mcp(**config: object) -> set[str]:
        return {n for n in tools(launched(a_file(one=config), registry=MCP)) if n.startswith("mcp")}

    assert mcp(selected_servers=["NO_SERVERS"]) == set()
    assert mcp(selected_servers=[]) == set()
    assert mcp(selected_servers=["mail"]) == {"mcp__mail__read_mail", "mcp__mail__send_mail"}
    assert mcp(selected_tools=["mail:read_mail"]) == {"mcp__mail__read_mail"}
    assert mcp(selected_tools=["click"]) == {"mcp__browser__click"}
    assert mcp(selected_servers=["mail"], profile="reader") == {"mcp__mail__read_mail"}


def test_a_tool_that_has_another_name_here_is_found_by_the_servers_own() -> None:
    registry = a_registry(
        a_tool("find_issues", source="mcp:issues", remote="issues.search", accepted="x"),
        a_tool("mcp__issues__close", source="mcp:issues", remote="close", accepted="x"),
    )
    text = a_file(
        one={"selected_tools": ["issues:issues.search"], "enabled_custom_tools": ["read_file"]}
    )
    whole = a_file(one={"selected_servers": ["issues"], "enabled_custom_tools": ["read_file"]})

    assert tools(launched(text, registry=registry)) - {*STORES} == {"read_file", "find_issues"}
    assert tools(launched(whole, registry=registry)) - {*STORES} == {
        "read_file",
        "find_issues",
        "mcp__issues__close",
    }


def test_own_tools_stay_the_roles_where_only_servers_are_named() -> None:
    made = launched(a_file(one={"selected_servers": ["NO_SERVERS"]}), registry=MCP)

    assert tools(made) == tools(built(a_request("plan-step"))) | {"plugged_in"}


def test_a_tool_that_two_servers_have_is_refused_without_its_server() -> None:
    registry = a_registry(
        a_tool("mcp__a__read", source="mcp:a"), a_tool("mcp__b__read", source="mcp:b")
    )
    text = a_file(one={"selected_tools": ["read"]})

    assert codes(launch_refusals(text, registry=registry)) == {"tool_ambiguous"}


def test_a_tool_that_is_not_here_is_told_with_its_place_and_narrows_only() -> None:
    config = {"enabled_custom_tools": ["read_file", "ours:sk_live_planted"]}
    made = launched(a_file(one=config))

    row = row_of(made.step, "enabled_custom_tools[1]")
    assert (row.code, row.narrows, row.widens) == ("tool_not_here", ("tools",), ())
    assert "sk_live_planted" not in repr(made)


def test_a_stored_profile_wins_over_the_roles_default() -> None:
    made = launched(a_file(one={"profile": "reader"}))

    assert made.definition.profile is Profile.READER
    assert not tools(made).intersection(LASTING)


def test_a_call_may_narrow_the_stored_profile_and_not_widen_it() -> None:
    writer, reader = a_file(one={"profile": "writer"}), a_file(one={"profile": "reader"})

    assert launched(writer, profile="reader").definition.profile is Profile.READER
    assert codes(launch_refusals(reader, profile="writer")) == {"profile_narrower"}


def test_a_reader_is_told_which_named_tools_it_never_has() -> None:
    config = {"profile": "reader", "enabled_custom_tools": ["write_file", "read_file"]}
    made = launched(a_file(one=config))

    assert row_of(made.step, "enabled_custom_tools[0]").code == "tool_not_of_profile"
    assert tools(made) == {"read_file", *ASK_STORES}


def test_a_call_narrows_the_tools_of_a_step() -> None:
    made = launched(a_file(one={"enabled_custom_tools": ["read_file"]}), tools=("read_file",))

    assert tools(made) == {"read_file"}


def test_the_smaller_limit_counts() -> None:
    text = a_file(one={"execution_max_turns": 40})

    assert launched(text).runtime.budget.steps == 40
    assert launched(text, budget=Budget(steps=7)).runtime.budget.steps == 7
    assert launched(text, budget=Budget(steps=70)).runtime.budget.steps == 40
    soft = launched(text, budget=Budget(soft=Limits(steps=50))).runtime.budget
    assert (soft.steps, soft.soft.steps) == (40, None)


def test_the_calls_model_counts_before_the_steps() -> None:
    text = a_file(one={"execution_llm": {"provider": "openai", "model_id": "gpt-9"}})

    stored = launched(text, model="")
    assert stored.runtime.model == "openai:gpt-9"
    assert row_of(stored.step, "execution_llm").code == "model_named"
    called = launched(text, model="script:x")
    assert called.runtime.model == "script:x"
    assert row_of(called.step, "execution_llm").code == "model_overruled"
    assert fingerprint(stored.definition) == fingerprint(called.definition)


def test_skills_are_those_of_the_workspace_by_name() -> None:
    skill = Skill(name="house-style", description="d", text="t")
    text = a_file(one={"enabled_skills": ["House style", "missing"]})

    made = built(
        a_request("plan-step", step_file="/x"),
        skills=(skill, Skill(name="other", description="d", text="t")),
        steps=upgraded(read_steps(text)).file,
    )
    assert made.definition.skills == (skill,)
    assert [row.code for row in made.step if row.narrows == ("skills",)] == ["skill_not_here"]


def test_a_saved_program_is_not_launched_as_an_agent() -> None:
    assert codes(launch_refusals(real_file(), "scripted")) == {"step_scripted"}
    assert codes(launch_refusals(upgraded(read_steps(real_file())).text, "scripted")) == {
        "step_scripted"
    }


def test_only_the_role_of_plan_steps_takes_one() -> None:
    found = refusals(a_request("generic", step_file="/x"))

    assert codes(found) == {"step_not_of_role"}


def test_a_file_that_could_not_be_read_is_told() -> None:
    request = a_request("plan-step", step_file="/x")

    assert codes(refusals(request, steps_problem="it is gone")) == {"step_file_unreadable"}


def test_everything_wrong_with_a_launch_comes_at_once() -> None:
    config = {"enabled_custom_tools": "all", "execution_max_turns": "x"}
    found = launch_refusals(a_file(one=config), model="", message="")

    assert codes(found) == {"type_wrong", "model_missing", "message_missing"}
    assert len([one for one in found if one.startswith("type_wrong")]) == 2


def test_a_report_of_a_huge_step_stays_within_its_bound() -> None:
    config = {f"field_{n}": n for n in range(1000)}
    made = launched(json.dumps([{"id": "one", "agent_configs": config}]))

    assert len(made.step) == 200
    assert made.step[-1].code == "report_cut"
