"""Requests, registries and definitions for tests of what an agent is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pytest

from domain.agents.build import Built, build_definition
from domain.agents.request import AgentRequest, Sources
from domain.errors import LegatoError
from domain.tools.registry import Registry, ToolSpec, Writes, build_registry, tool_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

LASTING = (
    "write_file",
    "edit_file",
    "delete_file",
    "mutate_workflow_db",
    "write_note",
    "delete_note",
    "write_learning",
    "delete_learning",
)
READING = (
    "list_files",
    "search_files",
    "read_file",
    "query_workflow_db",
    "describe_workflow_db",
    "list_knowledge",
    "search_knowledge",
    "read_knowledge",
    "read_learnings",
    "list_findings",
    "get_workflow_command_guidance",
)
LEDGER = ("record_finding", "claim_findings", "write_receipt")


def a_tool(name: str, writes: Writes = Writes.NOTHING, **more: object) -> ToolSpec:
    """Build a spec with one text argument; `more` replaces fields."""
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "additionalProperties": False,
    }
    spec = tool_spec(name, f"Does {name}.", schema, writes=writes)
    return replace(spec, **cast("dict[str, Any]", more))


@cache
def a_registry(*more: ToolSpec) -> Registry:
    """Build a registry with every tool that built-in roles name, and `more`."""
    return build_registry(
        [
            *(a_tool(name, Writes.LASTING) for name in LASTING),
            *(a_tool(name) for name in READING),
            *(a_tool(name, Writes.LEDGER) for name in LEDGER),
            a_tool("shell", Writes.COPY, needs=("confinement",)),
            a_tool("ask_human", Writes.LEDGER, needs=("person",)),
            *more,
        ]
    )


def a_request(role: str = "generic", **more: object) -> AgentRequest:
    """Build a request that is complete for any role; `more` replaces fields."""
    fields: dict[str, object] = {
        "role": role,
        "message": "look after it",
        "model": "script:play.yaml",
        "workspace": "/ws",
        "checks": ("make test",),
    }
    return AgentRequest.model_validate({**fields, **more})


def built(request: AgentRequest, registry: Registry | None = None, **sources: object) -> Built:
    """Build it; `sources` are further fields of `Sources`."""
    return build_definition(
        request, Sources(registry or a_registry(), **cast("dict[str, Any]", sources))
    )


def refusals(
    request: AgentRequest, registry: Registry | None = None, **sources: object
) -> list[str]:
    """Give the problems for which a build is refused."""
    with pytest.raises(LegatoError) as caught:
        built(request, registry, **sources)
    assert caught.value.code == "definition_refused"
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    return [str(one) for one in cast("list[object]", problems)]


def codes(problems: Sequence[str]) -> set[str]:
    """Give the codes of listed problems."""
    return {problem.partition(":")[0] for problem in problems}
