"""Tables and lists of facts, as every screen shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from legato.cli.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable


def facts(rows: Iterable[tuple[str, str]]) -> Text:
    """Show names and values in two columns, addresses unbroken; empty values are left out."""
    filled = [(name, spelled(value)) for name, value in rows if value]
    wide = max((len(name) for name, _ in filled), default=0) + 2
    text = Text(no_wrap=True, overflow="ignore")
    for name, value in filled:
        first, *others = value.splitlines()
        text.append(name.ljust(wide), style="bold").append(f"{first}\n")
        for other in others:
            text.append(f"{' ' * wide}{other}\n")
    text.rstrip()
    return text


def table_of(*columns: str) -> Table:
    """Make an empty table with these columns."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
