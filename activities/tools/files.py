"""The file tools as the registry knows them: read, list, write, edit, delete."""

from __future__ import annotations

from activities.tools.arguments import PATH, REVISION_PATTERN, object_schema
from activities.tools.change import probe_change
from activities.tools.editing import edit_file
from activities.tools.listing import DEFAULT_DEPTH, MOST_LISTED, list_files
from activities.tools.reading import read_file
from activities.tools.tree import DEEPEST
from activities.tools.writing import delete_file, probe_write, write_file
from domain.ports import Tool
from domain.tools.registry import Effect, Writes, tool_spec

_REVISION: dict[str, object] = {
    "type": "string",
    "pattern": REVISION_PATTERN,
    "description": "the revision that read_file showed",
}
_REVISION_OR_NULL: dict[str, object] = {**_REVISION, "type": ["string", "null"]}

_READ = tool_spec(
    "read_file",
    "Read a text file of the workspace. The result begins with path, revision, size and "
    "lines, then an empty line, then the text as it is. Pass the revision on to write_file, "
    "edit_file and delete_file.",
    object_schema(
        ["path"],
        path=PATH,
        offset_line={
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "first line to read, from 1",
        },
        limit_lines={
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "most lines to read; all when left out",
        },
    ),
    effect=Effect.READ,
    writes=Writes.NOTHING,
)
_LIST = tool_spec(
    "list_files",
    f"List files and folders of the workspace, by name, at most {MOST_LISTED}. Folders end "
    "with /, links show where they point. What is in .git is left out.",
    object_schema(
        [],
        path={**PATH, "type": ["string", "null"], "description": "folder to list; . by default"},
        depth={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": DEEPEST,
            "description": f"how many folders down; {DEFAULT_DEPTH} by default",
        },
        glob={
            "type": ["string", "null"],
            "maxLength": 200,
            "description": "only these, as *.py, src/**/*.ts or *.{js,ts}; names without / "
            "match in every folder",
        },
    ),
    effect=Effect.READ,
    writes=Writes.NOTHING,
)
_WRITE = tool_spec(
    "write_file",
    "Create a file of the workspace, or replace all of it. To replace, pass the revision that "
    "read_file showed; to change parts of a file use edit_file. Folders are made as needed.",
    object_schema(
        ["path", "content"],
        path=PATH,
        content={"type": "string", "description": "the whole new content"},
        expected_revision=_REVISION_OR_NULL,
    ),
    effect=Effect.PROBEABLE,
)
_EDIT = tool_spec(
    "edit_file",
    "Replace exact pieces of a file of the workspace: all edits are made, in order, or none. "
    "Each old must occur exactly once (or all=true), letter by letter, with its spaces and "
    "line ends. The result names the new revision.",
    object_schema(
        ["path", "edits"],
        path=PATH,
        expected_revision=_REVISION_OR_NULL,
        edits={
            "type": "array",
            "minItems": 1,
            "maxItems": 100,
            "items": object_schema(
                ["old", "new"],
                old={"type": "string", "minLength": 1},
                new={"type": "string"},
                all={"type": ["boolean", "null"], "description": "replace every occurrence"},
            ),
        },
    ),
    effect=Effect.PROBEABLE,
)
_DELETE = tool_spec(
    "delete_file",
    "Delete one file of the workspace. Pass the revision that read_file showed.",
    object_schema(["path", "expected_revision"], path=PATH, expected_revision=_REVISION),
    effect=Effect.PROBEABLE,
)

FILE_TOOLS: tuple[Tool, ...] = (
    Tool(_READ, read_file),
    Tool(_LIST, list_files),
    Tool(_WRITE, write_file, probe_write),
    Tool(_EDIT, edit_file, probe_change),
    Tool(_DELETE, delete_file, probe_change),
)
