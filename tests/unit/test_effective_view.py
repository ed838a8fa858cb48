"""One view of a request's tools: nothing outside it is offered, run, specified or advised."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.agents.definition import AgentDefinition, Skill, defined_tool
from domain.agents.profile import Profile
from domain.tools.calls import Resolved, api_spec, recovery_text, resolve_call
from domain.tools.effective import EffectiveView, effective
from domain.tools.policy import TurnPolicy, turn_policy
from domain.tools.registry import INTRINSIC, ToolSpec
from domain.tools.render import native_tools, render_request, tool_manifest
from domain.tools.results import Outcome, Tag
from tests.support.agents import a_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

POOL: dict[str, ToolSpec] = {f"tool_{n}": a_tool(f"tool_{n}") for n in range(12)}
MANY: dict[str, ToolSpec] = {f"many_{n:03}": a_tool(f"many_{n:03}") for n in range(90)}
SKILL = Skill(name="s", description="how to", text="Do it.")
NAMES = st.frozensets(st.sampled_from(sorted(POOL)))


def a_definition(
    specs: Mapping[str, ToolSpec],
    *,
    skills: tuple[Skill, ...] = (),
    pinned: tuple[str, ...] = (),
    instructions: str = "Work.",
) -> AgentDefinition:
    """Build a definition that holds these tools."""
    return AgentDefinition(
        instructions=instructions,
        skills=skills,
        tools=tuple(defined_tool(specs[name]) for name in sorted(specs)),
        profile=Profile.WRITER,
        pinned=pinned,
    )


def a_view(
    specs: Mapping[str, ToolSpec],
    policy: TurnPolicy | None = None,
    *,
    skills: tuple[Skill, ...] = (),
    registered: Mapping[str, ToolSpec] | None = None,
) -> EffectiveView:
    """Derive a view; the registry holds the definition's own tools unless others are given."""
    bindings = {n: s.binding for n, s in (specs if registered is None else registered).items()}
    return effective(bindings, a_definition(specs, skills=skills), policy or TurnPolicy())


def callable_lines(text: str) -> set[str]:
    """Read off a manifest which tools it says can be called."""
    part = re.split(r"^(?:These belong|Your texts)", text, flags=re.MULTILINE)[0]
    return set(re.findall(r"^- ([\w.-]+)", part, flags=re.MULTILINE))


def named_in(text: str) -> set[str]:
    """Find the pool's names in a text, the name first complained about left out."""
    return set(re.findall(r"tool_\d+", text.partition(".")[2]))


@given(
    registered=NAMES,
    defined=NAMES,
    allowed=st.none() | NAMES,
    hidden=NAMES,
    changed=NAMES,
    offered=NAMES,
    limit=st.integers(min_value=0, max_value=14),
)
def test_nothing_outside_registry_definition_and_policy_gets_anywhere(  # noqa: PLR0913 - the three sets and what may differ
    *,
    registered: frozenset[str],
    defined: frozenset[str],
    allowed: frozenset[str] | None,
    hidden: frozenset[str],
    changed: frozenset[str],
    offered: frozenset[str],
    limit: int,
) -> None:
    bindings = {n: "other" if n in changed else POOL[n].binding for n in registered}
    policy = TurnPolicy(allowed, dict.fromkeys(hidden, "not today"))
    definition = a_definition({n: POOL[n] for n in defined})
    view = effective(bindings, definition, policy, limit=limit)
    right = (registered & defined) - hidden - changed
    right = right if allowed is None else right & allowed

    assert set(view.names) - set(INTRINSIC) == right
    assert {spec.name for spec in native_tools(view)} <= set(view.names)
    assert callable_lines(tool_manifest(view)) == set(view.names)
    for name in POOL:
        assert named_in(recovery_text(view, name)) <= right
        assert (api_spec(view, [name]).tag is Tag.OK) == (name in right)
        for asked, text in ((name, "{}"), ("call_tool", json.dumps({"name": name}))):
            made = resolve_call({*offered, *INTRINSIC}, view, asked, text)
            assert isinstance(made, Resolved) == (name in right & offered)


@given(registered=NAMES, defined=NAMES, allowed=st.none() | NAMES)
def test_the_same_view_is_the_same_bytes(
    registered: frozenset[str], defined: frozenset[str], allowed: frozenset[str] | None
) -> None:
    definition = a_definition({n: POOL[n] for n in defined})
    ways = (sorted(registered), sorted(registered, reverse=True))
    views = [
        effective({n: POOL[n].binding for n in way}, definition, TurnPolicy(allowed))
        for way in ways
    ]

    assert views[0].digest == views[1].digest
    assert render_request(definition, views[0]) == render_request(definition, views[1])


def test_none_allows_all_and_empty_allows_none() -> None:
    assert set(a_view(POOL, TurnPolicy(None)).names) == set(POOL) | set(INTRINSIC) - {"read_skill"}
    assert a_view(POOL, TurnPolicy(frozenset())).names == ()


