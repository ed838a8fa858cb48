"""What the commands that list share: filters, `--after`, and the word on what is missing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click
from rich.console import Group
from rich.text import Text

from domain.words import counted
from ledger.projections.catch_up import Mark
from ledger.projections.lists import Wanted
from legato.cli.spelling import spelled
from legato.paths import absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from rich.console import RenderableType

    from domain.runs.home import Absent
    from ledger.projections.catch_up import Lag
    from legato.lists import Listed

C = TypeVar("C", bound="Callable[..., Any]")

USUAL = 50
MOST = 10_000
_AGO = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MARK = re.compile(r"([a-z]+/.+)@(\d{1,18})")


class ListOptions(TypedDict):
    """What the options of a list were given."""

    agent: str | None
    workspace: str | None
    since: datetime | None
    limit: int | None
    everything: bool
    after: Mark | None


def _since(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> datetime | None:
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip())
    if ago is not None:
        return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        at = datetime.fromisoformat(value.strip())
    except ValueError:
        message = "write a date or time in ISO 8601 (UTC where it names no zone), or 30m, 12h, 7d"
        raise click.BadParameter(message) from None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _mark(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> Mark | None:
    if value is None:
        return None
    found = _MARK.fullmatch(value.strip())
    if found is None:
        message = "write it as STREAM@VERSION, both as the command that wrote returned them"
        raise click.BadParameter(message)
    return Mark(found[1], int(found[2]))


def list_options(command: C) -> C:
    """Let a command take the filters of a list."""
    options = (
        click.option("--agent", metavar="NAME", help="Only of this agent."),
        click.option(
            "--workspace", "-w", metavar="NAME", help="Only of this workspace, or its folder."
        ),
        click.option(
            "--since", callback=_since, metavar="TIME", help="Not older: ISO 8601, or 12h, 7d."
        ),
        click.option(
            "--limit", type=click.IntRange(1, MOST), help=f"At most so many; {USUAL} by default."
        ),
        click.option("--all", "-a", "everything", is_flag=True, help="All, however many."),
        click.option(
            "--after",
            callback=_mark,
            metavar="STREAM@VERSION",
            help="Wait until the list holds what a command wrote.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def wanted_of(
    given: ListOptions, *, statuses: tuple[str, ...] = (), only_open: bool = False
) -> Wanted:
    """Turn the options into what is wanted."""
    workspace = given["workspace"]
    return Wanted(
        statuses=statuses or None,
        agent=given["agent"],
        workspace=workspace,
        folder=None if workspace is None else absolute(workspace),
        since=given["since"],
        only_open=only_open,
        limit=given["limit"] or (None if given["everything"] else USUAL),
    )


def listed_json(name: str, listed: Listed, after: Mark | None) -> dict[str, object]:
    """Give a list for programs: what depends on now is in `lag`, outside the rows."""
    return {
        "ok": True,
        name: listed.rows,
        "count": len(listed.rows),
        "more": listed.more,
        "unreadable": listed.unreadable,
        "lag": _lag_json(listed.lag, after),
    }


def _lag_json(lag: Lag, after: Mark | None) -> dict[str, object]:
    stands = lag.stands
    waited = None
    if after is not None:
        waited = {"stream": after.stream, "version": after.version, "reached": bool(lag.reached)}
    return {
        "behind": lag.behind,
        "rows": lag.rows,
        "feed": lag.feed,
        "unnumbered": lag.unnumbered,
        "stands": None if stands is None else {"code": stands.code, "message": stands.message,
                                               "cause": stands.cause, "next": stands.next},
        "after": waited,
    }  # fmt: skip


def with_homes(screen: RenderableType, away: Iterable[Absent] | None) -> RenderableType:
    """Put below a list which homes of its runs no worker serves now, and what to do."""
    said = [
        f"{counted(len(one.runs), 'run')} above cannot go on: {one.message}, {one.cause}\n"
        f"  next: {spelled(one.next)}"
        for one in away or ()
    ]
    return Group(screen, Text("\n".join(said), style="yellow")) if said else screen


def with_lag(screen: RenderableType, listed: Listed, after: Mark | None) -> RenderableType:
    """Put below a list what it lacks, where it lacks anything."""
    lag = listed.lag
    said: list[str] = []
    for run in listed.unreadable:
        said.append(f"damaged ({run['code']}): {run['message']}")
        said.append(f"  next: {run['next']}")
    if after is not None and not lag.reached:
        said.append(f"this list does not hold {after.stream}@{after.version} yet: list again")
    if lag.behind:
        many = "1 event" if lag.behind == 1 else f"{lag.behind} events"
        said.append(f"behind: {many} of the ledger are not in this list yet")
    if lag.stands is not None:
        said.append(f"it stands there ({lag.stands.code}): {lag.stands.message}")
        said.append(f"  next: {lag.stands.next}")
    return Group(screen, Text("\n".join(said), style="yellow")) if said else screen
