"""Every source keeps the contract, and the kit notices one that does not."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.agents.files.source import MemorySource
from legato.agent_files.discovery import Wanted, read_agents
from legato.testing.agent_sources import CLAUSES, check_agent_source, write_agent_files
from tests.support.agent_server import agent_server, document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from domain.agents.files.agent_file import AgentFile
    from domain.agents.files.source import AgentDefSource
    from legato.testing.agent_sources import Clause, NewSource

    Spoil = Callable[[tuple[AgentFile, ...]], Any]


@pytest.fixture(params=["memory", "files", "driver"])
def new_source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewSource]:
    """How a source of each kind is made of given definitions."""
    with ExitStack() as open_servers:

        def of_files(agents: Sequence[AgentFile]) -> AgentDefSource:
            folder = tmp_path / "agents"
            write_agent_files(folder, agents)
            return read_agents(Wanted(explicit=(folder,), conventional=False)).source

        def of_driver(agents: Sequence[AgentFile]) -> AgentDefSource:
            served = open_servers.enter_context(agent_server(document(agents)))
            return read_agents(Wanted(url=served.url)).source

        makers = {"memory": MemorySource, "files": of_files, "driver": of_driver}
        yield makers[request.param]


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
def test_a_source_keeps_the_contract(clause: Clause, new_source: NewSource) -> None:
    clause(new_source)

    assert clause in CLAUSES


class Broken:
    """A source that spoils what it was given."""

    def __init__(self, spoil: Spoil, agents: Sequence[AgentFile]) -> None:
        self.served = spoil(MemorySource(agents).list_agents())
        self.turn: Callable[[Any], Any] = lambda served: served

    def list_agents(self) -> Any:  # noqa: ANN401 - it breaks the contract on purpose
        """Give what no source may give."""
        return self.turn(self.served)


def each(**changes: Any) -> Spoil:  # noqa: ANN401 - values of fields, some of a wrong type
    """Change every definition so."""
    return lambda agents: tuple(replace(agent, **changes) for agent in agents)


def backwards(agents: tuple[AgentFile, ...]) -> object:
    """Give them in the wrong order."""
    return agents[::-1]


def one_less(agents: tuple[AgentFile, ...]) -> object:
    """Lose one."""
    return agents[1:]


def empty_as_absent(agents: tuple[AgentFile, ...]) -> object:
    """Take an empty list for none."""
    return tuple(replace(agent, tools=agent.tools or None) for agent in agents)


def longer(agents: tuple[AgentFile, ...]) -> object:
    """Add to every body, those at the cap too."""
    return tuple(replace(agent, body=agent.body + 9 * "x") for agent in agents)


def never_empty(agents: tuple[AgentFile, ...]) -> object:
    """Give something where there is nothing."""
    return agents or (1,)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (backwards, "not sorted"),
        (list, "a list is served"),
        (one_less, "of 6 are served"),
        (each(memory=""), "full-stack is not served"),
        (empty_as_absent, "empty-handed"),
        (longer, "over its cap"),
        (each(hooks=[]), "can be changed"),
        (each(origin="mine"), "origin"),
        (never_empty, "an empty source gives something"),
    ],
)
def test_the_kit_notices_a_broken_source(spoil: Spoil, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_agent_source(lambda agents: Broken(spoil, agents))


def test_a_source_that_changes_its_mind_is_noticed() -> None:
    answers = iter(range(1000))

    def new(agents: Sequence[AgentFile]) -> AgentDefSource:
        source = Broken(lambda given: given, agents)
        source.turn = lambda served: served[next(answers) % 2 :]
        return source

    with pytest.raises(AssertionError, match="a second call gives something else"):
        check_agent_source(new)


def test_the_kit_names_every_clause_that_is_broken() -> None:
    with pytest.raises(AssertionError) as caught:
        check_agent_source(lambda agents: Broken(lambda _: (), agents))

    assert "the_definitions_are_served_whole_and_sorted" in str(caught.value)
    assert "texts_are_held_to_their_caps" in str(caught.value)
