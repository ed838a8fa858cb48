"""What was accepted of a server: its tools as they stood, each with its hash."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar, Literal

from domain.codec import clean_text, digest
from domain.event import Event
from domain.runs.conversation import Frozen, Text

if TYPE_CHECKING:
    from collections.abc import Sequence


class Hints(Frozen):
    """What a server says of a tool; None where it says nothing. Nobody has checked it."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class OfferedTool(Frozen):
    """A tool as a server offers it: the schemas are canonical JSON text, "" for none."""

    name: Text
    title: Text = ""
    description: Text = ""
    argument_schema: Text
    result_schema: Text = ""
    hints: Hints = Hints()

    @property
    def hash(self) -> str:
        """The digest of everything that is accepted of it."""
        return digest(self.model_dump(mode="json"))


class McpAccepted(Event):
    """A person accepted the tools of a server as they stand here; `n` counts the times.

    `address` is where the server was, or `$NAME` for the variable that says so; `digest` covers
    all tools. Agents that are built from then on have these.
    """

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["mcp.accepted"] = "mcp.accepted"
    n: int
    server: str
    address: str
    tools: tuple[OfferedTool, ...]
    digest: str


def snapshot_digest(tools: Sequence[OfferedTool]) -> str:
    """Take the digest of a server's tools, whatever their order."""
    return digest(sorted([tool.name, tool.hash] for tool in tools))


class Change(Frozen):
    """One tool that is not what it was: `parts` name what differs of one that stayed."""

    tool: str
    what: Literal["added", "removed", "changed"]
    parts: tuple[str, ...] = ()


_PARTS = ("title", "description", "argument_schema", "result_schema", "hints")


def changes(before: Sequence[OfferedTool], now: Sequence[OfferedTool]) -> tuple[Change, ...]:
    """Say how a server's tools differ from the accepted ones, by name."""
    old = {tool.name: tool for tool in before}
    new = {tool.name: tool for tool in now}
    found: list[Change] = []
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            found.append(Change(tool=name, what="added"))
        elif name not in new:
            found.append(Change(tool=name, what="removed"))
        elif old[name] != new[name]:
            one, other = old[name], new[name]
            parts = tuple(p for p in _PARTS if getattr(one, p) != getattr(other, p))
            found.append(Change(tool=name, what="changed", parts=parts))
    return tuple(found)


def schema_text(schema: object) -> str:
    """Write a schema as canonical JSON text, "" for none."""
    if schema is None:
        return ""
    text = json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return clean_text(text)
