"""What a viewer sees of a run while it goes on, over real HTTP, and after coming back."""

from __future__ import annotations

import asyncio
import stat
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from domain.codec import decode_object
from domain.events import ModelLost, ModelResponded, encode
from tests.support.api import Seen, ServedApi, served_api
from tests.support.model_server import ModelServer, model_server
from tests.support.model_wire import Says
from tests.support.stack import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.rig import Rig

KEYS = {"OPENAI_API_KEY": "key-of-a-test"}
BEHIND = 'legato_behind_events{reader="projections"}'
STORY = " ".join(f"word{n}" for n in range(120))
SLOWLY = Says(STORY, pieces=40, pause=0.05)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One provider for all."""
    with model_server() as running:
        yield running


@pytest.fixture
def api(rig: Rig) -> Iterator[ServedApi]:
    """The API of the rig's home."""
    with served_api(rig.home, rig.stack.database_url, rig.folder / "api.log") as running:
        yield running


async def read(
    api: ServedApi, run_id: str, after: str, enough: Callable[[list[Seen]], bool]
) -> list[Seen]:
    """Read a stream until there is enough of it, then leave."""
    seen: list[Seen] = []
    async with aclosing(api.stream(run_id, after)) as stream:
        async for one in stream:
            seen.append(one)
            if enough(seen):
                break
    return seen


def text_of(seen: list[Seen]) -> str:
    """The text that came before the response."""
    return "".join(one.data["text"] for one in seen if one.kind == "text")


def until_pieces(count: int) -> Callable[[list[Seen]], bool]:
    """Enough is so many pieces of text."""
    return lambda seen: len([one for one in seen if one.kind == "text"]) >= count


def to_the_end(seen: list[Seen]) -> bool:
    """Enough is the run's end."""
    return seen[-1].kind == "end"


async def test_a_viewer_who_comes_back_gets_exactly_what_it_missed(
    rig: Rig, server: ModelServer, api: ServedApi
) -> None:
    """It leaves in the middle of a response, twice, and has the whole run at the end."""
    server.plays(SLOWLY)
    rig.start_worker(**KEYS)
    run_id = await rig.launch(model=server.name_of("openai"))

    seen = await read(api, run_id, "", until_pieces(2))
    seen += await read(api, run_id, seen[-1].id, until_pieces(3))
    before_the_end = len(seen)
    seen += await read(api, run_id, seen[-1].id, to_the_end)

    stored = await rig.stored(run_id)
    told = [one for one in seen if one.kind not in {"text", "end"}]
    assert [(one.data["version"], one.data["body"]) for one in told] == [
        (one.version, decode_object(encode(one.fact))) for one in stored
    ]
    pieces = [one for one in seen if one.kind == "text"]
    assert [one.data["seq"] for one in pieces] == list(range(1, len(pieces) + 1))
    assert not any(one.data["gap"] for one in pieces)
    assert len(pieces) >= 5
    assert before_the_end >= 5
    assert STORY.startswith(text_of(seen))
    assert await rig.ledger.pool.fetchval("select count(*) from live.piece") == 0


@pytest.mark.slow
async def test_a_response_that_was_lost_with_its_worker_begins_anew_for_the_viewer(
    rig: Rig, server: ModelServer, api: ServedApi
) -> None:
    """The text of the lost request is followed by the event that says so."""
    server.plays(SLOWLY, Says("short"))
    worker = rig.start_worker(**KEYS)
    run_id = await rig.launch(model=server.name_of("openai"))
    seen = await read(api, run_id, "", until_pieces(2))
    worker.kill()
    rig.start_worker(**KEYS)

    seen += await read(api, run_id, seen[-1].id, to_the_end)

    kinds = [one.kind for one in seen]
    lost = kinds.index("model.lost")
    assert {one.data["request"] for one in seen[:lost] if one.kind == "text"} == {1}
    assert len(await rig.of(run_id, ModelLost)) == 1
    assert [one.text for one in await rig.of(run_id, ModelResponded)] == ["short"]
    assert kinds[-1] == "end"


async def test_figures_of_the_ledger_are_served_to_the_holder_of_the_token(
    rig: Rig, api: ServedApi
) -> None:
    """What is counted is what lists show; how far they are behind is a figure too."""
    worker = rig.start_worker()
    await rig.ended(await rig.launch(model=rig.script("steps: [{text: hello}]")))
    told = await asyncio.to_thread(caught_up, api)
    worker.terminate()

    rows = await rig.ledger.pool.fetch("select status from projection.run")
    completed = [row for row in rows if row["status"] == "completed"]
    assert told['legato_runs{status="completed"}'] == len(completed) > 0
    assert told["legato_feed_events"] > 0
    assert told["legato_feed_lag_seconds"] < 30
    assert api.get("/metrics", {}).status_code == 401


def caught_up(api: ServedApi) -> dict[str, float]:
    """Read the figures once lists hold all that the feed does."""
    assert until(lambda: figures(api)[BEHIND] == 0)
    return figures(api)


def figures(api: ServedApi) -> dict[str, float]:
    """Read the figures by name."""
    text = api.get("/metrics", api.headers()).text
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


async def test_only_the_holder_of_the_token_reads_and_no_page_of_another_site(
    rig: Rig, api: ServedApi
) -> None:
    """The token's file is its owner's alone; the host and the origin are looked at first."""
    path = "/runs/0000000000000000/events"
    answers = [
        api.get("/health", {}),
        api.get(path, {}),
        api.get(path, {"Authorization": "Bearer wrong"}),
        api.get(path, api.headers(Host="evil.example")),
        api.get(path, api.headers(Origin="https://evil.example")),
        api.get(path, api.headers()),
        api.get(f"{path}?after=nowhere", api.headers()),
        api.get("/nothing", api.headers()),
    ]

    told = [(one.status_code, one.json().get("error", {}).get("code")) for one in answers]
    assert told == [
        (200, None),
        (401, "token_missing"),
        (401, "token_wrong"),
        (403, "host_not_allowed"),
        (403, "origin_not_allowed"),
        (404, "run_not_found"),
        (400, "cursor_invalid"),
        (404, "not_found"),
    ]
    assert stat.S_IMODE((rig.home / "api_token").stat().st_mode) == 0o600
