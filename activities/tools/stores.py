"""A workspace's store of texts: files in Legato's own folder, reached through its tools only."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from activities.tools.arguments import encoded, text
from activities.tools.change import expect, remove_file, replace_file
from activities.tools.contents import current
from activities.tools.paths import place_to_change
from activities.tools.receipts import alone
from activities.tools.refusals import refusal_of, text_of
from activities.tools.watch import watch
from domain.errors import LegatoError, refused
from domain.ports import Absent, Executed
from domain.tools.results import Tag, error, ok

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.codec import Json
    from domain.ports import Execute, Probe, Probed, ToolContext, ToolReturn

    Look = Callable[[Mapping[str, Json], ToolContext], Probed]


_WORDS = re.compile(r"(?<![\w./-])(?:the workspace|[a-z]+_files?)(?![\w/-]|\.\w)")
"""What a refusal may say of the file tools; the same words in a path are the path's."""


@dataclass(frozen=True)
class Store:
    """One store: its folder's name, what it is called, and what its own tools are called.

    `tools` gives, for each file tool that a refusal may speak of, the one to use here.
    `largest` is how many bytes one text may have.
    """

    folder: str
    called: str
    tools: Mapping[str, str]
    largest: int


def inside(store: Store, context: ToolContext) -> ToolContext:
    """Give the context in which a store's folder stands in the place of the workspace.

    Raises `no_workspace` for a run without one.
    """
    if not context.stores:
        raise refused(
            "no_workspace",
            f"this run has no workspace, so it has no {store.called}",
            next="start the run with a workspace",
        )
    return replace(context, workspace=str(Path(context.stores) / store.folder))


def reading(store: Store, execute: Execute, empty: str) -> Execute:
    """Read a store by a tool that reads files; `empty` answers where nothing was ever written.

    `empty` "" refuses then, as for a file that is not there.
    """

    @_answering(store)
    def run(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
        place = inside(store, context)
        if os.path.lexists(place.workspace):  # what is no folder is told by the tool
            return execute(arguments, place)
        if not empty:
            raise refusal_of(FileNotFoundError(errno.ENOENT, ""), str(arguments["path"]))
        return Executed(ok(empty))

    return run


def write(store: Store, path: str, arguments: Mapping[str, Json], context: ToolContext) -> Executed:
    """Make or replace one text, `content` of the arguments; raises what is refused."""
    data = encoded(text(arguments, "content") or "", "content")
    if b"\0" in data:
        raise refused(
            "invalid_text",
            "the content holds a NUL, and no text that does can be read back",
            next="send the text again without it",
        )
    if len(data) > store.largest:
        raise refused(
            "content_too_large",
            f"the content has {len(data)} bytes, at most {store.largest} are kept in one text",
            next="shorten it, or split it",
        )
    rooted, seen = inside(store, context), watch(context)
    Path(rooted.workspace).mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone(rooted, seen), place_to_change(rooted, path) as place:
        found = current(place, seen)
        expect(place.path, found, text(arguments, "expected_revision"))
        seen.check()
        verb = "replaced" if found else "wrote"
        return replace_file(rooted, place, found, data, f"{verb} {place.path}: {len(data)} bytes")


def remove(
    store: Store, path: str, arguments: Mapping[str, Json], context: ToolContext
) -> Executed:
    """Remove one text of the revision that was read; raises what is refused."""
    rooted, seen = inside(store, context), watch(context)
    with alone(rooted, seen), place_to_change(rooted, path) as place:
        found = current(place, seen)
        if found is None:
            raise refusal_of(FileNotFoundError(errno.ENOENT, ""), place.path)
        expect(place.path, found, text(arguments, "expected_revision"))
        seen.check()
        return remove_file(rooted, place, found, f"removed {place.path}")


def changing(
    store: Store, execute: Callable[[Mapping[str, Json], ToolContext], Executed]
) -> Execute:
    """Answer a change's refusals in the store's own words; no file of the workspace changed."""

    @_answering(store)
    def run(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
        return _of_no_file(execute(arguments, context))

    return run


def probing(store: Store, look: Look, path: Callable[[Mapping[str, Json]], str]) -> Probe:
    """Look in a store for what became of an earlier change, by the receipt that it left."""

    def run(arguments: Mapping[str, Json], context: ToolContext) -> Probed:
        try:
            rooted, where = inside(store, context), path(arguments)
        except LegatoError:
            return Absent()
        if not Path(rooted.workspace).is_dir():
            return Absent()
        judged = look({**arguments, "path": where}, rooted)
        return _of_no_file(judged) if isinstance(judged, Executed) else judged

    return run


def _of_no_file(done: Executed) -> Executed:
    return replace(done, outcome=done.outcome.model_copy(update={"changed": ()}))


def _answering(store: Store) -> Callable[[Callable[..., ToolReturn]], Execute]:
    """Make refusals outcomes that speak of the store and of its tools."""

    def wrap(execute: Callable[..., ToolReturn]) -> Execute:
        @wraps(execute)
        def run(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
            try:
                returned = execute(arguments, context)
            except LegatoError as exc:
                return _refused(store, exc.code, text_of(exc))
            except OSError as exc:
                problem = refusal_of(exc, str(arguments.get("path") or store.called))
                return _refused(store, problem.code, text_of(problem))
            if isinstance(returned, Executed) and returned.outcome.tag is Tag.ERROR:
                return _refused(store, returned.outcome.code, returned.outcome.text)
            return returned

        return run

    return wrap


def _refused(store: Store, code: str, says: str) -> Executed:
    words = {**store.tools, "the workspace": f"the {store.called}"}
    return Executed(error(code, _WORDS.sub(lambda word: words.get(word[0], word[0]), says)))
