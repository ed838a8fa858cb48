"""The remote source over real HTTP: what it may say, and what its client makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from domain.agents.files.agent_file import Origin
from domain.agents.files.caps import MOST_AGENTS, MOST_BODY, MOST_DESCRIPTION
from domain.errors import LegatoError
from legato.agent_files.discovery import Wanted, read_agents
from legato.agent_files.driver import MOST_BYTES, fetch
from legato.testing.agent_sources import FIXTURE
from tests.support.agent_server import agent_server, document

if TYPE_CHECKING:
    from domain.agents.files.registry import Gathered

SECRET = "hunter2-PLANTED"  # noqa: S105 - planted to be looked for


def served(*agents: object) -> Gathered:
    """Ask a source that serves these entries."""
    with agent_server({"contract": 1, "agents": list(agents)}) as server:
        return fetch(server.url)


def refused(body: object, *, status: int = 200, location: str = "") -> LegatoError:
    """Ask a source whose answer is no good."""
    with agent_server(body, status=status, location=location) as server:
        with pytest.raises(LegatoError) as caught:
            fetch(server.url)
        return caught.value


def test_it_is_asked_once_and_takes_the_place_of_all_folders(tmp_path: Path) -> None:
    (tmp_path / "legato" / "agents").mkdir(parents=True)
    (tmp_path / "legato" / "agents" / "mine.md").write_text("---\nname: m\ndescription: d\n---\n")
    with agent_server(document(FIXTURE)) as server:
        snapshot = read_agents(Wanted(url=server.url + "/", config_home=tmp_path))
        snapshot.source.list_agents()

    assert server.asked == [("/agents", "")]
    assert {agent.origin for agent in snapshot.source.list_agents()} == {Origin.DRIVER}
    assert snapshot.registry.get("m") is None
    located = snapshot.registry.located("echo")
    assert located is not None
    assert located.where == f"{server.url}/ entry 3"


def test_with_folders_of_ones_own_it_is_a_conflict() -> None:
    with pytest.raises(LegatoError) as caught:
        read_agents(Wanted(url="http://127.0.0.1:9", explicit=(Path("agents"),)))

    assert caught.value.code == "agent_sources_conflict"


def test_an_origin_of_its_own_claim_is_void() -> None:
    (one,) = served({"name": "a", "description": "d", "origin": "explicit", "body": "b"}).found

    assert one.agent.origin is Origin.DRIVER


def test_the_wire_is_held_to_the_rules_and_caps_of_files() -> None:
    deep: object = "x"
    for _ in range(22):
        deep = [deep]
    server = {"name": "x", "url": "https://h.example", "headers": {"A": SECRET}}
    gathered = served(
        {"name": " a ", "description": "x\ny" * 2000, "body": "é" * MOST_BODY},
        {"name": "nulled", "description": "d", "tools": None},
        {"name": "wide", "description": "d", "tools": ["t"] * 257},
        {"name": "hooked", "description": "d", "hooks": {"Stop": "x"}, "body": "b"},
        {"name": "A", "description": "second", "body": "b"},
        {"name": "deep", "description": "d", "skills": deep},
        "no object",
        {"name": "a2", "description": "d", "body": 7},
        {"name": "told", "description": "d", "mcpServers": [server], "body": "b"},
    )  # fmt: skip
    codes = {(one.file.rpartition(" ")[2], one.code) for one in gathered.problems}

    assert [one.agent.id for one in gathered.found] == ["a", "hooked", "told"]
    assert len(gathered.found[0].agent.description.encode()) <= MOST_DESCRIPTION
    assert len(gathered.found[0].agent.body.encode()) <= MOST_BODY
    assert codes == {
        ("1", "description_cut"), ("1", "body_cut"), ("2", "field_null"), ("2", "body_empty"),
        ("3", "too_many"), ("3", "body_empty"), ("4", "driver_hooks"), ("5", "name_taken"),
        ("6", "wire_invalid"), ("7", "wire_invalid"), ("8", "wire_invalid"),
        ("9", "header_secret"),
    }  # fmt: skip
    assert SECRET not in str(gathered)


def test_more_agents_than_there_may_be_are_left_out_and_told() -> None:
    agents = [{"name": f"a{n}", "description": "d", "body": "b"} for n in range(MOST_AGENTS + 5)]
    gathered = served(*agents)

    assert len(gathered.found) == MOST_AGENTS
    assert [one.code for one in gathered.problems] == ["agents_too_many"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"{}", b'{"agents": []}', b'{"contract": 2, "agents": []}',
        b'{"contract": 1, "agents": {}}', b'{"contract": 1, "contract": 1, "agents": []}',
        b'{"contract": 1, "agents": [{"tools": [], "tools": ["Write"]}]}',
        b'{"contract": 1, "agents": [NaN]}', b"[" * 100_000, b"\xff\xfe",
    ],
    ids=range(13),
)  # fmt: skip
def test_an_answer_that_is_no_document_is_refused_whole(body: bytes) -> None:
    assert refused(body).code == "agent_source_answer"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (204, "agent_source_answer"),
        (401, "agent_source_answer"),
        (404, "agent_source_answer"),
        (500, "agent_source_unreachable"),
        (503, "agent_source_unreachable"),
    ],
)
def test_a_status_other_than_200_is_told_without_the_answer(status: int, code: str) -> None:
    error = refused({"error": SECRET}, status=status)

    assert error.code == code
    assert str(status) in error.cause
    assert SECRET not in str(error.__dict__)


def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    error = refused(b" " * (MOST_BYTES + 1))

    assert error.code == "agent_source_answer"
    assert str(MOST_BYTES) in error.cause


def test_nobody_at_the_address_is_told() -> None:
    with agent_server({}) as server:
        gone = server.url
    with pytest.raises(LegatoError) as caught:
        fetch(gone)

    assert caught.value.code == "agent_source_unreachable"


@pytest.mark.parametrize(
    "url",
    [
        "http://agents.example", "ftp://127.0.0.1", "https://u:p@agents.example", "agents.example",
        "https://agents.example?token=x",
    ],
)  # fmt: skip
def test_an_address_in_clear_text_or_with_a_secret_is_never_asked(url: str) -> None:
    with pytest.raises(LegatoError) as caught:
        fetch(url)

    assert caught.value.code == "agent_source_address"
    assert url not in str(caught.value.__dict__)


@pytest.mark.parametrize(
    "location", ["http://agents.example/agents", "ftp://127.0.0.1/agents", "//u:p@127.0.0.1/agents"]
)
def test_it_is_not_followed_to_where_it_could_not_have_been_asked(location: str) -> None:
    assert refused({}, status=302, location=location).code == "agent_source_address"


def test_it_is_followed_but_not_for_ever_and_the_token_stays_at_home() -> None:
    with agent_server(document(FIXTURE)) as other:
        with agent_server(b"", status=307, location=f"{other.url}/agents") as server:
            gathered = fetch(server.url, SECRET)
        assert len(gathered.found) == len(FIXTURE)
        assert server.asked == [("/agents", f"Bearer {SECRET}")]
        assert other.asked == [("/agents", "")]
    error = refused(b"", status=302, location="/agents")

    assert error.code == "agent_source_answer"
    assert "5 times" in error.cause


def test_the_same_document_gives_the_same_agents_in_any_order() -> None:
    whole = json.loads(json.dumps(document(FIXTURE)))["agents"]

    assert [one.agent for one in served(*whole).found] == [
        one.agent for one in served(*whole[::-1]).found
    ]
