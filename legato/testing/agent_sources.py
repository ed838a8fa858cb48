"""What holds of every source of agent definitions, as checks that any implementation can run.

    @pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
    def test_my_source(clause):
        clause(my_new_source)

A new source is made of given definitions; each clause raises AssertionError where it does
not hold. `check_agent_source` runs them all. A source answers from memory, so that there is
nothing to wait for and nothing to cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from domain.agents.files.agent_file import AgentFile, HeaderRef, Hook, McpServer, Origin
from domain.agents.files.caps import MOST_BODY, MOST_DESCRIPTION, one_line, size
from domain.agents.files.render import render_agent_file
from domain.agents.files.source import AgentDefSource

NewSource: TypeAlias = Callable[[Sequence[AgentFile]], AgentDefSource]
Clause: TypeAlias = Callable[[NewSource], None]

MINIMAL = AgentFile(
    name="echo",
    description="Says again what it was told, and what it found.",
    body="Say the task again in your own words, then do it.",
)
WHOLE = AgentFile(
    name="Full Stack",
    description="Has every field that there is but servers.",
    body="You know the whole stack.\nLook before you change anything.",
    tools=("read_file", "search_files", "mcp__github__*"),
    disallowed_tools=("write_file",),
    model="sonnet",
    provider="openrouter",
    permission_mode="plan",
    max_turns=7,
    max_tool_calls=21,
    skills=("review", "research"),
    hooks=(
        Hook("PreToolUse", "echo before", matcher="shell|edit_file"),
        Hook("PreToolUse", "echo always"),
        Hook("Stop", "echo done"),
    ),
    memory="project",
    color="blue",
)
SERVERS = AgentFile(
    name="mcp-ops",
    description="Works with servers: one by its name, one of its own.",
    body="Use the servers to look at the boards.",
    mcp_servers=(
        McpServer("github"),
        McpServer(
            "inline-auth",
            "https://example.test/mcp",
            (HeaderRef("Authorization", "Bearer", "FIXTURE_TOKEN"), HeaderRef("X-Org", "", "ORG")),
        ),
    ),
    memory="user",
)
NOTHING = AgentFile(
    name="empty-handed",
    description="Was given empty lists, which are not the same as none given.",
    body="Think, and answer.",
    tools=(),
    disallowed_tools=(),
    skills=(),
    mcp_servers=(),
    hooks=(),
)
FOREIGN = AgentFile(
    name="Prüferin für Größen",
    description="Prüft Größen — 寸法を確認する, и всё остальное.",
    body="Prüfe genau.\n\n寸法を確認してください。",
)
FULL = AgentFile(
    name="at-both-caps",
    description="é" * (MOST_DESCRIPTION // 2),
    body="寸" * (MOST_BODY // 3) + "xy",
)
FIXTURE: tuple[AgentFile, ...] = (FOREIGN, WHOLE, MINIMAL, SERVERS, NOTHING, FULL)
"""Definitions that use every field, in no order; two texts stand exactly at their caps."""

_CALLS = 32


def the_definitions_are_served_whole_and_sorted(new: NewSource) -> None:
    """Every field but the origin is as given, empty and absent kept apart; sorted by id."""
    served = _listed(new(FIXTURE))
    ids = [agent.id for agent in served]
    _require(ids == sorted(set(ids)), "ids are not sorted, or one is there twice")
    _require(len(served) == len(FIXTURE), f"{len(served)} of {len(FIXTURE)} are served")
    expected = sorted(FIXTURE, key=lambda agent: agent.id)
    for got, given in zip(served, expected, strict=True):
        same = replace(got, origin=given.origin)
        _require(same == given, f"{given.id} is not served as it was given")


def every_definition_says_where_it_was_admitted(new: NewSource) -> None:
    """The origin is one of the closed set, stamped by the source."""
    origins = {agent.origin for agent in _listed(new(FIXTURE))}
    _require(origins <= set(Origin), "an origin is not of the set")


def an_empty_source_gives_nothing(new: NewSource) -> None:
    """No definitions are no error."""
    _require(_listed(new(())) == (), "an empty source gives something")


def the_same_is_served_at_each_call(new: NewSource) -> None:
    """A source is a snapshot."""
    source = new(FIXTURE)
    _require(_listed(source) == _listed(source), "a second call gives something else")


def nobody_can_change_what_others_are_served(new: NewSource) -> None:
    """What is returned cannot be changed, and the given list counts no more once it was read."""
    given = list(FIXTURE)
    source = new(given)
    given.clear()
    served = _listed(source)
    for agent in served:
        try:
            hash(agent)
        except TypeError:
            _require(holds=False, says=f"{agent.id} holds something that can be changed")
    _require(len(served) == len(FIXTURE), "a change of the given list reached the source")


def many_callers_at_once_are_served_the_same(new: NewSource) -> None:
    """Calls from several threads agree."""
    source = new(FIXTURE)
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(_listed, [source] * _CALLS)]
    _require(all(one == answers[0] for one in answers), "callers at once are served differently")


def texts_are_held_to_their_caps(new: NewSource) -> None:
    """Longer texts are cut between characters, and a description is one line."""
    long = replace(FULL, name="long", description="寸" * 1000, body="é" * MOST_BODY)
    lines = replace(MINIMAL, name="lines", description="one\ntwo\u2028three")
    served = _listed(new((long, lines)))
    _require(len(served) == len((long, lines)), "a definition with long texts is lost")
    for agent in served:
        _require(size(agent.description) <= MOST_DESCRIPTION, "a description is over its cap")
        _require(size(agent.body) <= MOST_BODY, "a body is over its cap")
        _require(one_line(agent.description) == agent.description, "a description has lines")
    _require(served[1].description.startswith("寸"), "a cut description is not its beginning")
    _require("\ufffd" not in served[1].description + served[1].body, "a character was cut apart")


def the_first_of_a_name_counts(new: NewSource) -> None:
    """Of names that differ only in case and punctuation there is one definition."""
    first = replace(MINIMAL, name="Code Reviewer", body="first")
    second = replace(MINIMAL, name="code_reviewer", body="second")
    served = _listed(new((first, second)))
    bodies = [agent.body for agent in served]
    _require(bodies == ["first"], "of two definitions with one id not just the first is served")


CLAUSES: tuple[Clause, ...] = (
    the_definitions_are_served_whole_and_sorted,
    every_definition_says_where_it_was_admitted,
    an_empty_source_gives_nothing,
    the_same_is_served_at_each_call,
    nobody_can_change_what_others_are_served,
    many_callers_at_once_are_served_the_same,
    texts_are_held_to_their_caps,
    the_first_of_a_name_counts,
)


def check_agent_source(new: NewSource) -> None:
    """Check every clause; raises AssertionError with all that do not hold."""
    broken: list[str] = []
    for clause in CLAUSES:
        try:
            clause(new)
        except AssertionError as error:
            broken.append(f"{clause.__name__}: {error}")
    _require(not broken, "; ".join(broken))


def write_agent_files(folder: Path, agents: Sequence[AgentFile]) -> None:
    """Write definitions as files of a folder, which is made; names of files keep their order."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, agent in enumerate(agents):
        Path(folder, f"{n:04}.md").write_text(render_agent_file(agent), encoding="utf-8")


def _listed(source: AgentDefSource) -> tuple[AgentFile, ...]:
    served = source.list_agents()
    kind = type(served).__name__
    _require(type(served) is tuple, f"a {kind} is served, which callers could change")
    return served


def _require(holds: bool, says: str) -> None:  # noqa: FBT001 - what is required reads first
    if not holds:
        raise AssertionError(says)
