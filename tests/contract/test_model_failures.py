"""What each provider's errors become, over real HTTP: code, disposition, one request each."""

from __future__ import annotations

import socket
import traceback
from typing import TYPE_CHECKING

import pytest

from activities.models.select import model_for
from domain.ports import Disposition
from tests.support.model_requests import failure_to, request_of
from tests.support.model_server import (
    BadJson,
    Behaviour,
    BreaksDown,
    HalfStream,
    ModelServer,
    Refuses,
    Silence,
    model_server,
)
from tests.support.model_wire import Says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.ports import Model

PROVIDERS = ("openai", "anthropic", "google")
RETRY, CAPACITY = Disposition.RETRY, Disposition.CAPACITY
OVERFLOW, REFUSE = Disposition.OVERFLOW, Disposition.REFUSE
LIMITED = "rate_limit_error"
EVERYWHERE: list[tuple[Behaviour, str, Disposition, float | None]] = [
    (Refuses(429, LIMITED), "rate_limited", RETRY, None),
    (Refuses(429, LIMITED, headers={"retry-after": "7"}), "rate_limited", RETRY, 7.0),
    (Refuses(429, LIMITED, headers={"retry-after": "90"}), "rate_limited", CAPACITY, 90.0),
    (Refuses(402), "quota_exhausted", CAPACITY, None),
    (Refuses(500), "provider_failed", RETRY, None),
    (Refuses(502), "provider_failed", RETRY, None),
    (Refuses(503), "provider_failed", RETRY, None),
    (Refuses(503, headers={"retry-after": "60"}), "provider_failed", CAPACITY, 60.0),
    (Refuses(529, "overloaded_error"), "model_overloaded", RETRY, None),
    (Refuses(408), "provider_failed", RETRY, None),
    (Refuses(401), "model_key_refused", REFUSE, None),
    (Refuses(403), "model_key_refused", REFUSE, None),
    (Refuses(404), "model_not_found", REFUSE, None),
    (Refuses(400), "request_rejected", REFUSE, None),
    (Refuses(413), "context_overflow", OVERFLOW, None),
    (HalfStream(Says("Half of it")), "half_stream", RETRY, None),
    (HalfStream(Says("Half of it"), broken=True), "half_stream", RETRY, None),
    (BadJson(), "bad_response", RETRY, None),
    (BadJson("<html>welcome</html>", "text/html"), "bad_response", RETRY, None),
]
THEIR_OWN = [
    ("openai", Refuses(429, "insufficient_quota"), "quota_exhausted", CAPACITY),
    ("openai", Refuses(400, "context_length_exceeded"), "context_overflow", OVERFLOW),
    (
        "anthropic",
        Refuses(400, "invalid_request_error", "prompt is too long: 9 > 8"),
        "context_overflow",
        OVERFLOW,
    ),
    (
        "google",
        Refuses(400, message="The input token count (9) exceeds the maximum number"),
        "context_overflow",
        OVERFLOW,
    ),
    (
        "openai",
        BreaksDown(Says("Half"), Refuses(429, "rate_limit_exceeded")),
        "rate_limited",
        RETRY,
    ),
    (
        "anthropic",
        BreaksDown(Says("Half"), Refuses(529, "overloaded_error")),
        "model_overloaded",
        RETRY,
    ),
]


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.queue.clear()
    running.requests.clear()
    return running


def model_at(server: ModelServer, provider: str, *, idle: float = 60) -> Model:
    return model_for(server.name_of(provider), lambda _: "key-canary", idle=idle)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_each_failure_has_its_code_and_costs_one_request(
    provider: str, server: ModelServer
) -> None:
    model = model_at(server, provider)
    got: list[tuple[Behaviour, str, Disposition, float | None]] = []
    for behaviour, *_ in EVERYWHERE:
        server.plays(behaviour)
        failure = await failure_to(model)
        got.append((behaviour, failure.code, failure.disposition, failure.retry_after))

    assert got == EVERYWHERE
    assert len(server.requests) == len(EVERYWHERE)


@pytest.mark.parametrize(("provider", "behaviour", "code", "disposition"), THEIR_OWN)
async def test_a_providers_own_word_decides(
    provider: str,
    behaviour: Behaviour,
    code: str,
    disposition: Disposition,
    server: ModelServer,
) -> None:
    server.plays(behaviour)

    failure = await failure_to(model_at(server, provider))

    assert (failure.code, failure.disposition) == (code, disposition)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("broken", [False, True])
async def test_half_a_stream_keeps_the_text_that_came(
    provider: str, server: ModelServer, *, broken: bool
) -> None:
    server.plays(HalfStream(Says("Half of it"), broken=broken))

    assert (await failure_to(model_at(server, provider))).partial == "Half of it"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_silence_ends_at_the_idle_limit(provider: str, server: ModelServer) -> None:
    server.plays(Silence(Says("Let me ")))

    failure = await failure_to(model_at(server, provider, idle=1))

    assert (failure.code, failure.disposition) == ("model_timeout", RETRY)
    assert failure.partial == "Let me "


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_failure_holds_no_body_and_no_key(provider: str, server: ModelServer) -> None:
    model = model_at(server, provider)
    for behaviour in (
        Refuses(400, message="body-canary"),
        Refuses(429, LIMITED, "body-canary"),
        BadJson("body-canary", "application/json"),
        BreaksDown(Says("Half"), Refuses(500, message="body-canary")),
    ):
        server.plays(behaviour)
        failure = await failure_to(model)
        shown = [*map(str, vars(failure).values()), *traceback.format_exception(failure)]
        assert "canary" not in "".join(shown)
        assert failure.__context__ is None
        assert failure.next


async def test_nobody_listening_is_a_connection_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = model_for(f"http://127.0.0.1:{port}/v1#local", lambda _: None)

    failure = await failure_to(model)

    assert (failure.code, failure.disposition) == ("connection_failed", RETRY)


async def test_a_model_answers_again_after_failures(server: ModelServer) -> None:
    model = model_at(server, "openai")
    server.plays(HalfStream(Says("Ha"), broken=True), Refuses(500), Says("Better."))
    codes = [(await failure_to(model)).code for _ in range(2)]

    assert codes == ["half_stream", "provider_failed"]
    assert (await model(request_of(), lambda _: None)).text == "Better."
