"""The read_file tool: a window of a text file with the revision of the whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from activities.tools.arguments import whole
from activities.tools.contents import MOST_TEXT, Found, after_newlines, as_text, open_regular, scan
from activities.tools.paths import parent_of, place_to_read
from activities.tools.refusals import answering
from activities.tools.watch import watch
from domain.errors import LegatoError, refused
from domain.ports import Executed, ToolContext, ToolReturn
from domain.tools.results import ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json

_ALL_LINES = 2**31


@answering
def read_file(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Read lines of a text file, at most 5 MiB of them.

    Refused with `binary_file`, `offset_past_end`, `file_too_large`, or what the path is
    refused with.
    """
    first = whole(arguments, "offset_line", 1)
    most = whole(arguments, "limit_lines", _ALL_LINES)
    with (
        place_to_read(context, str(arguments["path"])) as place,
        parent_of(place) as (folder, name),
        open_regular(folder, name, place.path) as opened,
    ):
        found = scan(opened, place.path, watch(context), first)
        if found.has_nul:
            raise _binary(place.path, found)
        if found.start is None:
            raise refused(
                "offset_past_end",
                f"{place.path} has {found.lines} lines, none at {first}",
                next="ask for an offset_line within them",
            )
        data = _window(os.pread(opened, MOST_TEXT + 1, found.start), most)
    decoded = as_text(data)
    if decoded is None:
        raise _binary(place.path, found)
    head = _head(place.path, found, first, data, decoded[1])
    return Executed(ok(f"{head}\n\n{decoded[0]}"))


def _binary(path: str, found: Found) -> LegatoError:
    return refused(
        "binary_file",
        f"{path} is no UTF-8 text: {found.size} bytes (revision: {found.revision})",
        next="leave it, or work on it with a tool for its format",
    )


def _window(data: bytes, most_lines: int) -> bytes:
    """Cut to whole lines; a line that is longer than all that may be read is cut itself."""
    window = data[: after_newlines(data, most_lines)] if most_lines < len(data) else data
    if len(window) <= MOST_TEXT:
        return window
    line_end = window.rfind(b"\n", 0, MOST_TEXT)
    return window[: line_end + 1] if line_end >= 0 else window[:MOST_TEXT]


def _head(path: str, found: Found, first: int, data: bytes, broken: int) -> str:
    unfinished = bool(data) and not data.endswith(b"\n")
    last = first - 1 + data.count(b"\n") + unfinished
    lines = [f"path: {path}", f"revision: {found.revision}", f"size: {found.size} bytes"]
    if not found.size:
        lines.append("lines: 0 (the file is empty)")
    elif last < found.lines:
        lines.append(f"lines: {first}-{last} of {found.lines} (go on with offset_line={last + 1})")
    else:
        lines.append(f"lines: {first}-{last} of {found.lines}")
    if unfinished and len(data) == MOST_TEXT and (found.start or 0) + len(data) < found.size:
        lines.append(f"note: line {last} is longer than {MOST_TEXT} bytes and is cut")
    if broken:
        lines.append(f"note: {broken} pieces that are no UTF-8 are shown as \ufffd")
    return "\n".join(lines)
