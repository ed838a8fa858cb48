"""All figures as one table for people."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.cluster import progress
from bench.measured import Value


@dataclass
class Table:
    """Collects lines as they are measured; `text` renders them."""

    lines: list[Mapping[str, Value]] = field(default_factory=list["Mapping[str, Value]"])
    notes: list[str] = field(default_factory=list[str])

    def take(self, values: Mapping[str, Value]) -> None:
        """Take one measured line, and show it while the rest is measured."""
        progress(json.dumps(values))
        self.lines.append(values)

    def note(self, text: str) -> None:
        """Take a remark that stands below the table."""
        self.notes.append(text)

    def text(self) -> str:
        """Render the table."""
        rows = [*self._turns(), *(row for each in self.lines for row in _figure(each))]
        widths = [max(len(row[n]) for row in rows) for n in range(3)]
        table = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows
        ]
        return "\n".join([machine(), "", *(one.rstrip() for one in table), *self.notes])

    def _turns(self) -> list[tuple[str, str, str]]:
        """One row an engine and a length: medians over its rounds."""
        rows: list[tuple[str, str, str]] = []
        measured = [each for each in self.lines if "ms_per_turn" in each]
        kinds = dict.fromkeys((each["turns"], each["runs"], each["engine"]) for each in measured)
        for turns, runs, engine in kinds:
            own = [
                e for e in measured if (e["turns"], e["runs"], e["engine"]) == (turns, runs, engine)
            ]
            failed = [str(each["error"]) for each in own if each["error"]]
            ms = statistics.median(_number(each["ms_per_turn"]) for each in own)
            events = statistics.median(_number(each["events_per_turn"]) for each in own)
            kib = statistics.median(_number(each["kib_per_turn"]) for each in own)
            what = f"a turn, {turns} turns, {runs} at once, {len(own)} rounds"
            value = f"{ms:.0f} ms, {events:.1f} events, {kib:.2f} KiB"
            rows.append((str(engine), what, failed[0] if failed else value))
        return rows


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def machine() -> str:
    """Name the machine, and how busy it is now."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {load}"


def _figure(each: Mapping[str, Value]) -> list[tuple[str, str, str]]:
    """Render a figure that is not the time of a turn; with its limit, and whether it holds."""
    holds = "" if "holds" not in each else (" holds" if each["holds"] else " DOES NOT HOLD")
    match each.get("figure"):
        case "ratio":
            value = f"{each['median']} (from {each['least']} to {each['most']})"
            what = f"a turn, times {each['over']}, {each['turns']} turns, {each['runs']} at once"
            return [(str(each["engine"]), what, value)]
        case "history":
            thirds = f"{each['last_to_first_third_events']}, {each['last_to_first_third_kib']}"
            value = f"{each['events_per_turn']} events, {each['kib_per_turn']} KiB"
            value += f", last third to first {thirds}"
            what = f"history of a turn, {each['turns']} turns in {each['links']} links"
            return [("legato", what, value + holds)]
        case "start":
            return [("legato", "from nothing to the first step", f"{each['median']} s{holds}")]
        case "stop":
            what = f"from a stop in a {each['during']} to quiet"
            return [("legato", what, f"{each['median']} s{holds}")]
        case "replay":
            return [("legato", "replay of a history", f"{each['median']} events/s{holds}")]
        case "lost worker":
            what = "from a worker's kill to the next attempt"
            return [("legato", what, f"{each['median']} s{holds}")]
        case "database crash":
            what = "from a database's kill to the next append"
            return [("legato", what, f"{each['median']} s{holds}")]
        case "memory":
            what = f"memory of a waiting run, {each['runs']} runs"
            return [("legato", what, f"{each['median']} KiB{holds}")]
        case _:
            return []
