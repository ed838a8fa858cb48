"""Lists of runs and of agents as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.runs.home import status_at_home
from legato.cli.screens.overview import status_text
from legato.cli.screens.tables import table_of
from legato.cli.spelling import spelled
from legato.homes import home_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from domain.agents.role import Role
    from domain.runs.home import Absent
    from legato.lists import Listed

SHORT = 13
"""So much of an id tells runs apart that began in different milliseconds."""


def runs_screen(listed: Listed, away: Iterable[Absent] | None = None) -> RenderableType:
    """Show runs, one a line; `away` are the homes that no worker serves now."""
    if not listed.rows:
        return Text(spelled('no such runs; start one with `legato run AGENT "message"`'))
    table = table_of(
        "run", "status", "agent", "workspace", "begun (UTC)", "items", "tokens", "cost"
    )
    for row in listed.rows:
        status, waiting_on = str(row["status"]), str(row["waiting_on"] or "")
        if home_of(away, str(row["run_id"])) is not None:
            status, waiting_on = status_at_home(status, waiting_on)
        waits = f" ({waiting_on})" if waiting_on else ""
        stuck = f" stuck: {row['stuck']}" if row["stuck"] else ""
        stuck += f" damaged: {row['damaged']}" if row["damaged"] else ""
        cost = f"${row['cost']}" + (" + unknown" if row["cost_unknown"] else "")
        table.add_row(
            str(row["run_id"])[:SHORT],
            status_text(status).append(waits).append(stuck, style="bold red"),
            str(row["agent"]),
            str(row["workspace"]),
            str(row["accepted_at"])[:19],
            f"{row['items_done']}/{row['items']}",
            str(row["tokens"]),
            cost,
        )
    more = Text(spelled("older runs are left out; `legato runs --all` lists them"), style="dim")
    return Group(table, more) if listed.more else table


def roles_screen(roles: Iterable[Role]) -> RenderableType:
    """Show the agents that there are."""
    table = table_of("agent", "profile", "needs", "what it does")
    for role in roles:
        needs = {"model": role.needs_model, "workspace": role.needs_workspace}
        needs["check"] = role.needs_checks
        listed = ", ".join(name for name, needed in needs.items() if needed)
        table.add_row(role.name, role.default_profile.value, listed, role.summary)
    return table
