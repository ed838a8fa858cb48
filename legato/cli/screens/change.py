"""What a Review+Fix run changed, as people read it, with the commands that take it over."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from legato.cli.screens.tables import facts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from legato.review_fix import Finished
    from legato.worktrees import Change, File


def change_screen(finished: Finished) -> RenderableType:
    """Show findings, files and what to do with them."""
    shown: list[RenderableType] = [Text()]
    shown += [Text(f"{one.state.value}: {one.title} ({one.module})") for one in finished.findings]
    if finished.change is None:
        return Group(*shown, Text("no tree to compare: see `legato show` for what was changed"))
    change = finished.change
    if not change.files:
        return Group(*shown, Text("nothing was changed"))
    return Group(*shown, Text(change.stat, style="bold"), files_screen(change.files), _next(change))


def diff_screen(diff: str) -> Text:
    """Show a diff in its colours."""
    text = Text()
    for line in diff.splitlines():
        text.append(f"{line}\n", style=_style(line))
    return text


def _style(line: str) -> str:
    if line.startswith(("diff ", "index ", "+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def files_screen(files: tuple[File, ...]) -> Table:
    """Show one line a file with its counts of lines."""
    table = Table.grid(padding=(0, 2))
    for file in files:
        counts = ("binary", "")
        if file.added is not None and file.removed is not None:
            counts = (f"+{file.added}", f"-{file.removed}")
        table.add_row(
            f"  {file.path}", Text(counts[0], style="green"), Text(counts[1], style="red")
        )
    return table


def _next(change: Change) -> RenderableType:
    tree = change.tree
    if not tree.branch:
        return Text("the changes are in your tree, not committed")
    look = ("git", "-C", tree.repository, "diff", f"{tree.base[:10]}..{tree.branch}")
    return facts(
        [
            ("branch", f"{tree.branch} at {change.commit[:10]}"),
            ("look at it", shlex.join(look)),
            ("take it over", change.merge),
            ("throw it away", change.drop),
        ]
    )
