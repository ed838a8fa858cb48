"""The stack as people read it: addresses, and each part with its process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from legato.cli.screens.tables import facts
from legato.cli.spelling import spelled
from legato.embedded import Status
from legato.settings import without_password

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import RenderableType

    from legato.embedded import PartStatus, StackStatus

STYLES = {"ready": "green", "failed": "red", "stopped": "dim"}


def stack_screen(status: StackStatus, home: Path) -> RenderableType:
    """Show how the stack stands."""
    word = status.status.value
    kind = "embedded stack" if status.embedded else "your own servers"
    head = Text().append(word, style=STYLES.get(word, "yellow")).append(f"  {kind}")
    shown: list[RenderableType] = [head, facts(_addresses(status, home))]
    if status.reason is not None:
        shown.append(Text(f"why: {status.reason.message} {status.reason.cause}".rstrip()))
        shown.append(Text(spelled(f"next: {status.reason.next}")))
    if status.status is Status.STOPPED:
        shown.append(Text(spelled("next: `legato up`, or any command that needs it")))
    elif status.parts:
        shown.append(_parts(status.parts))
    return Group(*shown)


def _addresses(status: StackStatus, home: Path) -> list[tuple[str, str]]:
    return [
        ("home", str(home)),
        ("Temporal", status.temporal_address),
        ("Temporal UI", status.ui_address),
        ("API", status.api_address),
        ("database", without_password(status.database_url)),
        ("drained", _drained(status)),
        ("versions", ", ".join(f"{name} {what}" for name, what in status.versions.items())),
    ]


def _drained(status: StackStatus) -> str:
    return f"since {status.drained}; `legato up` has the workers go on" if status.drained else ""


def _parts(parts: Iterable[PartStatus]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("part", "state", "pid", "restarts"):
        table.add_column(column)
    for part in parts:
        state = Text("alive", style="green") if part.alive else Text("gone", style="red")
        table.add_row(part.name, state, str(part.pid or ""), str(part.restarts))
    return table
