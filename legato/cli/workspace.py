"""The commands `workspace trust`, `workspace untrust` and `workspace list`."""

from __future__ import annotations

import click
from rich.text import Text

from legato.cli.console import Call, json_option
from legato.trust import set_trust, trusted_workspaces
from legato.workspaces import find_folder


@click.group("workspace")
@json_option
def workspace_command() -> None:
    """Say which projects' own agents may be used."""


@workspace_command.command("trust")
@click.argument("path", default=".")
@json_option
@click.pass_obj
def trust_command(call: Call, path: str) -> int:
    """Let a project's own agent files be used, from now on and for this user.

    They become instructions of agents, and their hooks are run as commands: look at them
    first. The answer is kept in LEGATO_HOME.
    """
    return _set(call, path, trusted=True)


@workspace_command.command("untrust")
@click.argument("path", default=".")
@json_option
@click.pass_obj
def untrust_command(call: Call, path: str) -> int:
    """Use a project's own agent files no longer."""
    return _set(call, path, trusted=False)


@workspace_command.command("list")
@json_option
@click.pass_obj
def list_command(call: Call) -> int:
    """List the trusted projects."""
    listed = trusted_workspaces(call.settings().home)
    said = "\n".join(listed) or "no workspace is trusted"
    call.show({"ok": True, "trusted": listed}, lambda: Text(said))
    return 0


def _set(call: Call, path: str, *, trusted: bool) -> int:
    home = call.settings().home
    folder = find_folder(path, home)
    changed = set_trust(home, folder, trusted=trusted)
    word = "trusted" if trusted else "not trusted"
    said = f"{folder} is {word}{'' if changed else ', as before'}"
    document = {"ok": True, "workspace": str(folder), "trusted": trusted, "changed": changed}
    call.show(document, lambda: Text(said))
    return 0
