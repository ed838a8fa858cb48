"""A wrong command line, as an error of ours: what is wrong, what was near, where help is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand, NoSuchOption

from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import Sequence


def usage_error(exc: click.ClickException) -> LegatoError:
    """Turn what the parser refused into an error; `did_you_mean` lists the near names."""
    ctx = exc.ctx if isinstance(exc, click.UsageError) else None
    command = ctx.command_path if ctx is not None else "legato"
    near = (exc.possibilities or []) if isinstance(exc, NoSuchCommand | NoSuchOption) else []
    return LegatoError(
        "usage",
        _incomplete(exc) if isinstance(exc, NoArgsIsHelpError) else exc.format_message(),
        cause=ctx.command.get_usage(ctx).removeprefix("Usage: ") if ctx is not None else "",
        next=f"see `{command} --help`",
        details={"did_you_mean": list(near)} if near else None,
    )


def _incomplete(exc: NoArgsIsHelpError) -> str:
    ctx = exc.ctx
    if not isinstance(ctx.command, click.Group):
        return "the command is incomplete"
    return f"{ctx.command_path} needs a command: {', '.join(ctx.command.list_commands(ctx))}"


def not_text(places: Sequence[int]) -> LegatoError:
    """Refuse arguments, counted from 1, that are not UTF-8."""
    listed = ", ".join(map(str, places))
    return LegatoError(
        "usage",
        f"The command line holds what is not UTF-8: argument {listed} after `legato`.",
        cause="messages, names and paths are kept and hashed as UTF-8",
        next="write it in UTF-8, such as with `iconv -t UTF-8`",
    )
