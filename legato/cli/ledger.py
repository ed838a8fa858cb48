"""The commands `ledger verify`, `ledger rebuild` and `ledger restored`."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, cast

import click
from rich.text import Text

from domain.words import counted
from ledger.anchors import read_anchors, restored_at, write_anchor
from ledger.feed import FeedHead, read_feed_head
from ledger.projections.rebuild import rebuild
from ledger.sequence import begin_epoch
from ledger.verify import verify
from legato.cli.console import Call, json_option, plain, run_async
from legato.settings import anchors_folder

if TYPE_CHECKING:
    from ledger.projections.rebuild import Rebuilt
    from ledger.verify import VerifyReport
    from legato.verify_temporal import InTemporal


@click.group("ledger")
@json_option
def ledger_command() -> None:
    """Check the ledger, make its rows anew, and say that it was restored."""


@ledger_command.command("verify")
@click.option("--no-temporal", is_flag=True, help="Do not compare the runs with Temporal.")
@json_option
@click.pass_obj
def verify_command(call: Call, *, no_temporal: bool) -> int:
    """Recompute every chain, blob and head row, and compare every run with Temporal.

    Exit status 0 where all holds, 1 where anything differs or could not be compared.
    """
    from legato.verify_temporal import InTemporal, check_temporal  # noqa: PLC0415 - loads Temporal's client

    told = InTemporal(why_not="as asked")

    async def work() -> VerifyReport:
        async with call.door() as door:
            at = door.stack.temporal_address, door.stack.temporal_namespace
            compared = partial(check_temporal, ledger=door.ledger, at=at, told=told)
            folder = anchors_folder(door.settings, embedded=door.stack.embedded)
            anchors = read_anchors(folder) if folder else ()
            more = () if no_temporal else (compared,)
            return await verify(door.ledger, *more, anchors=anchors)

    report = run_async(work())
    value = {**cast("dict[str, object]", plain(report)), "temporal": asdict(told)}
    call.show(value, lambda: _screen(report).append(_compared(told)))
    return 0 if report.ok else 1


def _compared(told: InTemporal) -> Text:
    """Say how many runs were compared with Temporal, and which could not be any more."""
    if not told.compared:
        return Text(f"\nnot compared with Temporal: {told.why_not}", style="bold yellow")
    text = Text(f"\nTemporal  {counted(told.now, 'run')} compared now, {told.earlier} earlier")
    if told.gone:
        first = f", the first of them {told.first_gone}"
        text.append(f", {told.gone} not: their history is gone{first}", style="yellow")
    return text


@ledger_command.command("restored")
@json_option
@click.pass_obj
def restored_command(call: Call) -> int:
    """Accept that the ledger's database was restored from a backup.

    Numbers what has no number in the feed, begins a new epoch of it, and gives up the
    anchors of what was lost.
    """

    async def work() -> FeedHead:
        async with call.door() as door:
            await begin_epoch(door.stack.database_url)
            head = await read_feed_head(door.ledger)
            folder = anchors_folder(door.settings, embedded=door.stack.embedded)
            if folder is not None:
                write_anchor(folder, restored_at(head.global_seq, head.epoch, head.root))
            return head

    head = run_async(work())
    shown = {"epoch": head.epoch, "global_seq": head.global_seq, "root": head.root.hex()}
    call.show(shown, lambda: Text(f"epoch {head.epoch} begins after event {head.global_seq}"))
    return 0


@ledger_command.command("rebuild")
@json_option
@click.pass_obj
def rebuild_command(call: Call) -> int:
    """Make the rows that lists are read from anew, from the first event.

    Says whether the rows that stood there were the same, and which were not: those are
    replaced. Lists go on meanwhile. Exit status 0 in both cases.
    """

    async def work() -> Rebuilt:
        async with call.door() as door:
            return await rebuild(door.ledger)

    done = run_async(work())
    call.show({"ok": True, **asdict(done)}, lambda: _rebuilt(done))
    return 0


def _rebuilt(done: Rebuilt) -> Text:
    text = Text().append("rebuilt", style="green")
    pace = f", {done.events / done.seconds:.0f} a second" if done.seconds else ""
    text.append(f"  {counted(done.events, 'event')} in {done.seconds} s{pace}")
    at = f"\nup to number {done.compared_at} of the feed the rows"
    if done.identical is None:
        return text.append("\nthere were no rows before")
    if done.identical:
        return text.append(f"{at} that stood were identical")
    text.append(f"{at} differed and were replaced: {counted(done.differences, 'row')}")
    for one in done.differing:
        text.append(f"\n  {one}")
    return text


def _screen(report: VerifyReport) -> Text:
    text = Text()
    seen = ", ".join(counted(n, what.removesuffix("s")) for what, n in report.checked.items())
    if report.ok:
        return text.append("ok", style="green").append(f"  {seen}: all holds")
    found = counted(len(report.problems), "problem")
    text.append(found, style="bold red").append(f" in {seen}")
    for one in report.problems:
        text.append(f"\n  {one.stream} at {one.version}: {one.what}\n    next: {one.next}")
    return text
