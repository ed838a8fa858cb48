"""Checks of the feed: its numbers against the events, its roots against those kept elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.verify_event import BadPlaceError
from ledger.verify_report import RESTORE, WHOLE

if TYPE_CHECKING:
    import asyncpg

    from ledger.verify_report import Pass

FEED = "feed"
"""What a problem of the feed names instead of a stream."""

ACCEPT = (
    "if the database was restored from a backup on purpose, `legato ledger restored` accepts "
    f"that; else {RESTORE}"
)
_PAGE = 5000
_ROWS = """select f.global_seq, f.stream_id, f.version, f.hash, e.hash as event_hash,
    e.order_key, e.pos
  from ledger.feed f left join ledger.event e using (stream_id, version)
  where f.global_seq > $1 order by f.global_seq limit $2"""
_LEFT_OUT = """select e.stream_id, e.version, count(*) over () as events
  from ledger.event e, ledger.feed_head h
  where (e.order_key, e.pos) <= (h.order_key, h.pos) and not exists (
    select from ledger.feed f where f.stream_id = e.stream_id and f.version = e.version)
  order by e.order_key, e.pos limit 1"""
_BEFORE_ALL = -(2**63)


@dataclass(frozen=True)
class _Kept:
    """A root that was kept: where, and what it was."""

    where: str
    root: bytes
    next: str


@dataclass
class _Walk:
    """A walk along the feed: where it stands, and every stream's last version."""

    one_epoch: bool
    kept: Mapping[int, list[_Kept]]
    number: int = 0
    root: bytes = bytes(32)
    place: tuple[int, int] = (_BEFORE_ALL, 0)
    versions: dict[str, int] = field(default_factory=dict[str, int])


def fold_root(root: bytes, stream: str, version: int, link: bytes) -> bytes:
    """Compute the root after one more event: the layout of `ledger.root`, byte for byte."""
    name = stream.encode()
    return hashlib.sha256(
        b"".join(
            (
                b"legato/root/1",
                root,
                len(name).to_bytes(4, "big"),
                name,
                version.to_bytes(8, "big", signed=True),
                len(link).to_bytes(4, "big"),
                link,
            )
        )
    ).digest()


async def check_feed(at: Pass) -> None:
    """Walk the feed from its first number to its head, up to the first bad place."""
    at.checked.update(numbers=0, roots=0)
    head = await at.connection.fetchrow("select * from ledger.feed_head")
    if head is None:
        at.tell(FEED, 0, "the row of feed_head is missing")
        return
    walk = _Walk(head["epoch"] == 1, await _kept(at))
    try:
        await _walk(at, walk)
        _check_head(walk, head)
        _check_beyond(walk)
    except _BadNumberError as bad:
        at.tell(FEED, bad.number, str(bad), bad.next)
    left_out = await at.connection.fetchrow(_LEFT_OUT, timeout=WHOLE)
    if left_out is not None:
        what = f"{left_out['events']} events have no number in the feed, this one is the first"
        at.tell(left_out["stream_id"], left_out["version"], what)


class _BadNumberError(BadPlaceError):
    """The first number at which something does not hold."""

    def __init__(self, number: int, what: str, next_step: str = RESTORE) -> None:
        super().__init__(what)
        self.number = number
        self.next = next_step


async def _kept(at: Pass) -> dict[int, list[_Kept]]:
    """Gather the roots kept in the database and elsewhere, by their number."""
    kept: dict[int, list[_Kept]] = {}
    for row in await at.connection.fetch("select global_seq, root from ledger.checkpoint"):
        kept.setdefault(row["global_seq"], []).append(_Kept("checkpoint", row["root"], RESTORE))
    for anchor in at.anchors:
        one = _Kept(f"anchor of {anchor.at}", anchor.root, ACCEPT)
        kept.setdefault(anchor.global_seq, []).append(one)
    return kept


async def _walk(at: Pass, walk: _Walk) -> None:
    last = _BEFORE_ALL
    while page := await at.connection.fetch(_ROWS, last, _PAGE):
        for row in page:
            _check_number(walk, row)
            at.checked["numbers"] += 1
            at.checked["roots"] += len(walk.kept.get(walk.number, ()))
        last = page[-1]["global_seq"]


def _check_number(walk: _Walk, row: asyncpg.Record) -> None:
    number = walk.number + 1
    stream, version = row["stream_id"], row["version"]
    event = f"{stream} at version {version}"
    if row["global_seq"] != number:
        what = "is missing" if row["global_seq"] > number else "stands before the first"
        raise _BadNumberError(min(number, row["global_seq"]), f"the number {what}")
    if row["event_hash"] is None:
        raise _BadNumberError(number, f"its event is missing: {event}")
    if row["event_hash"] != row["hash"]:
        raise _BadNumberError(number, f"its hash is not that of its event, {event}")
    if version != walk.versions.get(stream, 0) + 1:
        raise _BadNumberError(number, f"{event} comes out of its stream's order")
    place = (row["order_key"], row["pos"])
    if walk.one_epoch and place <= walk.place:
        raise _BadNumberError(number, f"{event} comes after what it was written before")
    walk.versions[stream] = version
    walk.root = fold_root(walk.root, stream, version, row["hash"])
    walk.number, walk.place = number, place
    for kept in walk.kept.get(number, ()):
        if kept.root != walk.root:
            what = f"the root is not that of the {kept.where}: something up to here was changed"
            raise _BadNumberError(number, what, kept.next)


def _check_head(walk: _Walk, head: asyncpg.Record) -> None:
    """Compare the feed's head with where the walk ended."""
    if head["global_seq"] != walk.number:
        what = f"feed_head stands at {head['global_seq']}, the last number is {walk.number}"
        raise _BadNumberError(walk.number, what)
    if head["root"] != walk.root:
        raise _BadNumberError(walk.number, "the root of feed_head is not that of the feed")
    if (head["order_key"], head["pos"]) < walk.place and walk.one_epoch:
        raise _BadNumberError(walk.number, "feed_head's order key and pos lie before its event's")


def _check_beyond(walk: _Walk) -> None:
    """A root that was kept at a number that is not there: the feed was longer once."""
    beyond = [number for number in walk.kept if number > walk.number]
    if beyond:
        kept = walk.kept[min(beyond)][0]
        what = f"the feed ends here, and the {kept.where} is of {min(beyond)}: its tail is missing"
        raise _BadNumberError(walk.number, what, kept.next)
