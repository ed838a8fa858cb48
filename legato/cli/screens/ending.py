"""The end of a followed run as people read it: status, what changed, cost, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.runs.recorded import short
from domain.runs.run import Status
from legato.cli.screens.overview import (
    changed_text,
    headline,
    question_screen,
    spent_text,
    where_text,
)
from legato.cli.screens.tables import facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from legato.cli.ending import Ended


def ending_screen(end: Ended, files: Sequence[str] | None = None) -> RenderableType:
    """Show how a run stands once nobody follows it any more.

    `files` are all that differ since it began, None where only its calls tell of changes.
    """
    seen = end.seen
    shown: list[RenderableType] = [Text(), headline(seen)]
    if seen.work.answer:
        shown.append(Text(f"\n{seen.work.answer}\n"))
    shown += [question_screen(seen.identity.run_id, one) for one in seen.waits.open_questions]
    broken = seen.state.status not in (Status.COMPLETED, Status.WAITING)
    rows = [("where", where_text(seen.place) if broken else "")]
    rows += [("changed", changed_text(seen, files)), ("spent", spent_text(seen))]
    if end.error is not None and end.error.code != "waits_for_person":
        rows.append(("next", end.error.next))
    rows += [("not delivered", "\n".join(short(one) for one in end.left))]
    rows += [("followed by", f"run {end.following}" if end.following else "")]
    rows += [("see", f"legato show {seen.identity.run_id}"), ("Temporal UI", end.page)]
    return Group(*shown, facts(rows))
