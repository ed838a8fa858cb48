"""Follows a run of `check-and-fix` and shows what its commands changed in the workspace."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.errors import LegatoError
from legato.cli.ending import ending_json
from legato.cli.follow import followed
from legato.cli.screens.change import files_screen
from legato.cli.screens.ending import ending_screen
from legato.worktrees import (
    Change,
    Tree,
    find_repository,
    forget_snapshot,
    make_snapshot,
    show_changes,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from rich.console import RenderableType

    from domain.agents.request import AgentRequest
    from legato.cli.console import Call
    from legato.cli.ending import Ended
    from legato.cli.follow import Ending
    from legato.door import Door


@contextmanager
def showing_changes(
    home: Path, request: AgentRequest, run_id: str
) -> Generator[Ending, None, None]:
    """Remember how the workspace stands; give the ending that shows which files differ since.

    What was remembered is removed with the context.
    """
    tree = _snapshot(home, request, run_id)

    async def ending(call: Call, door: Door, run_id: str) -> int:
        end = await followed(call, door, run_id)
        change = None if tree is None else await asyncio.to_thread(_change, home, tree)
        files = None if change is None else [file.path for file in change.files]
        call.show({**ending_json(end), "files": files}, lambda: _screen(end, change))
        return end.exit

    try:
        yield ending
    finally:
        if tree is not None:
            forget_snapshot(home, tree)


def _snapshot(home: Path, request: AgentRequest, run_id: str) -> Tree | None:
    """Remember how the workspace stands; None where git cannot tell."""
    folder = Path(request.workspace)
    try:
        return make_snapshot(home, run_id, find_repository(folder), folder)
    except LegatoError:
        return None


def _change(home: Path, tree: Tree) -> Change | None:
    try:
        return show_changes(home, tree)
    except LegatoError:
        return None


def _screen(end: Ended, change: Change | None) -> RenderableType:
    if change is None:
        return ending_screen(end)
    screen = ending_screen(end, [file.path for file in change.files])
    if not change.files:
        return screen
    return Group(screen, Text(f"\n{change.stat}", style="bold"), files_screen(change.files))
