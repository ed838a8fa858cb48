"""The port by which definitions reach the product, and the source that holds them in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from domain.agents.files.agent_file import within_caps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.agents.files.agent_file import AgentFile


class AgentDefSource(Protocol):
    """Gives definitions. `domain.agents.files` and the test kit say what holds of any source.

    A source is a snapshot: it reads once, when it is made, and gives the same answer to
    every caller from then on, from any thread.
    """

    def list_agents(self) -> tuple[AgentFile, ...]:
        """Give all definitions, sorted by id, ids unique, texts within their caps."""
        ...


class MemorySource:
    """A source of given definitions; of those with one id the first counts."""

    __slots__ = ("_agents",)

    def __init__(self, agents: Iterable[AgentFile]) -> None:
        kept: dict[str, AgentFile] = {}
        for agent in agents:
            kept.setdefault(agent.id, within_caps(agent))
        self._agents = tuple(kept[key] for key in sorted(kept))

    def list_agents(self) -> tuple[AgentFile, ...]:
        """Give all definitions, sorted by id."""
        return self._agents