@pytest.mark.parametrize(
    ("tools", "skills", "intrinsic"),
    [
        (0, (), set[str]()),
        (0, (SKILL,), {"read_skill", "read_result"}),
        (1, (), {"get_api_spec", "call_tool", "read_result"}),
        (1, (SKILL,), set(INTRINSIC)),
    ],
)
def test_intrinsic_tools_come_where_they_apply(
    tools: int, skills: tuple[Skill, ...], intrinsic: set[str]
) -> None:
    specs = dict(list(POOL.items())[:tools])

    assert set(a_view(specs, skills=skills).names) - set(specs) == intrinsic


def test_up_to_forty_tools_go_with_their_schemas() -> None:
    few = dict(list(MANY.items())[:37])
    view = a_view(few)

    assert not view.lazy
    assert len(native_tools(view)) == 40
    assert [spec.name for spec in native_tools(view)] == sorted(view.names)


def test_more_than_forty_are_fetched_by_name_save_the_pinned_ones() -> None:
    specs = dict(list(MANY.items())[:38])
    definition = a_definition(specs, pinned=("many_007", "many_999"))
    view = effective({n: s.binding for n, s in specs.items()}, definition, TurnPolicy())

    assert view.lazy
    assert [spec.name for spec in native_tools(view)] == [
        "call_tool",
        "get_api_spec",
        "many_007",
        "read_result",
    ]
    assert callable_lines(tool_manifest(view)) == set(view.names)
    assert "get_api_spec({" in tool_manifest(view)
    made = resolve_call(view.names, view, "call_tool", '{"name":"many_030","arguments":{}}')
    assert isinstance(made, Resolved)
    assert (made.name, made.via) == ("many_030", "call_tool")


def test_a_hidden_tool_is_told_with_its_reason() -> None:
    view = a_view(POOL, TurnPolicy(hidden={"tool_3": "the moon is full"}))

    assert "- tool_3: the moon is full" in tool_manifest(view)
    assert "the moon is full" in recovery_text(view, "tool_3")


def test_a_view_that_hides_more_has_another_digest() -> None:
    views = {
        a_view(POOL).digest,
        a_view(POOL, TurnPolicy(hidden={"tool_3": "a"})).digest,
        a_view(POOL, TurnPolicy(hidden={"tool_3": "b"})).digest,
        a_view(POOL, TurnPolicy(frozenset(POOL) - {"tool_3"})).digest,
    }

    assert len(views) == 4


def test_a_text_that_speaks_of_a_tool_outside_is_set_right() -> None:
    definition = a_definition({"tool_1": POOL["tool_1"]}, instructions="Use tool_2 and tool_1.")
    view = effective({n: s.binding for n, s in POOL.items()}, definition, TurnPolicy())

    assert view.absent == ("tool_2",)
    assert "speak of these, but they are not yours and cannot be called: tool_2" in tool_manifest(
        view
    )


def test_an_agent_without_tools_is_told_so() -> None:
    view = a_view({})

    assert "You have no tools in this turn." in tool_manifest(view)
    assert native_tools(view) == ()


def test_the_request_text_is_instructions_then_tools_then_skills() -> None:
    definition = a_definition(POOL, skills=(SKILL,))
    view = effective({n: s.binding for n, s in POOL.items()}, definition, TurnPolicy())
    text = render_request(definition, view)

    assert text.startswith("Work.\n\n<available_tools>\n")
    assert text.index("</available_tools>") < text.index("<skills>") < text.index("- s: how to")
    assert text.count("<available_tools>") == 1


def test_surroundings_hide_what_they_cannot_give() -> None:
    specs = {
        "ask": a_tool("ask", needs=("person",)),
        "run": a_tool("run", needs=("confinement",)),
        "look": a_tool("look"),
    }
    writer = a_definition(specs)
    reader = writer.model_copy(update={"profile": Profile.READER})

    def hidden(
        definition: AgentDefinition,
        confinement: str = "full",
        *,
        attended: bool = True,
        worktree: bool = False,
    ) -> set[str]:
        policy = turn_policy(
            definition, confinement=confinement, attended=attended, worktree=worktree
        )
        return set(policy.hidden)

    assert hidden(writer) == set()
    assert hidden(writer, "none") == {"run"}
    assert hidden(writer, attended=False) == {"ask"}
    assert hidden(reader) == {"run"}
    assert hidden(reader, worktree=True) == set()
    assert hidden(reader, "none", worktree=True, attended=False) == {"ask", "run"}


def test_a_policy_keeps_none_and_empty_apart() -> None:
    definition = a_definition(POOL)

    assert turn_policy(definition, confinement="full", attended=True).allowed is None
    assert (
        turn_policy(definition, confinement="full", attended=True, allowed=()).allowed
        == frozenset()
    )


def test_a_refused_call_is_an_outcome() -> None:
    assert isinstance(resolve_call((), a_view(POOL), "tool_1", "{}"), Outcome)
