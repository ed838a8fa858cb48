"""The search_files tool: lines that match a pattern, bounded in number, size and time."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from activities.tools.arguments import PATH, object_schema, text, whole, yes
from activities.tools.contents import open_regular
from activities.tools.globs import Glob, compile_glob
from activities.tools.paths import Place, folder_at, parent_of, place_to_read, shown
from activities.tools.patterns import LONGEST_LINE, Pattern, compile_pattern
from activities.tools.refusals import answering, text_of
from activities.tools.tree import Kind, Walk, entries
from activities.tools.watch import WHY_OVER, watch
from domain.errors import LegatoError
from domain.ports import Executed, Tool, ToolContext, ToolReturn
from domain.tools.registry import Effect, Writes, tool_spec
from domain.tools.results import Outcome, error, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json

MOST_MATCHES = 1000
DEFAULT_MATCHES = 100
LARGEST_FILE = 2 * 1024 * 1024
_SHOWN = 300
_BEFORE = 100


@dataclass
class Hunt:
    """One search: what to find, what was found as `path:line: text`, and what was searched."""

    walk: Walk
    pattern: Pattern
    glob: Glob | None
    most: int
    lines: list[str] = field(default_factory=list[str])
    with_match: int = 0
    files: int = 0
    problem: LegatoError | None = None

    def full(self) -> bool:
        """Tell whether as many matches as asked for were found, or the search must end."""
        return len(self.lines) >= self.most or self.problem is not None


@answering
def search_files(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Search the text files below a path, in a fixed order.

    Ends with `stopped`, `time_limit` or `pattern_too_slow` and what was found until then.
    """
    seen = watch(context)
    pattern = compile_pattern(
        str(arguments["pattern"]),
        seen,
        is_regex=yes(arguments, "regex", default=True),
        ignore_case=yes(arguments, "ignore_case", default=False),
    )
    only = text(arguments, "glob")
    glob = compile_glob(only) if only else None
    most = whole(arguments, "max_matches", DEFAULT_MATCHES)
    with place_to_read(context, text(arguments, "path") or ".") as place:
        hunt = Hunt(Walk(place, seen), pattern, glob, most)
        _search(hunt, place)
        return Executed(_outcome(hunt))


def _search(hunt: Hunt, place: Place) -> None:
    if place.parts:
        with parent_of(place) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                with open_regular(folder, name, place.path) as opened:
                    _search_file(hunt, opened, place.path)
                return
    with folder_at(place, place.parts) as folder:
        _search_folder(hunt, place, folder)


def _search_folder(hunt: Hunt, place: Place, folder: int) -> None:
    for entry in entries(hunt.walk, folder, place.parts):
        if hunt.full():
            return
        if entry.kind is not Kind.FILE:
            continue
        if hunt.glob is not None and not hunt.glob.matches(entry.parts[len(place.parts) :]):
            continue
        path = "/".join(entry.parts)
        try:
            with open_regular(entry.folder, entry.name, path) as opened:
                _search_file(hunt, opened, path)
        except (OSError, LegatoError):
            hunt.walk.leave_out("files that could not be opened")


def _search_file(hunt: Hunt, opened: int, path: str) -> None:
    data = os.pread(opened, LARGEST_FILE + 1, 0)
    if len(data) > LARGEST_FILE:
        hunt.walk.leave_out("files over 2 MiB")
    elif b"\0" in data:
        hunt.walk.leave_out("binary files")
    else:
        hunt.files += 1
        before = len(hunt.lines)
        try:
            _search_text(hunt, data.decode("utf-8", "replace").replace("\r\n", "\n"), path)
        except LegatoError as exc:
            hunt.problem = exc
        hunt.with_match += len(hunt.lines) > before


def _search_text(hunt: Hunt, content: str, path: str) -> None:
    if hunt.pattern.absent(content):
        return
    long = False
    for number, whole_line in enumerate(content.split("\n"), 1):
        line = whole_line[:LONGEST_LINE]
        long = long or len(line) < len(whole_line)
        try:
            position = hunt.pattern.find(line)
        except LegatoError as exc:
            raise _located(exc, path, number) from None
        if position >= 0:
            hunt.lines.append(f"{shown(path)}:{number}: {_excerpt(line, position)}")
            if hunt.full():
                break
    if long:
        hunt.walk.leave_out(f"files' line ends beyond {LONGEST_LINE} characters")


def _located(problem: LegatoError, path: str, number: int) -> LegatoError:
    message = f"{problem.message} ({shown(path)}:{number})"
    return LegatoError(problem.code, message, kind=problem.kind, next=problem.next)


def _excerpt(line: str, position: int) -> str:
    if len(line) <= _SHOWN:
        return line
    start = max(0, min(position - _BEFORE, len(line) - _SHOWN))
    end = start + _SHOWN
    return ("..." if start else "") + line[start:end] + ("..." if end < len(line) else "")


def _outcome(hunt: Hunt) -> Outcome:
    walk = hunt.walk
    notes = [f"{count} {why} left out" for why, count in sorted(walk.left_out.items())]
    if len(hunt.lines) >= hunt.most:
        notes.insert(0, f"ended at {hunt.most} matches: narrow it by path, glob or pattern")
    if walk.over == "entry_limit":
        notes.insert(0, "the tree is too large to be searched whole: search a folder of it")
    head = f"{len(hunt.lines)} matches in {hunt.with_match} of {hunt.files} files searched"
    body = "\n".join([head, *hunt.lines, *(f"[{note}]" for note in notes)])
    if hunt.problem is not None:
        return error(hunt.problem.code, f"{text_of(hunt.problem)} Found until then:\n{body}")
    if walk.over in WHY_OVER:
        return error(walk.over, f"{WHY_OVER[walk.over]}; found until then:\n{body}")
    return ok(body)


_SEARCH = tool_spec(
    "search_files",
    "Search the text files of the workspace line by line. The result has one line for each "
    "match: path:line: text. Binary files, files over 2 MiB and .git are left out, and the "
    "result says how many.",
    object_schema(
        ["pattern"],
        pattern={
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "a regular expression for one line, or plain text with regex=false",
        },
        path={
            **PATH,
            "type": ["string", "null"],
            "description": "file or folder to search; . by default",
        },
        glob={
            "type": ["string", "null"],
            "maxLength": 200,
            "description": "only these files, as *.py, src/**/*.ts or *.{js,ts}",
        },
        regex={"type": ["boolean", "null"], "description": "true by default"},
        ignore_case={"type": ["boolean", "null"], "description": "false by default"},
        max_matches={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": MOST_MATCHES,
            "description": f"{DEFAULT_MATCHES} by default",
        },
    ),
    effect=Effect.READ,
    writes=Writes.NOTHING,
)

SEARCH_TOOLS: tuple[Tool, ...] = (Tool(_SEARCH, search_files),)
