"""The tools that are shipped are the ones that the roles name: each role builds in full."""

from __future__ import annotations

import pytest

from activities.tools.files import FILE_TOOLS
from activities.tools.guidance import GUIDANCE_TOOLS
from activities.tools.knowledge import KNOWLEDGE_TOOLS
from activities.tools.learnings import LEARNINGS_TOOLS
from activities.tools.people import PEOPLE_TOOLS
from activities.tools.review import REVIEW_TOOLS
from activities.tools.search import SEARCH_TOOLS
from activities.tools.shell import SHELL_TOOLS
from activities.tools.workflow_db import WORKFLOW_DB_TOOLS
from domain.agents.roles import ROLES
from domain.tools.effective import bindings_of, effective
from domain.tools.policy import turn_policy
from domain.tools.registry import Registry, build_registry
from domain.tools.render import tool_manifest
from tests.support.agents import a_request, built


@pytest.fixture(scope="module")
def shipped() -> Registry:
    """Every built-in tool, registered as a worker registers them."""
    families = (
        FILE_TOOLS, SEARCH_TOOLS, SHELL_TOOLS, WORKFLOW_DB_TOOLS, REVIEW_TOOLS, PEOPLE_TOOLS,
        KNOWLEDGE_TOOLS, LEARNINGS_TOOLS, GUIDANCE_TOOLS,
    )  # fmt: skip
    return build_registry([tool.spec for family in families for tool in family])


@pytest.mark.parametrize("name", ROLES)
def test_a_role_has_every_tool_of_its_surface_that_its_profile_allows(
    name: str, shipped: Registry
) -> None:
    made = built(a_request(name, model="m" if ROLES[name].needs_model else ""), shipped)

    assert made.notes == ()
    assert {tool.name for tool in made.definition.tools} == set(ROLES[name].surface)


def test_no_shipped_tool_belongs_to_nobody(shipped: Registry) -> None:
    named = {tool for role in ROLES.values() for tool in role.surface}

    assert set(shipped.specs) == named


def test_without_confinement_and_a_person_only_those_two_are_hidden(shipped: Registry) -> None:
    definition = built(a_request("review-fix"), shipped).definition
    policy = turn_policy(definition, confinement="none", attended=False)
    view = effective(bindings_of(shipped.specs), definition, policy)

    assert set(view.hidden) == {"ask_human", "shell"}
    assert not view.lazy
    assert "- edit_file: " in tool_manifest(view)
