"""The learnings of a workspace: what runs found out about the work itself, a text a topic."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from activities.tools import stores
from activities.tools.arguments import REVISION_PATTERN, object_schema
from activities.tools.change import probe_change
from activities.tools.listing import list_files
from activities.tools.paths import shown
from activities.tools.reading import read_file
from activities.tools.stores import Store
from activities.tools.writing import probe_write
from domain.agents import store_folders as folders
from domain.agents.profile import require_writer
from domain.errors import refused
from domain.ports import Executed, Tool
from domain.tools.registry import Effect, ToolSpec, Writes, tool_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
from domain.ports import ToolContext, ToolReturn

LEARNINGS: Final = Store(
    folder=folders.LEARNINGS,
    called="learnings",
    tools=MappingProxyType(
        {
            "list_files": "read_learnings",
            "read_file": "read_learnings",
            "write_file": "write_learning",
            "delete_file": "delete_learning",
        }
    ),
    largest=64 * 1024,
)


def _place(arguments: Mapping[str, Json]) -> str:
    """Give a topic's file; raises `invalid_path` where a schema's $ let a newline pass."""
    topic = str(arguments.get("topic"))
    if not re.fullmatch(_NAME, topic) or topic.endswith("\n"):
        raise refused(
            "invalid_path",
            f"{shown(topic)} is no topic",
            next="use small letters, digits and dashes",
        )
    return f"{topic}.md"


def _read(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Read one topic whole, or list them where none is named."""
    if arguments.get("topic") is None:
        return list_files({"glob": "*.md", "depth": 1}, context)
    return read_file({"path": _place(arguments)}, context)


def _read_any(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    empty = "" if arguments.get("topic") is not None else "There are no learnings yet."
    named = shown(f"{arguments.get('topic')}.md")
    return stores.reading(LEARNINGS, _read, empty)({**arguments, "path": named}, context)


def _write(arguments: Mapping[str, Json], context: ToolContext) -> Executed:
    require_writer(context.claim, "write_learning")
    return stores.write(LEARNINGS, _place(arguments), arguments, context)


def _delete(arguments: Mapping[str, Json], context: ToolContext) -> Executed:
    require_writer(context.claim, "delete_learning")
    return stores.remove(LEARNINGS, _place(arguments), arguments, context)


_NAME: Final = "^[a-z0-9][a-z0-9-]{0,63}$"
_TOPIC: Final[dict[str, object]] = {
    "type": "string",
    "pattern": _NAME,
    "description": "one topic: small letters, digits and dashes",
}
_REVISION: Final[dict[str, object]] = {
    "type": "string",
    "pattern": REVISION_PATTERN,
    "description": "the revision that read_learnings showed",
}


def _changes(name: str, description: str, schema: dict[str, object]) -> ToolSpec:
    return tool_spec(name, description, schema, effect=Effect.PROBEABLE, resource=LEARNINGS.folder)


_READ: Final = tool_spec(
    "read_learnings",
    "Read what earlier runs learned about a topic, whole; without a topic list what there is "
    "(NAME.md is the topic NAME).",
    object_schema([], topic={**_TOPIC, "type": ["string", "null"]}),
    effect=Effect.READ,
    writes=Writes.NOTHING,
    resource=LEARNINGS.folder,
)
_WRITE: Final = _changes(
    "write_learning",
    "Write down what later runs should know about a topic, or replace all of it, with the "
    "revision that you read. What was learned and by what it was seen, no diary.",
    object_schema(
        ["topic", "content"],
        topic=_TOPIC,
        content={"type": "string", "description": "the whole text of the topic"},
        expected_revision={**_REVISION, "type": ["string", "null"]},
    ),
)
_DELETE: Final = _changes(
    "delete_learning",
    "Remove a topic of the learnings. Pass the revision that read_learnings showed.",
    object_schema(["topic", "expected_revision"], topic=_TOPIC, expected_revision=_REVISION),
)

LEARNINGS_TOOLS: Final[tuple[Tool, ...]] = (
    Tool(_READ, _read_any),
    Tool(
        _WRITE, stores.changing(LEARNINGS, _write), stores.probing(LEARNINGS, probe_write, _place)
    ),
    Tool(
        _DELETE,
        stores.changing(LEARNINGS, _delete),
        stores.probing(LEARNINGS, probe_change, _place),
    ),
)
"""What a worker registers for the learnings."""
