"""Guidance: documents by kind, each offered only to agents that hold the tools it speaks of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from activities.tools.guidance import GET_GUIDANCE, GUIDANCE_TOOLS
from domain.agents.guidance import GUIDANCE, offered
from domain.agents.roles import ROLES
from domain.events import ModelRequested
from domain.runs.conversation import Usage
from domain.tools.mentions import mentioned
from domain.tools.results import Tag
from tests.support.agents import a_request, built
from tests.support.tool_context import outcome_of, tool_context

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json
    from domain.tools.results import Outcome

EVERY_TOOL = {name for role in ROLES.values() for name in role.surface}
(TOOL,) = GUIDANCE_TOOLS
HOLDERS = [name for name, role in ROLES.items() if GET_GUIDANCE in role.surface]


def ask(tmp_path: Path, view: tuple[str, ...] | None, **arguments: Json) -> Outcome:
    """Call the tool in a run whose present request offers `view`."""
    request = ModelRequested(
        turn=1,
        step=1,
        n=1,
        owner="o",
        model="m",
        view=view or (),
        view_digest="",
        request_digest="",
        incoming=0,
        delivered=(),
        reserved=Usage(),
        ordinal=0,
    )
    context = replace(tool_context(tmp_path), facts=() if view is None else (request,))
    return outcome_of(TOOL, context, **arguments)


@pytest.mark.parametrize("kind", GUIDANCE)
def test_a_document_names_every_tool_that_it_speaks_of(kind: str) -> None:
    document = GUIDANCE[kind]

    assert set(document.tools) == set(mentioned(document.text, EVERY_TOOL))


@pytest.mark.parametrize("kind", GUIDANCE)
def test_who_holds_its_tools_is_given_a_document_and_the_focus_back(
    kind: str, tmp_path: Path
) -> None:
    outcome = ask(tmp_path, GUIDANCE[kind].tools, kind=kind, focus=" mind the rates ")

    assert outcome.tag is Tag.OK
    assert json.loads(outcome.text) == {
        "kind": kind,
        "guidance": GUIDANCE[kind].text,
        "focus": "mind the rates",
    }


def test_an_unknown_kind_is_told_the_kinds_of_this_agent(tmp_path: Path) -> None:
    view = ("record_finding", "list_findings")
    outcome = ask(tmp_path, view, kind="pulse-fixer")

    assert outcome.code == "guidance_unknown"
    assert all(kind in outcome.text for kind in offered(view))
    assert "improve-knowledge" not in outcome.text


def test_a_document_about_tools_of_others_is_refused_by_its_name(tmp_path: Path) -> None:
    lacks_one = GUIDANCE["improve-knowledge"].tools[1:]
    outcome = ask(tmp_path, lacks_one, kind="improve-knowledge")

    assert outcome.code == "guidance_unknown"
    assert "cannot call" in outcome.text


def test_without_a_compiled_request_only_what_needs_no_tool_is_offered(tmp_path: Path) -> None:
    assert ask(tmp_path, None, kind="engineering-review").tag is Tag.ERROR
    assert ask(tmp_path, None, kind="define-success").tag is Tag.OK


@pytest.mark.parametrize("name", HOLDERS)
def test_a_role_is_offered_guidance_for_its_own_tools_only(name: str) -> None:
    held = {tool.name for tool in built(a_request(name)).definition.tools}

    assert offered(held)
    assert all(set(GUIDANCE[kind].tools) <= held for kind in offered(held))


def test_a_reader_is_offered_none_that_only_writers_can_follow() -> None:
    held = {tool.name for tool in built(a_request("operations-reviewer")).definition.tools}

    assert {"operations-review", "strategy-audit"} <= set(offered(held))
    assert not [kind for kind in offered(held) if kind.startswith("improve-")]
