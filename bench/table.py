"""All figures as one table for people, each that is held to a limit with its verdict."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.cluster import progress
from bench.measured import Value, median_of

Row = tuple[str, str, str, str]
"""Who was measured, what of it, what it came to, and the gate: its limit and the verdict."""

HEAD = ("who", "what", "figure", "gate")
HOLDS, MISSED = "holds", "MISSED"


def gate(limit: str, *, holds: bool) -> str:
    """Write a limit down with its verdict."""
    return f"{limit} {HOLDS if holds else MISSED}"


@dataclass
class Table:
    """Collects lines as they are measured; `text` renders them."""

    lines: list[Mapping[str, Value]] = field(default_factory=list["Mapping[str, Value]"])
    rows: list[Row] = field(default_factory=list["Row"])
    notes: list[str] = field(default_factory=list[str])
    began: float = field(default_factory=time.monotonic)

    def take(self, values: Mapping[str, Value]) -> None:
        """Take one measured line, and show it while the rest is measured."""
        progress(json.dumps(values))
        self.lines.append(values)

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows that stand below those of the lines."""
        self.rows += rows

    def note(self, text: str) -> None:
        """Take a remark that stands below the table."""
        self.notes.append(text)

    def text(self) -> str:
        """Render the table, and below it how many gates hold and which do not."""
        rows = [*_turns(self.lines), *(row for each in self.lines for row in _figure(each))]
        rows += self.rows
        widths = [max(len(row[n]) for row in (HEAD, *rows)) for n in range(len(HEAD))]
        table = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in (HEAD, *rows)
        ]
        took = f"measured in {(time.monotonic() - self.began) / 60:.1f} minutes"
        return "\n".join([machine(), "", *table, "", *_verdict(rows), *self.notes, took])


def _verdict(rows: Sequence[Row]) -> list[str]:
    held = [row for row in rows if row[3]]
    missed = [f"{row[0]}, {row[1]}" for row in held if row[3].endswith(MISSED)]
    said = [f"{len(held) - len(missed)} of {len(held)} gates hold"]
    return [*said, *(f"missed: {what}" for what in missed)]


def _turns(lines: Sequence[Mapping[str, Value]]) -> list[Row]:
    """One row an engine and a length: medians over its rounds."""
    rows: list[Row] = []
    measured = [each for each in lines if "ms_per_turn" in each]
    kinds = dict.fromkeys((each["turns"], each["runs"], each["engine"]) for each in measured)
    for turns, runs, engine in kinds:
        own = [e for e in measured if (e["turns"], e["runs"], e["engine"]) == (turns, runs, engine)]
        failed = [str(each["error"]) for each in own if each["error"]]
        ms, events, kib = (
            median_of(own, name) for name in ("ms_per_turn", "events_per_turn", "kib_per_turn")
        )
        what = f"a turn, {turns} turns, {runs} at once, {len(own)} rounds"
        value = f"{ms:.0f} ms, {events:.1f} events, {kib:.2f} KiB"
        rows.append((str(engine), what, failed[0] if failed else value, ""))
    return rows


def machine() -> str:
    """Name the machine, and how busy it is now."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {load}"


def _figure(each: Mapping[str, Value]) -> list[Row]:
    """Render a figure that is not the time of a turn."""
    match each.get("figure"):
        case "ratio":
            what = f"a turn, times {each['over']}, {each['turns']} turns, {each['runs']} at once"
            return [_row(each, what, f"{each['median']} (from {each['least']} to {each['most']})")]
        case "history":
            value = f"{each['events_per_turn']} events, {each['kib_per_turn']} KiB, "
            value += f"{each['milliseconds']} ms, last third to first "
            value += f"{each['last_to_first_third_events']}, {each['last_to_first_third_kib']}"
            return [_row(each, f"history of a turn, up to turn {each['turns']}", value)]
        case "start":
            return [_row(each, "from nothing to the first step", f"{each['median']} s")]
        case "stop":
            what = f"from a stop in a {each['during']} to quiet"
            return [_row(each, what, f"{each['median']} s")]
        case "replay":
            return [_row(each, "replay of a history", f"{each['median']} events/s")]
        case "lost worker":
            return [_row(each, "from a worker's kill to the next attempt", _slowest(each))]
        case "database crash":
            return [_row(each, "from a database's kill to the next append", _slowest(each))]
        case "memory":
            what = f"memory of a waiting run, {each['runs']} runs"
            return [_row(each, what, f"{each['median']} KiB")]
        case _:
            return []


def _row(each: Mapping[str, Value], what: str, value: str) -> Row:
    limit = each.get("limit")
    verdict = "" if limit is None else gate(str(limit), holds=bool(each["holds"]))
    return str(each["engine"]), what, str(each.get("error") or value), verdict


def _slowest(each: Mapping[str, Value]) -> str:
    rounds = each["rounds"]
    most = max(rounds) if isinstance(rounds, Sequence) and not isinstance(rounds, str) else 0.0
    return f"{each['median']} s, {most} s at most"
