"""One model request as people read it: system text, messages, tools, and whether it is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.runs.conversation import AssistantMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from rich.console import RenderableType

    from domain.runs.conversation import Message
    from domain.runs.sent import Sent


def request_screen(sent: Sent) -> RenderableType:
    """Show the request as it was sent, text by text."""
    asked = sent.requested
    where = f"turn {asked.turn}, step {asked.step}, request {asked.n}"
    head = Text(f"request {sent.number} of {sent.of}", style="bold").append(
        f"  {where}  to {asked.model or 'the pipeline'}", style="dim"
    )
    shown: list[RenderableType] = [head, _exact(sent)]
    shown += [_heading("system"), _raw(sent.system)]
    for message in sent.messages:
        shown += [_heading(_who(message)), _raw(_said(message))]
    shown.append(_heading(f"tools ({len(sent.tools)})"))
    for tool in sent.tools:
        text = Text(tool.name, style="bold").append(f"  {tool.description}", style="")
        shown += [text, _raw(f"  {tool.schema}")]
    return Group(*shown)


def _exact(sent: Sent) -> Text:
    if sent.view_same and sent.request_same:
        said = "exactly what was sent: view and request have the digests recorded before it"
        return Text(said, style="green")
    parts = {"the tools": sent.view_same, "the text": sent.request_same}
    differing = " and ".join(name for name, same in parts.items() if not same)
    return Text(
        f"not exact: {differing} of this rendering differ from the recorded digest; the worker "
        "that sent it had other tools than this installation",
        style="bold red",
    )


def _heading(text: str) -> Text:
    return Text(f"--- {text} ---", style="bold cyan")


def _raw(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ignore")


def _who(message: Message) -> str:
    match message:
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "assistant"
        case ToolMessage():
            return f"tool {message.name}"


def _said(message: Message) -> str:
    if not isinstance(message, AssistantMessage):
        return message.text
    calls = [f"[call {one.name} {one.arguments}]" for one in message.calls]
    return "\n".join([*([message.text] if message.text else []), *calls])
