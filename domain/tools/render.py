"""The text of a model request: instructions, what can be called, which skills there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.agents.definition import AgentDefinition
    from domain.tools.effective import EffectiveView
    from domain.tools.registry import ToolSpec

LINE_LIMIT = 200
"""How many characters of a description stand in a list."""

_NONE = "You have no tools in this turn. Do not ask for any: answer in text."
_NATIVE = "You can call these tools, by exactly these names, and no others:"
_LAZY = (
    "You can call these tools, by exactly these names, and no others. Where a tool's schema "
    'is not given to you, fetch it by name with get_api_spec({"tool_names": ["NAME"]}) and '
    'then call it with call_tool({"name": "NAME", "arguments": {...}}):'
)


def native_tools(view: EffectiveView) -> tuple[ToolSpec, ...]:
    """Give the tools that go to the provider with their schemas, by name."""
    return view.tools


def tool_manifest(view: EffectiveView) -> str:
    """Render what can be called and what cannot: the same bytes while the view is the same."""
    lines = ["<available_tools>"]
    if view.specs:
        lines.append(_LAZY if view.lazy else _NATIVE)
        lines += [_line(spec.name, spec.description) for spec in view.specs.values()]
    else:
        lines.append(_NONE)
    if view.hidden:
        lines.append("These belong to you but cannot be called now:")
        lines += [_line(name, why) for name, why in view.hidden.items()]
    if view.absent:
        lines.append(
            "Your texts speak of these, but they are not yours and cannot be called: "
            + ", ".join(view.absent)
        )
    return "\n".join([*lines, "</available_tools>"])


def skill_list(definition: AgentDefinition) -> str:
    """Render which skills there are, "" where there are none."""
    if not definition.skills:
        return ""
    head = "These skills are yours. Read one with read_skill before you work by it:"
    lines = [_line(skill.name, skill.description) for skill in definition.skills]
    return "\n".join(["<skills>", head, *lines, "</skills>"])


def render_request(definition: AgentDefinition, view: EffectiveView) -> str:
    """Render the exact system text of a request: the one that is sent and the one shown."""
    parts = [definition.instructions.strip(), tool_manifest(view), skill_list(definition)]
    return "\n\n".join(part for part in parts if part)


def _line(name: str, text: str) -> str:
    """Put a name and its text on one line, bounded."""
    flat = " ".join(text.split())
    cut = flat if len(flat) <= LINE_LIMIT else flat[: LINE_LIMIT - 3].rstrip() + "..."
    return f"- {name}: {cut}" if cut else f"- {name}"
