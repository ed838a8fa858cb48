"""A server's accepted tools in an agent: their names, their class, and who may have them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.agents.definition import fingerprint
from domain.agents.imported.step_file import read_steps
from domain.agents.profile import Profile
from domain.mcp.bring import ServerSource, given_name, spec_of, unfit
from domain.mcp.declared import Server
from domain.mcp.snapshot import (
    Hints,
    McpAccepted,
    OfferedTool,
    changes,
    schema_text,
    snapshot_digest,
)
from domain.tools.calls import api_spec, resolve_call
from domain.tools.effective import effective
from domain.tools.outages import out
from domain.tools.policy import TurnPolicy
from domain.tools.registry import Effect, Writes
from domain.tools.results import Outcome
from tests.support import agents
from tests.support.agents import a_registry, a_request, a_tool, codes, refusals
from tests.support.saved_steps import a_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.definition import AgentDefinition
    from domain.tools.registry import ToolSpec

OBJECT = schema_text({"type": "object", "properties": {"q": {"type": "string"}}})
SEARCH = OfferedTool(name="search", description="Finds.", argument_schema=OBJECT)
CLOSE = OfferedTool(name="close", description="Closes.", argument_schema=OBJECT)
ISSUES = Server("issues", "https://x.example/mcp", reads=("search",))


def accepted(*tools: OfferedTool, server: Server = ISSUES) -> ServerSource:
    fact = McpAccepted(
        n=1,
        server=server.name,
        address=server.address,
        tools=tools,
        digest=snapshot_digest(tools),
    )
    return ServerSource(server.name, server, fact)


def built(*servers: ServerSource, **asked: object) -> AgentDefinition:
    request = a_request().model_copy(update=asked)
    return agents.built(request, servers=servers).definition


def from_servers(definition: AgentDefinition) -> dict[str, str]:
    return {tool.name: tool.source for tool in definition.tools if tool.remote}


@pytest.mark.parametrize(
    ("reads", "repeats", "hints", "effect", "writes"),
    [
        ((), (), Hints(), Effect.ONCE, Writes.LASTING),
        ((), (), Hints(read_only=True, idempotent=True), Effect.ONCE, Writes.LASTING),
        (("search",), (), Hints(), Effect.READ, Writes.NOTHING),
        (("sea*",), (), Hints(read_only=True), Effect.READ, Writes.NOTHING),
        (("search",), (), Hints(read_only=False), Effect.ONCE, Writes.LASTING),
        (("search",), (), Hints(destructive=True), Effect.ONCE, Writes.LASTING),
        (("hinted",), (), Hints(read_only=True), Effect.READ, Writes.NOTHING),
        (("hinted",), (), Hints(), Effect.ONCE, Writes.LASTING),
        ((), ("search",), Hints(), Effect.IDEMPOTENT, Writes.LASTING),
        ((), ("search",), Hints(idempotent=False), Effect.ONCE, Writes.LASTING),
        ((), ("hinted",), Hints(idempotent=True), Effect.IDEMPOTENT, Writes.LASTING),
        (("close",), (), Hints(read_only=True), Effect.ONCE, Writes.LASTING),
    ],
)
def test_a_servers_word_makes_a_class_only_stricter(
    reads: tuple[str, ...],
    repeats: tuple[str, ...],
    hints: Hints,
    effect: Effect,
    writes: Writes,
) -> None:
    server = replace(ISSUES, reads=reads, repeats=repeats)
    spec = spec_of(server, SEARCH.model_copy(update={"hints": hints}))

    assert (spec.effect, spec.writes) == (effect, writes)
    assert (spec.source, spec.resource) == ("mcp:issues", "mcp:issues")


def test_a_tool_is_named_by_its_server_and_its_own_name_or_as_declared() -> None:
    server = replace(ISSUES, names={"search": "find_issues"})

    assert given_name(server, "search") == "find_issues"
    assert given_name(server, "close") == "mcp__issues__close"
    assert given_name(server, "issue.close/now") == "mcp__issues__issue_close_now"


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        (SEARCH.model_copy(update={"argument_schema": "[]"}), "not a JSON object"),
        (
            SEARCH.model_copy(
                update={
                    "argument_schema": schema_text(
                        {"type": "object", "properties": {"a": {"$ref": "http://x/y"}}}
                    )
                }
            ),
            "outside itself",
        ),
        (SEARCH.model_copy(update={"name": "x" * 70}), "declare a shorter"),
        (SEARCH.model_copy(update={"name": " "}), "empty"),
        (SEARCH.model_copy(update={"description": "x" * 20_000}), "description"),
    ],
)
def test_a_tool_that_no_model_could_be_offered_is_unfit(tool: OfferedTool, says: str) -> None:
    assert says in "; ".join(unfit(ISSUES, tool))


def test_an_agent_has_the_tools_of_the_servers_that_it_asks_for_and_no_others() -> None:
    mail = replace(ISSUES, name="mail", reads=())
    both = (accepted(SEARCH, CLOSE), accepted(CLOSE, server=mail))

    assert from_servers(built(*both)) == {}
    assert from_servers(built(*both, mcp=("issues",))) == {
        "mcp__issues__close": "mcp:issues",
        "mcp__issues__search": "mcp:issues",
    }
    assert set(from_servers(built(*both, mcp=("issues/search", "mail")))) == {
        "mcp__issues__search",
        "mcp__mail__close",
    }
    narrow = built(*both, mcp=("mail",), tools=("read_file", "mcp__issues__search"))
    assert {tool.name for tool in narrow.tools} == {
        "read_file",
        "mcp__issues__search",
        "mcp__mail__close",
    }


def test_a_reader_has_what_only_reads_and_asking_for_more_is_refused() -> None:
    source = accepted(SEARCH, CLOSE)
    reader = built(source, mcp=("issues",), profile=Profile.READER)

    assert set(from_servers(reader)) == {"mcp__issues__search"}
    asked = a_request(mcp=("issues/close",), profile=Profile.READER)
    assert codes(refusals(asked, servers=(source,))) == {"tool_not_of_profile"}


def test_two_agents_may_use_one_name_for_tools_of_two_servers() -> None:
    other = replace(ISSUES, name="mail", names={"search": "find"})
    issues = replace(ISSUES, names={"search": "find"})
    one = built(accepted(SEARCH, server=issues), mcp=("issues",))
    two = built(accepted(SEARCH, server=other), mcp=("mail",))

    assert from_servers(one) == {"find": "mcp:issues"}
    assert from_servers(two) == {"find": "mcp:mail"}
    assert fingerprint(one) != fingerprint(two)
    assert len({tool.spec().binding for d in (one, two) for tool in d.tools if tool.remote}) == 2


def test_everything_wrong_with_the_servers_is_told_at_once() -> None:
    taken = replace(ISSUES, names={"search": "read_file", "close": "list_files"})
    found = refusals(
        a_request(mcp=("issues", "mail", "gone", "moved", "twice", "twice", "wrong/none")),
        servers=(
            accepted(SEARCH, CLOSE, server=taken),
            ServerSource("mail", replace(ISSUES, name="mail"), None),
            ServerSource("gone", None, None, "it is not declared"),
            replace(
                accepted(SEARCH), name="moved", server=replace(ISSUES, url="https://y.example")
            ),
            accepted(
                SEARCH.model_copy(update={"name": "a.b"}),
                SEARCH.model_copy(update={"name": "a/b"}),
                server=replace(ISSUES, name="twice"),
            ),
            accepted(SEARCH, server=replace(ISSUES, name="wrong")),
        ),
    )

    assert codes(found) == {
        "mcp_name_taken",
        "mcp_not_accepted",
        "mcp_undeclared",
        "mcp_moved",
        "mcp_tool_missing",
        "name_duplicate",
    }
    assert sum(one.startswith("mcp_name_taken") for one in found) == 3


def test_a_role_without_added_tools_has_none_of_a_servers() -> None:
    asked = a_request("specialist-reviewer", mcp=("issues",))
    assert codes(refusals(asked, servers=(accepted(SEARCH),))) == {"mcp_not_of_role"}


def test_a_tool_of_a_server_is_callable_by_its_own_definition_alone() -> None:
    definition = built(accepted(SEARCH), mcp=("issues",))
    spec = next(tool.spec() for tool in definition.tools if tool.remote)

    own = {**_bindings(a_registry().specs), spec.name: spec.binding}
    assert "mcp__issues__search" in effective(own, definition, TurnPolicy()).names
    other = spec_of(ISSUES, SEARCH.model_copy(update={"description": "Another."}))
    assert other.binding != spec.binding
    changed = effective({**own, spec.name: other.binding}, definition, TurnPolicy())
    assert spec.name in changed.changed


def _bindings(specs: Mapping[str, ToolSpec]) -> dict[str, str]:
    return {name: spec.binding for name, spec in specs.items()}


def test_the_fingerprint_of_an_agent_without_servers_is_what_it_was() -> None:
    plain = built()
    assert fingerprint(plain) == fingerprint(built(accepted(SEARCH)))
    with_search = built(accepted(SEARCH), mcp=("issues",))
    hinted = SEARCH.model_copy(update={"hints": Hints(open_world=True)})
    assert fingerprint(with_search) != fingerprint(built(accepted(hinted), mcp=("issues",)))


def test_changes_name_what_differs() -> None:
    other = SEARCH.model_copy(update={"description": "Mails.", "hints": Hints(read_only=True)})
    found = changes((SEARCH, CLOSE), (other, SEARCH.model_copy(update={"name": "new"})))

    assert [(one.tool, one.what, one.parts) for one in found] == [
        ("close", "removed", ()),
        ("new", "added", ()),
        ("search", "changed", ("description", "hints")),
    ]
    assert snapshot_digest((SEARCH, CLOSE)) == snapshot_digest((CLOSE, SEARCH))


def test_a_name_of_the_deployment_is_never_taken_over() -> None:
    tool = a_tool("find", source="plugin:acme")
    server = replace(ISSUES, names={"search": "find"})
    found = refusals(
        a_request(mcp=("issues",)),
        registry=a_registry(tool),
        servers=(accepted(SEARCH, server=server),),
    )
    assert codes(found) == {"mcp_name_taken"}
    assert "plugin:acme" in found[0]


def test_a_servers_secret_is_given_to_no_command() -> None:
    asked = a_request(environment=("PATH", "ISSUES_TOKEN"))
    found = refusals(asked, server_secrets=frozenset({"ISSUES_TOKEN", "OTHER"}))

    assert codes(found) == {"environment_forbidden"}
    assert "ISSUES_TOKEN" in found[0]


def test_a_server_that_is_out_is_blamed_until_it_has_answered_again() -> None:
    definition = built(accepted(SEARCH), mcp=("issues",))
    spec = next(tool.spec() for tool in definition.tools if tool.remote)
    bindings = {**_bindings(a_registry().specs), spec.name: spec.binding}
    view = effective(bindings, definition, TurnPolicy())
    failed = (spec.name, "server_unavailable")
    gone = out(view, [("read_file", ""), failed])

    assert gone == {"issues"}
    assert out(view, [failed, (spec.name, "")]) == frozenset()
    assert out(view, [failed, (spec.name, "tool_failed")]) == frozenset()

    known = json.loads(api_spec(view, [spec.name], gone).text)
    assert known["server_unavailable"] == ["issues"]
    assert known["tools"][0]["name"] == spec.name
    unknown = json.loads(api_spec(view, ["mcp__issues__nothing", "mcp__mail__x"], gone).text)
    assert unknown["unknown"] == ["mcp__issues__nothing", "mcp__mail__x"]
    assert unknown["server_unavailable"] == ["issues"]
    assert "server_unavailable" not in json.loads(api_spec(view, ["mcp__mail__x"], gone).text)

    forged = resolve_call(view.names, view, "mcp__issues__nothing", "{}", gone)
    assert isinstance(forged, Outcome)
    assert (forged.code, "The server issues could not" in forged.text) == ("tool_unknown", True)
    other = resolve_call(view.names, view, "mcp__mail__x", "{}", gone)
    assert isinstance(other, Outcome)
    assert "issues could not" not in other.text


def test_a_saved_step_has_the_accepted_tools_of_the_servers_that_it_names() -> None:
    mail = replace(ISSUES, name="mail", reads=())
    servers = (accepted(SEARCH, CLOSE), accepted(CLOSE, server=mail))

    def of_servers(**config: object) -> set[str]:
        request = a_request("plan-step", step_file="/steps.json")
        steps = read_steps(a_file(one=config))
        made = agents.built(request, steps=steps, servers=servers)
        return set(from_servers(made.definition))

    assert of_servers() == set()
    assert of_servers(selected_servers=["mail"]) == {"mcp__mail__close"}
    assert of_servers(selected_tools=["issues:search"]) == {"mcp__issues__search"}
    assert of_servers(selected_servers=["gone"]) == set()
