"""Definitions of several sources as one: the earlier source wins, and each loss is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import AgentFile, Origin
from domain.agents.files.caps import id_of
from domain.agents.files.problems import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Located:
    """A definition with where it was found, for diagnostics only, and its file's digest.

    `where` never reaches a model; `digest` is of the whole file, cut parts included.
    """

    agent: AgentFile
    where: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one place gave: definitions sorted by id, and everything that was wrong."""

    found: tuple[Located, ...] = ()
    problems: tuple[Problem, ...] = ()


def unique(found: Iterable[Located], code: str = "name_taken") -> Gathered:
    """Keep the first of each id; the others become problems of code `code`."""
    kept: dict[str, Located] = {}
    lost: list[Problem] = []
    for one in found:
        winner = kept.setdefault(one.agent.id, one)
        if winner is not one:
            lost.append(problem(code, file=one.where, winner=winner.where))
    return Gathered(tuple(kept[key] for key in sorted(kept)), tuple(lost))


def stamped(found: Iterable[Located], origin: Origin) -> tuple[Located, ...]:
    """Stamp where definitions were admitted from; whatever they said themselves is void."""
    return tuple(replace(one, agent=replace(one.agent, origin=origin)) for one in found)


def merged(sources: Sequence[Gathered]) -> Gathered:
    """Put sources together, the first one first. Fields are never mixed."""
    everything = [one for source in sources for one in source.found]
    kept = unique(everything, "name_shadowed")
    problems = [one for source in sources for one in source.problems]
    return Gathered(kept.found, (*problems, *kept.problems))


class Registry:
    """Definitions by name, as they were when it was made. Immutable."""

    __slots__ = ("_by_id",)

    def __init__(self, found: Iterable[Located]) -> None:
        first = unique(found).found
        self._by_id: Mapping[str, Located] = MappingProxyType({one.agent.id: one for one in first})

    def get(self, name: str) -> AgentFile | None:
        """Find a definition by its id or its name; case and punctuation do not matter."""
        found = self.located(name)
        return None if found is None else found.agent

    def located(self, name: str) -> Located | None:
        """Find a definition with where it was found, which is for people only."""
        return self._by_id.get(id_of(name))

    def agents(self) -> tuple[AgentFile, ...]:
        """Give all definitions, sorted by id."""
        return tuple(one.agent for one in self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)
