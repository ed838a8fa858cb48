"""The knowledgebase of a workspace: notes that agents write, and context that people own."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from activities.tools import stores
from activities.tools.arguments import PATH, REVISION_PATTERN, object_schema
from activities.tools.change import probe_change
from activities.tools.listing import list_files
from activities.tools.paths import split_path
from activities.tools.reading import read_file
from activities.tools.search import DEFAULT_MATCHES, MOST_MATCHES, search_files
from activities.tools.stores import Store
from activities.tools.writing import probe_write
from domain.agents.profile import require_writer
from domain.agents.store_folders import CONTEXT, KNOWLEDGEBASE, NOTES
from domain.errors import refused
from domain.ports import Executed, Tool
from domain.tools.registry import Effect, ToolSpec, Writes, tool_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import ToolContext

KNOWLEDGE: Final = Store(
    folder=KNOWLEDGEBASE,
    called="knowledgebase",
    tools=MappingProxyType(
        {
            "list_files": "list_knowledge",
            "read_file": "read_knowledge",
            "write_file": "write_note",
            "delete_file": "delete_note",
        }
    ),
    largest=256 * 1024,
)


def _note(arguments: Mapping[str, Json]) -> str:
    """Give the path of a note; raises `protected_path` for all that agents do not write."""
    path = str(arguments["path"])
    parts = split_path(path, "/")
    if len(parts) < 2 or parts[0] != NOTES:  # noqa: PLR2004 - the folder and a name in it
        raise refused(
            "protected_path",
            f"{path} is not below {NOTES}/, and the rest of the knowledgebase is people's own",
            next=f"write a note below {NOTES}/, and say what should change in {CONTEXT}/",
        )
    return "/".join(parts)


def _write(arguments: Mapping[str, Json], context: ToolContext) -> Executed:
    require_writer(context.claim, "write_note")
    return stores.write(KNOWLEDGE, _note(arguments), arguments, context)


def _delete(arguments: Mapping[str, Json], context: ToolContext) -> Executed:
    require_writer(context.claim, "delete_note")
    return stores.remove(KNOWLEDGE, _note(arguments), arguments, context)


_PLACE: Final[dict[str, object]] = {**PATH, "description": "path relative to the knowledgebase"}
_NOTE: Final[dict[str, object]] = {**PATH, "description": f"path below {NOTES}/, as notes/a.md"}
_BELOW: Final[dict[str, object]] = {**_PLACE, "type": ["string", "null"]}
_REVISION: Final[dict[str, object]] = {
    "type": "string",
    "pattern": REVISION_PATTERN,
    "description": "the revision that read_knowledge showed",
}
_FLAG: Final[dict[str, object]] = {"type": ["boolean", "null"]}
_GLOB: Final[dict[str, object]] = {"type": ["string", "null"], "maxLength": 200}


def _number(most: int | None = None) -> dict[str, object]:
    number: dict[str, object] = {"type": ["integer", "null"], "minimum": 1}
    return number if most is None else {**number, "maximum": most}


def _reads(name: str, description: str, schema: dict[str, object]) -> ToolSpec:
    return tool_spec(
        name,
        description,
        schema,
        effect=Effect.READ,
        writes=Writes.NOTHING,
        resource=KNOWLEDGE.folder,
    )


def _changes(name: str, description: str, schema: dict[str, object]) -> ToolSpec:
    return tool_spec(name, description, schema, effect=Effect.PROBEABLE, resource=KNOWLEDGE.folder)


_LIST: Final = _reads(
    "list_knowledge",
    f"List the knowledgebase: {NOTES}/ is written by agents, {CONTEXT}/ by people only.",
    object_schema([], path=_BELOW, glob=_GLOB),
)
_SEARCH: Final = _reads(
    "search_knowledge",
    "Search the knowledgebase line by line: one line of the result for each match.",
    object_schema(
        ["pattern"],
        pattern={
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "a regular expression for one line, or plain text with regex=false",
        },
        path=_BELOW,
        glob=_GLOB,
        regex={**_FLAG, "description": "true by default"},
        ignore_case={**_FLAG, "description": "false by default"},
        max_matches={**_number(MOST_MATCHES), "description": f"{DEFAULT_MATCHES} by default"},
    ),
)
_READ: Final = _reads(
    "read_knowledge",
    "Read a text of the knowledgebase, with its revision.",
    object_schema(["path"], path=_PLACE, offset_line=_number(), limit_lines=_number()),
)
_WRITE: Final = _changes(
    "write_note",
    "Write a note to the knowledgebase, or replace all of one whose revision you read. One "
    "note, one subject, with where each statement comes from.",
    object_schema(
        ["path", "content"],
        path=_NOTE,
        content={"type": "string", "description": "the whole note"},
        expected_revision={**_REVISION, "type": ["string", "null"]},
    ),
)
_DELETE: Final = _changes(
    "delete_note",
    "Remove a note from the knowledgebase. Pass the revision that read_knowledge showed.",
    object_schema(["path", "expected_revision"], path=_NOTE, expected_revision=_REVISION),
)

KNOWLEDGE_TOOLS: Final[tuple[Tool, ...]] = (
    Tool(_LIST, stores.reading(KNOWLEDGE, list_files, "The knowledgebase is empty.")),
    Tool(_SEARCH, stores.reading(KNOWLEDGE, search_files, "The knowledgebase is empty.")),
    Tool(_READ, stores.reading(KNOWLEDGE, read_file, "")),
    Tool(_WRITE, stores.changing(KNOWLEDGE, _write), stores.probing(KNOWLEDGE, probe_write, _note)),
    Tool(
        _DELETE, stores.changing(KNOWLEDGE, _delete), stores.probing(KNOWLEDGE, probe_change, _note)
    ),
)
"""What a worker registers for the knowledgebase."""
