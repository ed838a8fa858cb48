"""The edit_file tool: exact pieces of a file replaced, all of them or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from activities.tools.arguments import encoded, text
from activities.tools.change import expect, replace_file
from activities.tools.contents import MOST_TEXT, whole
from activities.tools.paths import place_to_change
from activities.tools.receipts import alone
from activities.tools.refusals import answering
from activities.tools.watch import watch
from domain.agents.profile import require_writer
from domain.errors import LegatoError, problems, refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from activities.tools.contents import Found
    from domain.codec import Json
    from domain.ports import ToolContext, ToolReturn

_LINES_NAMED = 5


def edit_file(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Replace exact pieces of a file; raises `not_a_writer`, other refusals are outcomes."""
    require_writer(context.claim, "edit_file")
    return _edit(arguments, context)


@answering
def _edit(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    edits = cast("Sequence[Mapping[str, Json]]", arguments["edits"])
    seen = watch(context)
    with alone(context, seen), place_to_change(context, str(arguments["path"])) as place:
        found, data = whole(place, seen)
        expect(place.path, found, text(arguments, "expected_revision"), must=False)
        if found.has_nul:
            raise _binary(place.path, found)
        changed, count = _apply(place.path, found, data, edits)
        seen.check()
        told = f"edited {place.path}: {len(edits)} edits, {count} places, was {found.revision}"
        return replace_file(context, place, found, changed, told)


def _binary(path: str, found: Found) -> LegatoError:
    return refused(
        "binary_file",
        f"{path} is no text: {found.size} bytes (revision: {found.revision})",
        next="leave it, or work on it with a tool for its format",
    )


def _apply(
    path: str, found: Found, data: bytes, edits: Sequence[Mapping[str, Json]]
) -> tuple[bytes, int]:
    """Apply edits in order, each to what the ones before it made; all problems are told at once.

    Bytes that no edit names stay as they are, broken UTF-8 and line ends included.
    """
    wrong: list[str] = []
    places, before = 0, data
    for number, edit in enumerate(edits, 1):
        old = encoded(str(edit["old"]), f"edit {number}: old")
        new = encoded(str(edit["new"]), f"edit {number}: new")
        count = data.count(old) if old else 0
        problem = _problem(data, old, new, count, every=edit.get("all") is True)
        if problem is not None:
            wrong.append(f"edit {number}: {problem}")
        elif len(data) + count * (len(new) - len(old)) > MOST_TEXT:
            wrong.append(f"edit {number}: the file would grow beyond {MOST_TEXT} bytes")
        else:
            data, places = data.replace(old, new), places + count
    if not wrong and data == before:
        wrong.append("together the edits change nothing")
    if wrong:
        raise problems(
            "edits_not_applicable",
            f"{path} (revision: {found.revision}) was left as it is",
            wrong,
            next="read the file again and send all the edits anew",
        )
    return data, places


def _problem(data: bytes, old: bytes, new: bytes, count: int, *, every: bool) -> str | None:
    if not old:
        return "old is empty"
    if old == new:
        return "old and new are the same"
    if count == 0:
        return "old was not found" + _line_ends(data, old)
    if count > 1 and not every:
        lines = _lines_with(data, old)
        return f"old was found {count} times (lines {lines}): give more of it, or all=true"
    return None


def _line_ends(data: bytes, old: bytes) -> str:
    r"""Say so where only the line ends differ: the file has \r\n and the edit has \n."""
    if b"\n" in old and b"\r" not in old and data.count(old.replace(b"\n", b"\r\n")):
        return r"; the file ends its lines with \r\n: write them so in old and new"
    return ""


def _lines_with(data: bytes, old: bytes) -> str:
    lines: list[str] = []
    position = data.find(old)
    while position >= 0 and len(lines) < _LINES_NAMED:
        lines.append(str(data.count(b"\n", 0, position) + 1))
        position = data.find(old, position + len(old))
    return ", ".join(lines) + (", ..." if position >= 0 else "")
