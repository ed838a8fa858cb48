"""A run's timeline as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.runs.timeline import Line

MARKS = {
    "ok": ("ok", "green"),
    "failed": ("x", "red"),
    "waiting": ("?", "yellow"),
    "": ("·", "dim"),
}


def line_screen(line: Line) -> Text:
    """Show one line: the time of day (UTC), a mark, what happened, how long it took.

    What stands below it follows on lines of its own.
    """
    mark, style = MARKS[line.outcome]
    text = Text()
    text.append(f"{line.at[11:19]}  ", style="dim")
    text.append("  " * line.level)
    text.append(mark, style=style).append(f" {line.text}", style="bold" if line.level < 2 else "")  # noqa: PLR2004 - below a turn
    if line.seconds is not None:
        text.append(f"  {line.seconds:.2f} s", style="dim")
    for one in line.detail.splitlines():
        text.append(f"\n{' ' * (10 + 2 * line.level)}| ", style="dim").append(one)
    return text


def timeline_screen(told: Iterable[Line]) -> Text:
    """Show all lines."""
    return Text("\n").join(line_screen(line) for line in told)
