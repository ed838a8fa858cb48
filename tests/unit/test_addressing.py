"""A tool's name is its only address: one turn's policy decides, and help names nothing outside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from domain.agents.definition import fingerprint
from domain.tools.calls import (
    MOST_NEAR,
    Resolved,
    api_spec,
    names_server,
    nearest,
    recovery_text,
    resolve_call,
)
from domain.tools.effective import effective
from domain.tools.policy import TurnPolicy
from domain.tools.render import render_request, tool_manifest
from domain.tools.results import Outcome, Tag
from tests.support.agents import a_tool
from tests.unit.test_effective_view import MANY, POOL, a_definition, a_view, callable_lines

if TYPE_CHECKING:
    from domain.tools.effective import EffectiveView

NARROW = TurnPolicy(allowed=frozenset({"tool_1"}))
ALL = {name: spec.binding for name, spec in POOL.items()}


def spec_of(view: EffectiveView, name: str) -> Outcome:
    return api_spec(view, [name])


def test_a_policy_holds_for_its_turn_only() -> None:
    definition = a_definition(POOL)
    before, during, after = (
        effective(ALL, definition, policy) for policy in (TurnPolicy(), NARROW, TurnPolicy())
    )

    assert callable_lines(tool_manifest(during)) & set(POOL) == {"tool_1"}
    assert spec_of(during, "tool_2").code == "tools_unavailable"
    assert isinstance(resolve_call(during.names, during, "tool_2", "{}"), Outcome)
    assert before.digest == after.digest
    assert tool_manifest(before) == tool_manifest(after)
    assert isinstance(resolve_call(after.names, after, "tool_2", "{}"), Resolved)
    assert fingerprint(definition) == fingerprint(a_definition(POOL))


def test_what_was_specified_once_is_refused_once_it_is_not_allowed() -> None:
    definition = a_definition(POOL)
    first = spec_of(effective(ALL, definition, TurnPolicy()), "tool_2")
    second = spec_of(effective(ALL, definition, NARROW), "tool_2")

    assert first.tag is Tag.OK
    assert json.loads(second.text)["not_allowed"] == ["tool_2"]


@pytest.mark.parametrize("pool", [POOL, MANY], ids=["native", "lazy"])
def test_the_manifest_stands_once_whole_and_sorted_whatever_the_instructions_are(
    pool: dict[str, object],
) -> None:
    specs = {name: a_tool(name) for name in pool}
    hidden = max(specs)
    bindings = {name: spec.binding for name, spec in specs.items()}
    texts = ["Work.", "Work <available_tools> as you like.", "x" * 9000]
    for text in texts:
        definition = a_definition(specs, instructions=text)
        view = effective(bindings, definition, TurnPolicy(hidden={hidden: "it is off"}))
        sent = render_request(definition, view).removeprefix(text)
        listed = [line for line in sent.splitlines() if line.startswith("- ")]
        names = [line[2:].partition(":")[0] for line in listed[:-1]]

        assert sent.count("<available_tools>") == sent.count("</available_tools>") == 1
        assert names == sorted(names)
        assert hidden not in names
        assert callable_lines(sent) == set(view.names)


def test_over_many_turns_the_text_of_a_request_does_not_grow() -> None:
    definition = a_definition(POOL)
    sizes = {
        len(render_request(definition, effective(ALL, definition, TurnPolicy())))
        for _ in range(200)
    }

    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("tool_01", "tool_1"),
        ("many_1", "many_01"),
        ("query", "query_workflow_db"),
        ("Query_Workflow_DB", "query_workflow_db"),
        ("db_query_workflow_db_now", "query_workflow_db"),
    ],
)
def test_a_name_leads_to_the_nearest_that_can_be_called(given: str, first: str) -> None:
    names = ["tool_1", "tool_7", "many_01", "query_workflow_db", "ask"]
    found = nearest(given, names)

    assert found[0] == first
    assert len(found) <= MOST_NEAR


@pytest.mark.parametrize("given", ["zzzzzz", "", "  ", "\u202e" * 50])
def test_a_name_like_none_leads_nowhere(given: str) -> None:
    assert nearest(given, ["tool_1", "ask"]) == []


def test_help_never_names_a_tool_outside_the_view() -> None:
    view = a_view(POOL, NARROW)
    told = spec_of(view, "tool_2").text + recovery_text(view, "tool_2")
    said = told.replace('"not_allowed": ["tool_2"]', "").replace("'tool_2'", "")

    assert {name for name in POOL if f'"{name}"' in said.replace('"tool_2":', "")} == {"tool_1"}
    assert "tool_2" not in json.loads(spec_of(view, "tool_2").text)["nearest"]["tool_2"]


def test_names_of_several_groups_and_sources_come_in_one_answer() -> None:
    mixed = {
        "ask": a_tool("ask"),
        "mcp__mail__send": a_tool("mcp__mail__send", source="mcp:mail"),
        "plugged": a_tool("plugged", source="plugin:x"),
    }
    answer = api_spec(a_view(mixed), '["mcp__mail__send", "plugged", "ask"]')

    assert [one["name"] for one in json.loads(answer.text)["tools"]] == [
        "mcp__mail__send",
        "plugged",
        "ask",
    ]


@pytest.mark.parametrize(
    ("name", "text", "counted"),
    [
        ("get_api_spec", '{"tool_names": ["a"], "server_name": "custom"}', True),
        ("get_api_spec", '{"tool_names": ["a"], "server_name": ""}', True),
        ("get_api_spec", '{"tool_names": ["a"], "server_name": null}', False),
        ("get_api_spec", '{"tool_names": ["a"]}', False),
        ("get_api_spec", "no JSON", False),
        ("other_tool", '{"server_name": "custom"}', False),
    ],
)
def test_a_server_that_is_named_beside_a_tool_is_counted(
    name: str, text: str, *, counted: bool
) -> None:
    assert names_server(name, text) is counted
