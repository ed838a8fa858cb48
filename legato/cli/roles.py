"""The command `roles`."""

from __future__ import annotations

import click

from domain.agents.roles import ROLES
from legato.cli.console import Call, json_option
from legato.cli.screens.runs import roles_screen


@click.command("roles")
@json_option
@click.pass_obj
def roles_command(call: Call) -> int:
    """List the agents that there are, and what each needs."""
    rows = [
        {
            "name": role.name,
            "summary": role.summary,
            "profile": role.default_profile.value,
            "tools": role.surface,
            "plugins": role.plugins,
            "needs_model": role.needs_model,
            "needs_workspace": role.needs_workspace,
            "needs_checks": role.needs_checks,
        }
        for role in ROLES.values()
    ]
    call.show({"ok": True, "roles": rows}, lambda: roles_screen(ROLES.values()))
    return 0
