"""The write_file and delete_file tools: a file made, replaced or removed as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.tools.arguments import encoded, text
from activities.tools.change import expect, probe_change, remove_file, replace_file
from activities.tools.contents import MOST_TEXT, current, digest_of
from activities.tools.paths import place_to_change
from activities.tools.receipts import alone
from activities.tools.refusals import answering
from activities.tools.watch import watch
from domain.agents.profile import require_writer
from domain.errors import LegatoError, refused
from domain.ports import Absent, Executed, Probed, ToolContext, ToolReturn
from domain.tools.results import ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json


def write_file(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Make or replace a file; raises `not_a_writer`, every other refusal is an outcome."""
    require_writer(context.claim, "write_file")
    return _write(arguments, context)


@answering
def _write(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    data = encoded(text(arguments, "content") or "", "content")
    if len(data) > MOST_TEXT:
        raise refused(
            "content_too_large",
            f"the content has {len(data)} bytes, at most {MOST_TEXT} are written",
            next="split it into several files",
        )
    seen = watch(context)
    with alone(context, seen), place_to_change(context, str(arguments["path"])) as place:
        found = current(place, seen)
        expect(place.path, found, text(arguments, "expected_revision"))
        verb = "replaced" if found else "created"
        seen.check()
        return replace_file(context, place, found, data, f"{verb} {place.path}: {len(data)} bytes")


def probe_write(arguments: Mapping[str, Json], context: ToolContext) -> Probed:
    """Tell what became of an earlier write_file: by its receipt, else by the content itself."""
    judged = probe_change(arguments, context)
    if isinstance(judged, Absent) and _has_content(arguments, context):
        return Executed(ok(f"{arguments['path']} already has exactly this content"))
    return judged


def _has_content(arguments: Mapping[str, Json], context: ToolContext) -> bool:
    try:
        data = encoded(text(arguments, "content") or "", "content")
        with place_to_change(context, str(arguments["path"])) as place:
            found = current(place, watch(context))
    except (OSError, LegatoError):
        return False
    return found is not None and found.digest == digest_of(data)


def delete_file(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Remove a file; raises `not_a_writer`, every other refusal is an outcome."""
    require_writer(context.claim, "delete_file")
    return _delete(arguments, context)


@answering
def _delete(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    seen = watch(context)
    with alone(context, seen), place_to_change(context, str(arguments["path"])) as place:
        found = current(place, seen)
        if found is None:
            raise FileNotFoundError(2, "No such file", place.path)
        expect(place.path, found, text(arguments, "expected_revision"))
        seen.check()
        return remove_file(context, place, found, f"deleted {place.path}")
