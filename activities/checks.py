"""Runs the coded checks of a prevalidation: commands, files, rows of the workflow database."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from activities.tools.commands import Command, EndedBy, read_output, run_command, shell_argv
from activities.tools.confine import Level
from activities.tools.contents import whole
from activities.tools.paths import place_to_read
from activities.tools.shell import LOCK, readable_text
from activities.tools.watch import watch
from domain.codec import decode
from domain.errors import LegatoError
from domain.ports import Executed
from domain.runs.sequence import Check, CommandCheck, FileCheck, RowsCheck
from domain.tools.results import Tag

if TYPE_CHECKING:
    from domain.codec import Json
    from domain.ports import Tool, ToolContext

MOST_OUTPUT = 5000

CANNOT_RUN = {
    126: "cannot be executed (exit status 126)",
    127: "was not found (exit status 127)",
}
"""What a shell's exit status says of a command that never began: no repair can help."""


@dataclass(frozen=True)
class Checked:
    """How one check ended: `failure` "" where it passed; `terminal` where it cannot run."""

    report: str
    failure: str = ""
    terminal: bool = False
    stopped: bool = False


def run_check(check: Check, context: ToolContext, level: str, query: Tool | None) -> Checked:
    """Run one check on a thread; a command's outcome survives the worker in its call folder."""
    try:
        match check:
            case CommandCheck():
                return _run_command(check, context, level)
            case FileCheck():
                return _check_file(check, context)
            case RowsCheck():
                return _check_rows(check, context, query)
    except LegatoError as exc:
        report = f"{exc.code}: {exc.message}"
        return Checked(report, failure=report, terminal=True)


def _command(check: CommandCheck, context: ToolContext, level: str) -> Command:
    return Command(
        argv=shell_argv(check.command),
        cwd=context.workspace,
        workspace=context.workspace,
        limit=check.limit,
        writable=True,
        level=Level(level),
        lock=str(Path(context.stores, LOCK)),
        protected=(context.stores, context.home),
        network=context.network,
        environment=context.environment,
    )


def _run_command(check: CommandCheck, context: ToolContext, level: str) -> Checked:
    """Run a command check; where its runner was lost it is run once more: it is a check."""
    command = _command(check, context, level)
    try:
        end = run_command(command, context.call_folder, context.stop)
    except LegatoError as exc:
        if exc.code != "command_lost":
            raise
        end = run_command(command, context.call_folder + "-again", context.stop)
    if end.ended_by is EndedBy.STOP:
        return Checked(f"`{check.command}` was stopped", stopped=True)
    if end.ended_by is EndedBy.EXIT and end.exit_code == 0:
        return Checked(f"`{check.command}` passed in {end.seconds:.1f} s")
    output = readable_text(read_output(end))[-MOST_OUTPUT:]
    if end.ended_by is EndedBy.EXIT and end.exit_code in CANNOT_RUN:
        report = f"`{check.command}` {CANNOT_RUN[end.exit_code]}: {output.strip()}"
        return Checked(report, failure=report, terminal=True)
    why = "its time limit" if end.ended_by is EndedBy.LIMIT else f"exit status {end.exit_code}"
    failure = f"`{check.command}` ended with {why}:\n{output}"
    return Checked(f"`{check.command}` failed: {why}", failure=failure)


def _check_file(check: FileCheck, context: ToolContext) -> Checked:
    try:
        with place_to_read(context, check.path) as place:
            _, data = whole(place, watch(context))
    except FileNotFoundError:
        return Checked(f"{check.path} is missing", failure=f"the file {check.path} does not exist")
    if not check.json_path:
        return Checked(f"{check.path} is there")
    try:
        found = _at(decode(data), check.json_path)
    except (ValueError, LookupError, TypeError) as exc:
        failure = f"{check.path} has nothing at {check.json_path}: {type(exc).__name__}"
        return Checked(failure, failure=failure)
    if check.equals is not None and found != check.equals:
        failure = f"{check.path} at {check.json_path} is {found!r}, expected {check.equals!r}"
        return Checked(failure, failure=failure)
    return Checked(f"{check.path} at {check.json_path} is as expected")


def _at(value: Json, path: str) -> Json:
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)]
        else:
            value = cast("dict[str, Json]", value)[part]
    return value


def _check_rows(check: RowsCheck, context: ToolContext, query: Tool | None) -> Checked:
    """Count the rows of a read-only query."""
    if query is None:
        report = "this worker cannot query the workflow database"
        return Checked(report, failure=report, terminal=True)
    asked: dict[str, Json] = {"sql": check.sql, "max_rows": check.at_least}
    came = query.execute(asked, replace(context, limit=30.0))
    if not isinstance(came, Executed) or came.outcome.tag is not Tag.OK:
        text = came.outcome.text if isinstance(came, Executed) else "no outcome"
        return Checked(text, failure=text, terminal=True)
    rows = cast("dict[str, Json]", json.loads(came.outcome.text)).get("rows", [])
    count = len(cast("list[Json]", rows))
    if count < check.at_least:
        failure = f"`{check.sql}` gave {count} rows, at least {check.at_least} are expected"
        return Checked(failure, failure=failure)
    return Checked(f"`{check.sql}` gave at least {check.at_least} rows")
