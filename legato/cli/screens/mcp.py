"""MCP servers and their tools as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.console import Group
from rich.text import Text

from domain.mcp.bring import spec_of
from domain.words import counted, on_one_line
from legato.cli.screens.tables import table_of
from legato.cli.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from domain.mcp.snapshot import Change, McpAccepted
    from legato.mcp_servers import Checked

SHORT = 12
"""So much of a digest tells two apart."""

_MOST_TOLD = 100


def list_screen(rows: Sequence[Mapping[str, object]]) -> RenderableType:
    """Show the declared servers, one a line, and what is wrong with one below."""
    if not rows:
        return Text(spelled("no servers; declare one in mcp.toml in LEGATO_HOME"))
    table = table_of("server", "address", "state", "tools", "accepted")
    wrong: list[Text] = []
    for row in rows:
        name = on_one_line(str(row["name"])) or "mcp.toml"
        stands = cast("Mapping[str, object]", row["accepted"] or {})
        at = f"{str(stands['at'])[:19]} by {stands['by']}" if stands else ""
        table.add_row(name, str(row["address"]), str(row["state"]), str(row["tools"]), at)
        problems = cast("Sequence[str]", row["problems"])
        wrong += [Text(f"{name}: {one}", style="red") for one in problems]
    return Group(table, *wrong)


def check_screen(checked: Checked) -> RenderableType:
    """Show what a server offers, and what differs from what was accepted."""
    server = checked.server
    table = table_of("tool", "effect", "writes", "hash", "what it says it does")
    for tool in checked.offered.tools:
        spec = spec_of(server, tool)
        said = " ".join(spec.description.split())
        told = said if len(said) <= _MOST_TOLD else f"{said[:_MOST_TOLD]} ..."
        table.add_row(spec.name, spec.effect.value, spec.writes.value, tool.hash[:SHORT], told)
    head = Text(f"{server.name} at {server.address}, digest {checked.digest[:SHORT]}")
    return Group(head, table, *_unfit(checked), _compared(checked))


def _unfit(checked: Checked) -> list[Text]:
    return [
        Text(f"{on_one_line(name)} cannot be had: {'; '.join(why)}", style="yellow")
        for name, why in checked.offered.unfit.items()
    ]


def _compared(checked: Checked) -> Text:
    """Say how it stands to what was accepted, and what to do."""
    step = spelled(
        f"accept it with `legato mcp accept {checked.server.name} "
        f"--digest {checked.digest[:SHORT]}`"
    )
    if checked.accepted is None:
        return Text(f"nobody has accepted these tools yet; {step}", style="yellow")
    if checked.same:
        return Text(f"as accepted by {checked.accepted.by}", style="green")
    lines = [_changed(change) for change in checked.changes]
    if checked.moved:
        lines.insert(0, f"it was accepted at {checked.accepted.fact.address}")
    return Text("\n".join([*lines, step]), style="yellow")


def _changed(change: Change) -> str:
    parts = f": {', '.join(change.parts)}" if change.parts else ""
    return f"{change.what} since it was accepted: {on_one_line(change.tool)}{parts}"


def accepted_screen(checked: Checked, fact: McpAccepted) -> Text:
    """Say what is accepted now."""
    text = Text().append("accepted", style="green")
    text.append(f"  {counted(len(fact.tools), 'tool')} of {fact.server}, ")
    text.append(f"digest {fact.digest[:SHORT]}")
    for line in _unfit(checked):
        text.append("\n").append(line)
    for change in checked.changes:
        text.append(f"\n  {change.what} {on_one_line(change.tool)}")
    return text
