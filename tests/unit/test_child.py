"""A child that inherits is its parent's equal; nothing of its surface is lost on another path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.agents.child import ChildAsk, Parent, child_request
from domain.agents.definition import AgentDefinition, Skill, fingerprint
from domain.agents.profile import Profile
from domain.agents.roles import ROLES
from domain.errors import LegatoError
from domain.tools.registry import Writes
from tests.support.agents import a_registry, a_request, a_tool, built, codes, refusals
from tests.unit.test_mcp_tools import CLOSE, SEARCH, accepted

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest

NAMES_LASTING = "review-fix"
"""Its instructions tell how files are changed, so that no Reader can be built of it."""

MODELLED = [name for name, role in ROLES.items() if role.needs_model]
WRITERS = [name for name in MODELLED if ROLES[name].default_profile is Profile.WRITER]
FROM_SERVERS = {"mcp__issues__search", "mcp__issues__close", "mcp__issues__added"}
DONE_BY_THE_INCIDENTS_CHILD = {"get_workflow_command_guidance", "record_finding"}


def a_parent(role: str, **more: object) -> Parent:
    request = a_request(role, **more)
    return Parent(request, built(request).definition)


def child_of(
    parent: Parent,
    message: str = "do that part",
    *,
    role: str = "",
    profile: Profile | None = None,
    model: str = "",
) -> AgentRequest:
    return child_request(parent, ChildAsk(message, role, profile, model))


def made(request: AgentRequest) -> AgentDefinition:
    return built(request).definition


def tools(definition: AgentDefinition) -> set[str]:
    return {tool.name for tool in definition.tools}


@pytest.mark.parametrize("role", MODELLED)
def test_a_child_that_inherits_is_the_very_agent_that_its_parent_is(role: str) -> None:
    parent = a_parent(role)
    child = made(child_of(parent))

    assert child == parent.definition
    assert fingerprint(child) == fingerprint(parent.definition)


def test_the_surface_that_was_lost_on_2026_08_08_is_whole_in_a_builders_child() -> None:
    parent = a_parent("builder")
    child = made(child_of(parent))
    from_the_steps_default = made(a_request("plan-step", message="do that part"))

    assert tools(parent.definition) - tools(child) == set()
    assert tools(child) >= DONE_BY_THE_INCIDENTS_CHILD
    assert tools(parent.definition) - tools(from_the_steps_default) == {
        *DONE_BY_THE_INCIDENTS_CHILD,
        "list_findings",
    }


@pytest.mark.parametrize("role", [name for name in WRITERS if name != NAMES_LASTING])
def test_a_reader_child_lacks_the_lasting_tools_and_nothing_else(role: str) -> None:
    parent = a_parent(role)
    child = made(child_of(parent, profile=Profile.READER))
    lasting = {t.name for t in parent.definition.tools if t.writes is Writes.LASTING}

    assert lasting
    assert tools(child) == tools(parent.definition) - lasting
    assert child.skills == parent.definition.skills
    assert child.instructions == parent.definition.instructions
    assert child.profile is Profile.READER


def test_a_reader_child_whose_instructions_promise_a_change_is_refused_and_not_cut() -> None:
    asked = child_of(a_parent(NAMES_LASTING), profile=Profile.READER)

    assert codes(refusals(asked)) == {"tool_missing"}


def test_a_narrowed_parent_has_a_child_as_narrow() -> None:
    parent = a_parent("builder", tools=("read_file", "record_finding", "list_findings"))
    wide = a_registry(a_tool("plugged", source="plugin:x"))
    child = built(child_of(parent), wide).definition

    assert tools(child) == {"read_file", "record_finding", "list_findings"}


def test_a_child_has_its_parents_skills_whether_they_are_the_roles_or_the_workspaces() -> None:
    house = Skill(name="house-style", description="ours", text="Short lines.")
    request = a_request("review-fix", skills=("house-style",))
    parent = Parent(request, built(request, skills=(house,)).definition)
    child = built(child_of(parent), skills=(house,)).definition

    assert [skill.name for skill in child.skills] == ["house-style", "repair-method"]
    assert child == parent.definition


def test_a_child_has_its_parents_tools_of_servers_one_by_one_and_no_more() -> None:
    server = accepted(SEARCH, CLOSE)
    narrow = a_request("builder", mcp=("issues/search", "issues/close"))
    parent = Parent(narrow, built(narrow, servers=(server,)).definition)
    more = accepted(SEARCH, CLOSE, SEARCH.model_copy(update={"name": "added"}))
    child = built(child_of(parent), servers=(more,)).definition
    reader = built(child_of(parent, profile=Profile.READER), servers=(more,)).definition
    other = built(child_of(parent, role="knowledge-maintenance"), servers=(more,)).definition

    assert tools(child) == tools(parent.definition) >= {"mcp__issues__search", "mcp__issues__close"}
    assert tools(reader) & FROM_SERVERS == {"mcp__issues__search"}
    assert tools(other) & FROM_SERVERS == set()


@pytest.mark.parametrize("role", ["specialist-reviewer", "todo-child", "knowledge-maintenance"])
def test_a_child_of_another_role_has_that_roles_own_surface(role: str) -> None:
    child = made(child_of(a_parent("builder"), role=role))

    assert child == made(a_request(role, message="do that part"))


@pytest.mark.parametrize("role", ["", "todo-child", "knowledge-maintenance"])
def test_a_readers_child_is_a_reader(role: str) -> None:
    parent = a_parent("chief-of-staff")
    child = made(child_of(parent, role=role))

    assert child.profile is Profile.READER
    assert not [tool for tool in child.tools if tool.writes is Writes.LASTING]


def test_everything_wrong_with_a_child_is_told_at_once() -> None:
    parent = a_parent("chief-of-staff")
    with pytest.raises(LegatoError) as refused:
        child_of(parent, message=" ", profile=Profile.WRITER)

    assert refused.value.code == "child_refused"
    told = str(refused.value.details["problems"])
    assert "message_missing: " in told
    assert "profile_wider: " in told


def test_a_child_works_where_its_parent_works_and_by_its_model_unless_another_is_named() -> None:
    parent = a_parent("builder", stores="/stores", attended=False)
    same, other = child_of(parent), child_of(parent, model="script:other.yaml")

    assert (same.workspace, same.stores, same.attended) == ("/ws", "/stores", False)
    assert (same.model, other.model) == ("script:play.yaml", "script:other.yaml")
    assert fingerprint(made(same)) == fingerprint(made(other))
