"""The commands `agents list`, `agents show` and `agents lint`. They need no stack."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
from rich.text import Text

from domain.agents.files.agent_file import digest_of, to_json
from domain.agents.files.codes import Level
from domain.errors import LegatoError, refused
from legato.cli.console import Call, json_option
from legato.cli.screens.problems import problem_lines, report_screen
from legato.cli.spelling import spelled
from legato.settings import secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from domain.agents.files.agent_file import AgentFile
    from domain.agents.files.problems import Problem
    from legato.agent_files.discovery import Snapshot

TOKEN = "LEGATO_AGENT_SOURCE_TOKEN"  # noqa: S105 - a variable's name


_tool_option = click.option(
    "--tool", multiple=True, metavar="NAME", help="A tool that a plug-in brings; again for more."
)


class SourceOptions(TypedDict):
    """What the options that choose sources were given."""

    agents_dir: tuple[str, ...]
    agent_source_url: str
    workspace: str | None
    trust_project: bool
    conventional: bool
    tool: tuple[str, ...]


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command take the options that choose where agent files come from."""
    options = (
        click.option(
            "--agents-dir",
            multiple=True,
            metavar="DIR",
            help="A folder of agent files, before all others; again for more.",
        ),
        click.option(
            "--agent-source-url",
            default="",
            metavar="URL",
            help="A remote source in place of all folders.",
        ),
        click.option(
            "-w", "--workspace", metavar="DIR", help="The project, else the current folder."
        ),
        click.option(
            "--trust-project", is_flag=True, help="Trust the project's own agents in this call."
        ),
        click.option(
            "--conventional/--no-conventional",
            default=True,
            help="Search the usual folders of project and user.",
        ),
        _tool_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group("agents")
@json_option
def agents_command() -> None:
    """List, show and check agent files: named specialists of projects and users."""


@agents_command.command("list")
@source_options
@json_option
@click.pass_obj
def list_command(call: Call, **given: Unpack[SourceOptions]) -> int:
    """List the agents that there are here, and what is wrong with others."""
    from legato.cli.screens.agents import agents_screen  # noqa: PLC0415 - lint needs no roles

    snapshot = _read(call, given)
    agents = snapshot.registry.agents()
    document = {
        "ok": True,
        "agents": [_row(one) for one in agents],
        "problems": problem_rows(snapshot.problems),
        "withheld": [str(folder) for folder in snapshot.withheld],
    }
    call.show(document, lambda: agents_screen(agents))
    _tell(call, snapshot)
    return 0


@agents_command.command("show")
@click.argument("name")
@source_options
@json_option
@click.pass_obj
def show_command(call: Call, name: str, **given: Unpack[SourceOptions]) -> int:
    """Show one agent as Legato understood its file, instructions included."""
    from legato.cli.screens.agents import agent_screen  # noqa: PLC0415 - lint needs no roles

    snapshot = _read(call, given)
    found = snapshot.registry.located(name)
    if found is None:
        raise _unknown(name, snapshot)
    agent, where = found.agent, found.where
    document = {
        "ok": True,
        "agent": {**_row(agent), "body": agent.body},
        "where": where,
        "digest": digest_of(agent),
        "file_digest": found.digest,
        "problems": problem_rows(_about(snapshot.problems, where)),
    }
    call.show(document, lambda: agent_screen(agent, where))
    _say(call, problem_lines(_about(snapshot.problems, where)))
    return 0


@agents_command.command("lint")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--strict", is_flag=True, help="Fail on notes too, and on files without a header.")
@_tool_option
@json_option
@click.pass_obj
def lint_command(call: Call, paths: Sequence[str], *, strict: bool, tool: tuple[str, ...]) -> int:
    """Check agent files, and folders of them to any depth.

    One line a problem: file, line, code, what is wrong, what to do. Exit status 0 where
    every agent can be used as it is written, 1 where one is dropped or must be mended.
    """
    from legato.agent_files.lint import lint  # noqa: PLC0415 - the help loads no parser

    report = lint(paths, frozenset(tool))
    failed = report.failed(strict=strict)
    document = {
        "ok": not failed,
        "files": report.files,
        "kept": report.kept,
        "dropped": report.dropped,
        "problems": problem_rows(report.problems),
    }
    call.show(document, lambda: report_screen(report))
    return 1 if failed else 0


def _row(agent: AgentFile) -> dict[str, object]:
    """Give an agent as a document has it, its instructions left out."""
    fields = {key: value for key, value in to_json(agent).items() if key != "body"}
    return {"id": agent.id, "origin": agent.origin.value, **fields}


def problem_rows(problems: Sequence[Problem]) -> list[dict[str, object]]:
    """Give problems as a document has them."""
    return [{**asdict(one), "level": one.level.value} for one in problems]


def _read(call: Call, given: SourceOptions) -> Snapshot:
    from legato.agent_files.discovery import Wanted, read_agents  # noqa: PLC0415 - as above
    from legato.trust import is_trusted  # noqa: PLC0415 - the same

    settings = call.settings()
    workspace = _workspace(given["workspace"], settings.home)
    trusted = given["trust_project"] or (
        workspace is not None and is_trusted(settings.home, workspace)
    )
    wanted = Wanted(
        explicit=tuple(Path(one).expanduser() for one in given["agents_dir"] if one.strip()),
        workspace=workspace,
        trusted=trusted,
        conventional=given["conventional"],
        config_home=settings.config_home,
        user_home=settings.user_home,
        url=given["agent_source_url"] or settings.agent_source_url,
        token=secret(TOKEN) or "",
    )
    return read_agents(wanted, frozenset(given["tool"]))


def _workspace(given: str | None, home: Path) -> Path | None:
    """Find the workspace; the current folder, where none is named, need not be one."""
    from legato.workspaces import find_folder  # noqa: PLC0415 - the help loads no detection

    if given is not None:
        return find_folder(given, home)
    try:
        return find_folder(Path.cwd(), home)
    except (LegatoError, OSError):
        return None


def _tell(call: Call, snapshot: Snapshot) -> None:
    """Say on stderr what is wrong, and what was left out for want of trust."""
    _say(call, problem_lines(snapshot.problems))
    _say(
        call,
        (
            f"{folder} is left out: this workspace is not trusted. Look at its agents, then run "
            "`legato workspace trust`, or add --trust-project for once"
            for folder in snapshot.withheld
        ),
    )


def _say(call: Call, lines: Iterable[str]) -> None:
    """Say lines on stderr, each unbroken; where a document is wanted it has them."""
    for line in () if call.json else lines:
        call.err.print(Text(spelled(line), style="dim"), soft_wrap=True)


def _about(problems: Sequence[Problem], where: str) -> tuple[Problem, ...]:
    return tuple(one for one in problems if one.file == where)


def _unknown(name: str, snapshot: Snapshot) -> LegatoError:
    ids = ", ".join(agent.id for agent in snapshot.registry.agents())
    found = f"the agents here are {ids}" if ids else "no agent file here can be used"
    untrusted = [f"{folder} is left out: it is not trusted" for folder in snapshot.withheld]
    lost = dict.fromkeys(one.file for one in snapshot.problems if one.level is Level.DROPPED)
    dropped = [f"{file} is dropped" for file in lost]
    return refused(
        "agent_not_found",
        f"there is no agent file {name!r}",
        cause="; ".join((found, *untrusted, *dropped)),
        next="name one of them; `legato agents list` says what each does and what is left out",
    )
