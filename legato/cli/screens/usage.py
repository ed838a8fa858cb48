"""What was used, as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from legato.cli.screens.runs import SHORT
from legato.cli.screens.tables import table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from legato.lists import Listed

_GROUPS = {
    "run": ("run", "agent"),
    "item": ("run", "item", "name", "agent"),
    "agent": ("agent", "runs"),
    "day": ("day", "runs"),
}
_FIGURES = ("requests", "calls", "tokens", "in", "out", "cached", "cost")


def usage_screen(by: str, listed: Listed) -> RenderableType:
    """Show one sum a line; `?` is what nobody knows."""
    if not listed.rows:
        return Text("nothing was used")
    table = table_of(*_GROUPS[by], *_FIGURES)
    for row in listed.rows:
        table.add_row(*(_group(name, row) for name in _GROUPS[by]), *_figures(row))
    if not listed.more:
        return table
    return Group(table, Text("others are left out; --all lists them", style="dim"))


def _group(name: str, row: Mapping[str, object]) -> str:
    if name == "run":
        return str(row["run_id"])[:SHORT]
    return str(row[name] or "")


def _figures(row: Mapping[str, object]) -> list[str]:
    unknown = f" + {row['cost_unknown']} unknown" if row["cost_unknown"] else ""
    cost = "?" if row["cost"] is None else f"${row['cost']}"
    figures = [str(row[name]) for name in ("steps", "calls", "tokens")]
    figures += [_known(row[f"{name}_tokens"]) for name in ("input", "output", "cached")]
    return [*figures, cost + unknown]


def _known(value: object) -> str:
    return "?" if value is None else str(value)
