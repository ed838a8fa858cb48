"""The list_files tool: what is in a folder, bounded, in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.tools.arguments import text, whole
from activities.tools.beneath import read_link
from activities.tools.globs import compile_glob
from activities.tools.paths import folder_at, place_to_read, shown
from activities.tools.refusals import answering
from activities.tools.tree import Entry, Kind, Walk, entries
from activities.tools.watch import WHY_OVER, watch
from domain.ports import Executed, ToolContext, ToolReturn
from domain.tools.results import Outcome, error, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json

MOST_LISTED = 1000
DEFAULT_DEPTH = 3


@answering
def list_files(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """List a folder, at most 1,000 entries; the rest is counted.

    Ends with `stopped` or `time_limit` and what was found where it could not finish.
    """
    pattern = text(arguments, "glob")
    glob = compile_glob(pattern) if pattern else None
    depth = whole(arguments, "depth", DEFAULT_DEPTH)
    lines, more = list[str](), 0
    with (
        place_to_read(context, text(arguments, "path") or ".") as place,
        folder_at(place, place.parts) as folder,
    ):
        walk = Walk(place, watch(context), depth)
        for entry in entries(walk, folder, place.parts):
            if glob is not None and not glob.matches(entry.parts[len(place.parts) :]):
                continue
            if len(lines) < MOST_LISTED:
                lines.append(_line(entry))
            else:
                more += 1
    return Executed(_outcome(walk, lines, more))


def _line(entry: Entry) -> str:
    path = shown("/".join(entry.parts))
    if entry.kind is Kind.FOLDER:
        return path + "/"
    if entry.kind is Kind.LINK:
        return f"{path} -> {shown(_target(entry))}"
    return path if entry.kind is Kind.FILE else f"{path} (no regular file)"


def _target(entry: Entry) -> str:
    try:
        return read_link(entry.folder, entry.name) or "?"
    except OSError:
        return "?"


def _outcome(walk: Walk, lines: list[str], more: int) -> Outcome:
    notes = [f"{count} {why} left out" for why, count in sorted(walk.left_out.items())]
    if more:
        notes.insert(0, f"{more} more entries left out: list a folder of them, or use glob")
    if walk.over == "entry_limit":
        notes.insert(0, "the tree is too large to be counted: list a folder of it")
    head = f"{walk.place.path}: {len(lines)} entries"
    body = "\n".join([head, *lines, *(f"[{note}]" for note in notes)])
    if walk.over in WHY_OVER:
        return error(walk.over, f"{WHY_OVER[walk.over]}; found until then:\n{body}")
    return ok(body)
