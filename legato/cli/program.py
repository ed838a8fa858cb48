"""The program: finds the command, runs it, and turns whatever it ends with into an exit status."""

from __future__ import annotations

import importlib
import logging
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, NoReturn

import click
from click.exceptions import NoSuchCommand

from domain.errors import LegatoError, bug, rule_of
from legato.cli.console import Answer, Call, answering_option, json_option
from legato.cli.usage import not_text, usage_error
from legato.leave import leave
from legato.shape import broke_at, shape

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""The exit status after Ctrl-C: 128 and the signal's number, as shells have it."""

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("stack", "Start the embedded stack, or find it running"),
    "down": ("stack", "Stop the embedded stack"),
    "drain": ("drain", "Take nothing new, and let what is under way end"),
    "status": ("stack", "Addresses and parts of the stack; starts nothing"),
    "doctor": ("doctor", "Look for what is wrong here, with a next step for each; starts nothing"),
    "run": ("run", "Start an agent and follow it to its end"),
    "send": ("steer", "Send a message to a run"),
    "answer": ("answer", "Answer what a run asks"),
    "stop": ("steer", "End a run now"),
    "budget": ("budget", "Raise what an open run may spend"),
    "resume": ("resume", "Go on from an ended run in a new one"),
    "runs": ("runs", "List runs, the youngest first"),
    "show": ("show", "One run on one screen, or one of its model requests"),
    "log": ("log", "The events of a run, as they stand in the ledger"),
    "inbox": ("inbox", "What people are asked, over all runs"),
    "usage": ("spending", "Tokens and money, by run, item, agent or day"),
    "ledger": ("ledger", "Check the ledger"),
    "replay": ("replay", "Replay a run's Temporal histories and fold its events anew"),
    "review-fix": ("review_fix", "Review and repair your repository on a branch of its own"),
    "demo": ("demo", "Review+Fix on a small repository, its worker killed twice"),
    "import": ("importing", "Bring saved steps and agents of other programs over"),
    "mcp": ("mcp", "The MCP servers declared here, and what was accepted of their tools"),
    "roles": ("roles", "The agents that there are"),
    "agents": ("agents", "List, show and check agent files"),
    "workspace": ("workspace", "Trust a project's own agent files, or no longer"),
}
"""Each command with its module in this package and what its line in the help says."""


class Commands(click.Group):
    """Loads a command's module when it is asked for: the others cost no time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List all commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments begin with; near names are told of an unknown one."""
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            raise NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; None for an unknown name."""
        del ctx
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        module = importlib.import_module(f"legato.cli.{row[0]}")
        found = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])


def _version(_ctx: click.Context) -> Answer:
    said = version("legato")
    return {"version": said}, said


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 ok, 1 failed, 2 usage, 3 refused, 4 not found, 5 waits for a person, "
    "6 stopped, 7 stack not reachable.",
)
@answering_option("--version", says="Show the version.", answer=_version)
@json_option
def legato() -> None:
    """Durable, ledgered runs of AI agents on Temporal."""


def main() -> NoReturn:
    """Run the program and leave with its exit status."""
    logging.getLogger().addHandler(logging.NullHandler())  # libraries log; people get errors
    leave(run_program(sys.argv[1:]))


def run_program(arguments: Sequence[str]) -> int:
    """Run one command; gives the exit status, everything else has been said."""
    call = Call(json="--json" in arguments)
    arguments = arguments or ["--help"]
    broken = [n for n, text in enumerate(arguments, 1) if not _is_text(text)]
    if broken:
        return _fail(call, not_text(broken))
    try:
        ended = legato.main(list(arguments), prog_name="legato", standalone_mode=False, obj=call)
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.ClickException as exc:
        return _fail(call, usage_error(exc))
    except LegatoError as exc:
        return _fail(call, exc)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        return 0
    except Exception as exc:  # noqa: BLE001 - the last place where an error can be told
        return _fail(call, _broken(exc))
    return ended if isinstance(ended, int) else 0


def _fail(call: Call, error: LegatoError) -> int:
    call.fail(error)
    return rule_of(error.code, error.kind).exit


def _broken(exc: Exception) -> LegatoError:
    """Say that we broke: what and where. Its text may hold a secret, and is shown nowhere."""
    return bug("internal", f"the command broke: {broke_at(exc)}", exception=shape(exc))


def _is_text(argument: str) -> bool:
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:  # its bytes were not UTF-8: the system hands them on as surrogates
        return False
    return True
