"""The fingerprint is the identity: the same for a role however it is started, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.agents.definition import AgentDefinition, Skill, fingerprint
from domain.agents.profile import Profile
from domain.runs.budget import Budget
from domain.tools.registry import Effect, Registry
from tests.support.agents import a_registry, a_request, built


def identity(role: str = "generic", **more: object) -> str:
    """Give the fingerprint of a built agent."""
    return fingerprint(built(a_request(role, **more)).definition)


@pytest.mark.parametrize(
    "runtime",
    [
        {"model": "anthropic:other"},
        {"workspace": "/else", "stores": "/stores"},
        {"budget": Budget(tokens=1, cost="2")},
        {"attended": False},
        {"max_tokens": 1, "temperature": 0.7},
        {"environment": ("CI",)},
        {"message": "something else"},
        {"checks": ("tox",), "fixers": ("black .",)},
    ],
)
@pytest.mark.parametrize("role", ["review-fix", "generic", "specialist-reviewer", "check-and-fix"])
def test_what_a_run_is_given_is_not_in_the_fingerprint(role: str, runtime: dict[str, Any]) -> None:
    assert identity(role, **runtime) == identity(role)


def test_roles_and_profiles_have_fingerprints_of_their_own() -> None:
    seen = {identity(r) for r in ("review-fix", "generic", "specialist-reviewer", "check-and-fix")}

    assert len(seen | {identity(profile=Profile.READER)}) == 5


@pytest.mark.parametrize(
    "change",
    [
        {"description": "other"},
        {"schema": '{"type":"object"}'},
        {"timeout": 31.0},
        {"source": "plugin:x"},
        {"effect": Effect.READ},
    ],
)
def test_a_changed_contract_changes_the_fingerprint(change: dict[str, Any]) -> None:
    specs = dict(a_registry().specs)
    specs["write_file"] = replace(specs["write_file"], **change)
    changed = built(a_request(), Registry(specs)).definition

    assert fingerprint(changed) != identity()


@pytest.mark.parametrize("change", [{"resource": "other"}, {"needs": ("person",)}])
def test_what_only_guides_the_engine_does_not(change: dict[str, Any]) -> None:
    specs = dict(a_registry().specs)
    specs["write_file"] = replace(specs["write_file"], **change)

    assert fingerprint(built(a_request(), Registry(specs)).definition) == identity()


def test_skills_count_by_content_and_not_by_order() -> None:
    one, two = (Skill(name=n, description="d", text="t") for n in "ab")
    asked = a_request(skills=("a", "b"))
    first = built(asked, skills=(one, two)).definition
    second = built(asked, skills=(two, one)).definition
    other = built(asked, skills=(one, two.model_copy(update={"text": "u"}))).definition

    assert fingerprint(first) == fingerprint(second)
    assert fingerprint(first) != fingerprint(other)
    assert fingerprint(first) != identity()


def test_a_stored_definition_keeps_its_fingerprint() -> None:
    definition = built(a_request("review-fix")).definition
    again = AgentDefinition.model_validate_json(definition.model_dump_json())

    assert again == definition
    assert fingerprint(again) == fingerprint(definition)
