"""A call is resolved against what was offered and is allowed now, or refused with advice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from domain.tools.calls import Resolved, api_spec, recovery_text, resolve_call
from domain.tools.intrinsic import INTRINSIC_SPECS, PIECE_BYTES, read_piece, read_skill
from domain.tools.policy import TurnPolicy
from domain.tools.registry import INTRINSIC
from domain.tools.results import Outcome, Tag
from tests.support.agents import a_tool
from tests.unit.test_effective_view import MANY, POOL, a_view

if TYPE_CHECKING:
    from domain.codec import Json

NESTED = a_tool(
    "nested",
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "mode": {},
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["id"],
                        "properties": {"id": {"type": "integer"}},
                    },
                },
            },
            "required": ["rows", "mode"],
            "additionalProperties": False,
        }
    ),
)


def refused(made: Resolved | Outcome) -> Outcome:
    """Expect a refusal."""
    assert isinstance(made, Outcome)
    assert made.tag is not Tag.OK
    return made


def test_all_problems_of_nested_arguments_come_at_once() -> None:
    view = a_view({"nested": NESTED})
    outcome = refused(
        resolve_call(view.names, view, "nested", '{"rows":[{"id":"x"},{}],"extra":1}')
    )

    assert outcome.code == "arguments_invalid"
    for part in ("rows/0/id", "rows/1", "'mode' is a required", "extra"):
        assert part in outcome.text


def test_arguments_reach_the_tool_the_same_either_way() -> None:
    view = a_view({"nested": NESTED})
    wanted = {"rows": [{"id": 1}], "mode": 2}
    ways = [
        resolve_call(view.names, view, "nested", json.dumps(wanted)),
        resolve_call(
            view.names, view, "call_tool", json.dumps({"name": "nested", "arguments": wanted})
        ),
        resolve_call(
            view.names,
            view,
            "call_tool",
            json.dumps({"name": "nested", "arguments": json.dumps(wanted)}),
        ),
    ]

    for way in ways:
        assert isinstance(way, Resolved)
        assert (way.name, way.arguments, way.spec) == ("nested", wanted, NESTED)
    bad = json.dumps({"name": "nested", "arguments": {"rows": 1}})
    direct = refused(resolve_call(view.names, view, "nested", '{"rows":1}'))
    assert refused(resolve_call(view.names, view, "call_tool", bad)) == direct


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("tool_1", "{broken", "arguments_invalid"),
        ("tool_1", "[1]", "arguments_invalid"),
        ("call_tool", '{"name":"call_tool"}', "call_nested"),
        ("call_tool", '{"name":"tool_1","arguments":"{broken"}', "arguments_invalid"),
        ("call_tool", '{"arguments":{}}', "arguments_invalid"),
        ("tool_99", "{}", "tool_unknown"),
        ("call_tool", '{"name":"tool_99"}', "tool_unknown"),
    ],
)
def test_a_call_that_cannot_be_made_has_a_code(name: str, text: str, code: str) -> None:
    view = a_view(POOL)

    assert refused(resolve_call(view.names, view, name, text)).code == code


def test_a_run_without_a_compiled_set_may_call_nothing() -> None:
    outcome = refused(resolve_call(None, a_view(POOL), "tool_1", "{}"))

    assert (outcome.tag, outcome.code) == (Tag.DENIED, "no_compiled_set")


def test_what_was_not_offered_is_denied_even_if_it_is_allowed_now() -> None:
    outcome = refused(resolve_call(["tool_2"], a_view(POOL), "tool_1", "{}"))

    assert (outcome.tag, outcome.code) == (Tag.DENIED, "tool_not_allowed")
    assert outcome.text.endswith("You can call: tool_2.")


def test_what_was_offered_is_denied_if_it_is_not_allowed_now() -> None:
    view = a_view(POOL, TurnPolicy(hidden={"tool_1": "the feature is off"}))
    outcome = refused(resolve_call(list(POOL), view, "tool_1", "{}"))

    assert (outcome.tag, outcome.code) == (Tag.DENIED, "tool_not_allowed")
    assert "the feature is off" in outcome.text


def test_a_worker_with_another_contract_does_not_run_the_call() -> None:
    registered = {**POOL, "tool_1": replace(POOL["tool_1"], schema='{"type":"object"}')}
    view = a_view(POOL, registered=registered)

    assert "tool_1" not in view.names
    assert refused(resolve_call(list(POOL), view, "tool_1", "{}")).code == "binding_changed"


def test_recovery_names_the_nearest_first_and_counts_the_rest() -> None:
    text = recovery_text(a_view(MANY), "many_50")
    listed = text.partition("You can call: ")[2].removesuffix(".").partition(" and ")

    assert listed[0].startswith("many_050, ")
    assert len(listed[0].split(", ")) == 60
    assert listed[2] == "33 more"


def test_an_agent_with_none_is_told_not_to_try_again() -> None:
    text = recovery_text(a_view({}), "anything")

    assert "do not try again" in text
    assert "You can call" not in text


def spec_names(outcome: Outcome) -> list[str]:
    """Give the names that a `get_api_spec` answer describes."""
    assert outcome.tag is Tag.OK
    body = cast("dict[str, list[dict[str, object]]]", json.loads(outcome.text))
    return [str(one["name"]) for one in body["tools"]]


@pytest.mark.parametrize(
    "given",
    [["tool_2", "tool_1"], '["tool_2","tool_1"]', ["tool_2", " tool_1", "tool_2"]],
)
def test_specs_come_by_name_in_the_order_asked(given: Json) -> None:
    assert spec_names(api_spec(a_view(POOL), given)) == ["tool_2", "tool_1"]


def test_one_bare_name_is_one_name() -> None:
    assert spec_names(api_spec(a_view(POOL), "tool_2")) == ["tool_2"]


def test_specs_are_given_all_or_none() -> None:
    view = a_view(POOL, TurnPolicy(hidden={"tool_3": "off"}))
    outcome = api_spec(view, ["tool_1", "nope", "tool_3"])

    assert outcome.tag is Tag.ERROR
    assert outcome.code == "tools_unavailable"
    assert json.loads(outcome.text) == {
        "error": "tools_unavailable",
        "unknown": ["nope"],
        "not_allowed": ["tool_3"],
        "nearest": {"tool_3": ["tool_9", "tool_8", "tool_7"]},
    }


@pytest.mark.parametrize("given", [[], "[]", "", None, 3, [""]])
def test_asking_for_no_spec_is_an_error(given: Json) -> None:
    assert api_spec(a_view(POOL), given).code == "arguments_invalid"


@pytest.mark.parametrize("server", ["custom", "tool_1", 7, None])
def test_a_server_name_is_taken_and_means_nothing(server: object) -> None:
    view = a_view(POOL)
    text = json.dumps({"tool_names": ["tool_1"], "server_name": server})
    made = resolve_call(view.names, view, "get_api_spec", text)

    assert isinstance(made, Resolved)
    assert spec_names(api_spec(view, made.arguments["tool_names"])) == ["tool_1"]


def test_the_intrinsic_contracts_are_those_reserved_and_only_read() -> None:
    assert set(INTRINSIC_SPECS) == set(INTRINSIC)
    assert {spec.effect.value for spec in INTRINSIC_SPECS.values()} == {"read"}


def test_a_skill_is_read_whole_or_the_others_are_named() -> None:
    skills = {"a": "Alpha.", "b": "Beta."}

    assert read_skill(skills, "b").text == "Beta."
    assert read_skill(skills, "c").code == "skill_unknown"
    assert "a, b" in read_skill(skills, "c").text
    assert "none" in read_skill({}, "c").text


def test_a_result_is_read_on_to_its_end_without_breaking_a_letter() -> None:
    whole = "aä€😀" * 5000
    read, offset, size = "", 0, len(whole.encode())
    while offset < size:
        outcome = read_piece(whole, "r", offset)
        text, _, note = outcome.text.rpartition("\n[bytes ")
        assert len(text.encode()) <= PIECE_BYTES
        read += text
        offset = int(note.split()[2])

    assert read == whole
    assert read_piece(whole, "r", size).code == "offset_past_end"
