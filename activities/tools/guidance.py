"""The tool that gives the guidance for a task of a workflow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from activities.tools.arguments import object_schema, text
from domain.agents.guidance import GUIDANCE, offered
from domain.events import ModelRequested
from domain.ports import Executed, Tool
from domain.tools.registry import Effect, Writes, tool_spec
from domain.tools.results import error, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import ToolContext, ToolReturn

GET_GUIDANCE = "get_workflow_command_guidance"


def get_guidance(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Give one document, with the focus that was asked for before it.

    An agent is offered the documents that speak of no tool but those of its present request.
    """
    kinds = offered(_held(context))
    kind = str(arguments["kind"])
    if kind not in kinds:
        return Executed(error("guidance_unknown", _unknown(kind, kinds)))
    body: dict[str, Json] = {"kind": kind, "guidance": GUIDANCE[kind].text}
    focus = (text(arguments, "focus") or "").strip()
    if focus:
        body["focus"] = focus
    return Executed(ok(json.dumps(body, ensure_ascii=False, indent=1)))


def _held(context: ToolContext) -> tuple[str, ...]:
    requests = (fact for fact in reversed(context.facts) if isinstance(fact, ModelRequested))
    request = next(requests, None)
    return () if request is None else request.view


def _unknown(kind: str, kinds: tuple[str, ...]) -> str:
    if kind in GUIDANCE:
        why = f"The guidance {kind!r} is about tools that you cannot call"
    else:
        why = f"There is no guidance {kind!r}"
    return f"{why}. You can ask for: {', '.join(kinds)}."


GUIDANCE_TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        tool_spec(
            GET_GUIDANCE,
            f"Get the guidance for a kind of task: {', '.join(sorted(GUIDANCE))}. Some are only "
            "there for agents that have the tools for it.",
            object_schema(
                ["kind"],
                kind={"type": "string", "minLength": 1, "maxLength": 100},
                focus={
                    "type": ["string", "null"],
                    "maxLength": 2000,
                    "description": "what to mind in particular; it is given back beside it",
                },
            ),
            effect=Effect.READ,
            writes=Writes.NOTHING,
            timeout=10.0,
            resource="",
        ),
        get_guidance,
    ),
)
"""What a worker registers for guidance."""
