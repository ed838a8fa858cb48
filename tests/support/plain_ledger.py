"""The ledger's append in plain words, in memory: what the real one must be found equal to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from domain.events import Fact, Use, event_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.append import Part


@dataclass(frozen=True)
class Done:
    """The append holds: each stream that got events stands here; `repeated`: since before."""

    heads: dict[str, int]
    repeated: bool = False


@dataclass(frozen=True)
class Refused:
    """The append holds not at all; each of these codes says truly why."""

    codes: frozenset[str]


Result: TypeAlias = Done | Refused


@dataclass
class PlainLedger:
    """Streams as lists of facts, and the version at which each id stands."""

    streams: dict[str, list[Fact]] = field(default_factory=dict[str, list[Fact]])
    places: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def of(self, stream: str) -> Sequence[Fact]:
        """Give a stream's facts; one that nobody wrote to is empty."""
        return self.streams.get(stream, ())

    def copy(self) -> PlainLedger:
        """Give one that goes its own way from here."""
        streams = {name: list(facts) for name, facts in self.streams.items()}
        return PlainLedger(streams, dict(self.places))

    def append(self, *parts: Part) -> Result:
        """Append all parts or none: ids first, then versions and closed streams."""
        wanted = [(part.stream, event_id(fact), fact) for part in parts for fact in part.facts]
        if any((stream, name) in self.places for stream, name, _ in wanted):
            return self._again(wanted)
        codes = {code for part in parts for code in self._refusals(part)}
        if codes:
            return Refused(frozenset(codes))
        for stream, name, fact in wanted:
            self.streams.setdefault(stream, []).append(fact)
            self.places[stream, name] = len(self.streams[stream])
        return Done({stream: len(self.of(stream)) for stream, _, _ in wanted})

    def _again(self, wanted: Sequence[tuple[str, str, Fact]]) -> Result:
        """Judge an append of which something is there: ours repeated, or another was first."""
        found = {
            (stream, name): (self.places[stream, name], fact)
            for stream, name, fact in wanted
            if (stream, name) in self.places
        }
        other = [
            fact for (stream, _), (at, fact) in found.items() if self.of(stream)[at - 1] != fact
        ]
        if any(fact.use is Use.SAME for fact in other):
            return Refused(frozenset({"idempotency_mismatch"}))
        if other or len(found) < len(wanted):
            return Refused(frozenset({"event_taken"}))
        heads: dict[str, int] = {}
        for (stream, _), (at, _) in found.items():
            heads[stream] = max(at, heads.get(stream, 0))
        return Done(heads, repeated=True)

    def _refusals(self, part: Part) -> list[str]:
        there = self.of(part.stream)
        late = not part.open_only and all(fact.after_end for fact in part.facts)
        codes: list[str] = []
        if part.expected not in (None, len(there)):
            codes.append("version_conflict")
        if any(fact.closes for fact in there) and not late:
            codes.append("run_closed")
        return codes
