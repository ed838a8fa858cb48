"""The shell tool: runs a command line in the workspace, confined, by the durable runner.

A command's output is bytes from anywhere. For people and models it becomes text as
follows: UTF-8, anything else as U+FFFD; CR LF as a line end; every other control
character as its visible picture (U+2400 and on), so that a terminal sequence reads as
"␛[31m" and does nothing, and NUL is "␀". The bytes stay as they came in the call folder.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from activities.tools import confine
from activities.tools.changed import changed_since
from activities.tools.commands import (
    OUTPUT_LIMIT,
    Command,
    CommandEnd,
    Ended,
    EndedBy,
    Lost,
    NeverBegun,
    Running,
    read_output,
    run_command,
    shell_argv,
    wait_command,
)
from activities.tools.runner import BEGUN
from domain.agents.profile import Profile
from domain.codec import clean_text
from domain.errors import LegatoError, refused
from domain.ports import Absent, Executed, Probed, Tool, ToolContext, ToolReturn, Unclear
from domain.tools.registry import Effect, Writes, tool_spec
from domain.tools.results import Outcome, error, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json

LOCK = "workspace.lock"
"""The file in a workspace's stores that keeps its commands apart."""

_LIMIT = 600.0
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}

_SPEC = tool_spec(
    "shell",
    "Run a command line in the workspace (bash where it is installed, else sh) and return its "
    "exit status and output, stdout and stderr together. Only the workspace and a private /tmp "
    "can be changed; HOME is empty and private. There is no network beyond a loopback of the "
    "command's own unless the workspace grants it, no terminal and no input. Background processes "
    "end with the command.",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "The command line."},
            "timeout_seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "End the command after this time; the default is 600.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    effect=Effect.PROBEABLE,
    writes=Writes.COPY,
    needs=("confinement",),
    timeout=_LIMIT,
)


def readable_text(output: bytes) -> str:
    """Make text of a command's output; the module's docstring says how."""
    text = output.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.translate(_PICTURES)


def outcome_of(end: CommandEnd) -> Outcome:
    """Tell what a command's end means: exit 0 is ok, all else an error with the output."""
    output = readable_text(read_output(end))
    if end.output_bytes > OUTPUT_LIMIT:
        output += f"\n[{end.output_bytes} bytes were printed, {OUTPUT_LIMIT} were kept]"
    match end.ended_by:
        case EndedBy.LIMIT if not end.began:
            return error("time_limit", "not started: the workspace stayed busy to the time limit")
        case EndedBy.LIMIT:
            return error("time_limit", f"ended by its time limit after {end.seconds} s\n{output}")
        case EndedBy.STOP if not end.began:
            return error("stopped", "not started: a stop came first")
        case EndedBy.STOP:
            return error("stopped", f"ended by a stop after {end.seconds} s\n{output}")
        case EndedBy.EXIT:
            text = f"exit status {end.exit_code}\n{output}"
            return ok(text) if end.exit_code == 0 else error("exit_status", text)


@functools.cache
def _confinement() -> confine.Confinement:
    return confine.detect()


def _protected(context: ToolContext) -> tuple[str, ...]:
    """List what no command may see: Legato's own folder, and the stores wherever they are."""
    return (context.stores, context.home)


def _command(arguments: Mapping[str, Json], context: ToolContext) -> Command:
    asked = arguments.get("timeout_seconds")
    limit = min(context.limit, float(asked)) if isinstance(asked, int | float) else context.limit
    return Command(
        argv=shell_argv(str(arguments["command"])),
        cwd=context.workspace,
        workspace=context.workspace,
        limit=limit,
        writable=context.claim.profile is Profile.WRITER,
        level=_confinement().level,
        lock=str(Path(context.stores, LOCK)),
        protected=_protected(context),
        network=context.network,
        environment=context.environment,
    )


def execute(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Run the command; raises `shell_unavailable` where nothing confines it, or no workspace."""
    found = _confinement()
    if found.level is confine.Level.NONE or not context.workspace:
        raise refused(
            "shell_unavailable",
            "commands cannot be run here",
            cause=found.reason if context.workspace else "this run has no workspace",
            next="go on without the shell tool; do not try again",
        )
    try:
        end = run_command(_command(arguments, context), context.call_folder, context.stop)
    except LegatoError as problem:
        return _unclear(problem)
    return _executed(end, context)


def _executed(end: CommandEnd, context: ToolContext) -> Executed:
    """Give the outcome with the files that changed while the command ran."""
    outcome = outcome_of(end)
    begun = Path(context.call_folder, BEGUN)
    if not end.began or context.claim.profile is not Profile.WRITER:
        return Executed(outcome)
    changed = changed_since(Path(context.workspace), begun.stat().st_ctime_ns)
    return Executed(outcome.model_copy(update={"changed": tuple(map(clean_text, changed))}))


def probe(arguments: Mapping[str, Json], context: ToolContext) -> Probed:
    """Tell what became of the command; one that still runs is waited for."""
    limit = _command(arguments, context).limit
    try:
        found = wait_command(context.call_folder, limit, context.stop)
    except LegatoError as problem:
        return _unclear(problem)
    match found:
        case Ended(end):
            return _executed(end, context)
        case NeverBegun():
            return Absent()
        case Lost(reason):
            return Unclear(reason)
        case Running():
            return Unclear("the command still runs")


def _unclear(problem: LegatoError) -> Unclear:
    """Leave to a person what cannot be told; raises any other error again."""
    if problem.code not in {"command_lost", "command_stuck"}:
        raise problem
    return Unclear(f"{problem.message}: {problem.cause}")


SHELL_TOOLS: tuple[Tool, ...] = (Tool(_SPEC, execute, probe),)
