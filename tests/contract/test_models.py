"""Each provider's model keeps the same contract over real HTTP."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from activities.models.select import model_for
from domain.runs.conversation import AssistantMessage, CallRequest, Native, ToolMessage
from domain.runs.model_name import parse_model
from tests.support.model_requests import (
    HELLO,
    Heard,
    answer_to,
    request_of,
    result_of,
    said,
)
from tests.support.model_server import ModelServer, Silence, model_server
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.ports import Model

PROVIDERS = ("openai", "anthropic", "google")
BOTH = Says(calls=(Call("look", '{"path": "a"}'), Call("find", '{"path": "b"}')))


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.queue.clear()
    running.requests.clear()
    return running


@pytest.fixture(params=PROVIDERS)
def name(request: pytest.FixtureRequest, server: ModelServer) -> str:
    return server.name_of(str(request.param))


@pytest.fixture
def model(name: str) -> Model:
    return model_for(name, lambda _: "key-1")


def bodies(server: ModelServer) -> list[dict[str, Any]]:
    return [recorded.body for recorded in server.requests]


async def test_text_arrives_in_pieces_and_whole(model: Model, server: ModelServer) -> None:
    server.plays(Says("One, two, three.", pieces=4))
    heard = Heard()

    answer = await model(request_of(), heard)

    assert answer.text == "One, two, three."
    assert "".join(heard.pieces) == answer.text
    assert len(heard.pieces) > 1
    assert (answer.finish, answer.calls, answer.native) == ("stop", (), None)
    assert len(server.requests) == 1


async def test_parallel_calls_keep_their_order_and_raw_arguments(
    model: Model, server: ModelServer
) -> None:
    server.plays(Says(calls=(Call("look", '{"path":  "a"}', id="x"), Call("find", "", id="x"))))

    answer = await answer_to(model, request_of(tools=("look", "find")))

    assert [(c.position, c.name, c.provider_id) for c in answer.calls] == [
        (0, "look", "x"),
        (1, "find", "x"),
    ]
    assert [json.loads(call.arguments) for call in answer.calls] == [{"path": "a"}, {}]
    assert answer.finish == "tool_calls"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_broken_arguments_are_kept_as_written_and_can_be_answered(
    provider: str, server: ModelServer
) -> None:
    model = model_for(server.name_of(provider), lambda _: "key-1")
    server.plays(Says(calls=(Call("look", '{"path": '),)), Says("I see."))

    answer = await answer_to(model, request_of(tools=("look",)))
    result = result_of(answer, 0, "the arguments are not JSON", failed=True)
    after = await answer_to(model, request_of(HELLO, said(answer), result, ordinal=1))

    assert answer.calls[0].arguments == '{"path": '
    assert after.text == "I see."


async def test_usage_counts_cached_tokens_in_and_is_priced(
    model: Model, server: ModelServer
) -> None:
    server.plays(Says("Yes.", input_tokens=1000, cached_tokens=400, output_tokens=50))

    usage = (await answer_to(model)).usage

    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1000, 400, 50)
    assert usage.cost is not None
    assert 0 < Decimal(usage.cost) < Decimal("0.1")
    assert usage.prices.startswith("genai-prices ")


async def test_a_compatible_address_has_no_price_and_needs_no_key(server: ModelServer) -> None:
    model = model_for(server.name_of("compatible"), lambda _: None)

    usage = (await answer_to(model)).usage

    assert (usage.input_tokens, usage.cost, usage.prices) == (100, None, "")
    assert bodies(server)[0]["max_tokens"] == 100


async def test_an_answer_cut_by_its_limit_says_so(model: Model, server: ModelServer) -> None:
    server.plays(Says("And then", finish="length"))

    assert (await answer_to(model)).finish == "length"


async def test_tools_are_sent_sorted_and_the_prefix_is_the_same_bytes(
    model: Model, server: ModelServer
) -> None:
    server.plays(BOTH)
    first = await answer_to(model, request_of(tools=("look", "find")))
    results = (result_of(first, 0, "A"), result_of(first, 1, "B"))
    await answer_to(model, request_of(HELLO, said(first), *results, tools=("find", "look")))

    one, two = bodies(server)
    assert json.dumps(one["tools"]) == json.dumps(two["tools"])
    assert json.dumps(one["tools"]).index('"find"') < json.dumps(one["tools"]).index('"look"')
    assert '"strict"' not in json.dumps(one["tools"])


async def test_results_answer_their_calls_though_ids_repeat(
    model: Model, server: ModelServer
) -> None:
    server.plays(Says(calls=(Call("look", id="x"), Call("find", id="x"))), Says("Good."))
    first = await answer_to(model, request_of(tools=("look", "find")))
    again = (result_of(first, 0, "result A"), result_of(first, 1, "result B", failed=True))
    await answer_to(model, request_of(HELLO, said(first), *again, tools=("look", "find")))

    answered = wire_results(bodies(server)[1])
    assert [text for _, text in answered] == ["result A", "result B"]
    assert len({wire_id for wire_id, _ in answered}) == 2
    assert [wire_id for wire_id, _ in answered] == wire_calls(bodies(server)[1])


async def test_native_thinking_returns_to_its_own_model_only(
    model: Model, name: str, server: ModelServer
) -> None:
    server.plays(Says("So.", BOTH.calls, thinking="deep thought", signature="c2lnbmVk"))
    first = await answer_to(model, request_of(tools=("look", "find")))
    results = (result_of(first, 0, "A"), result_of(first, 1, "B"))
    assert first.native is not None
    assert first.native.key == parse_model(name).key

    foreign = Native(key="anthropic:another", data=first.native.data)
    await answer_to(model, request_of(HELLO, said(first), *results))
    await answer_to(
        model,
        request_of(HELLO, said(first).model_copy(update={"native": foreign}), *results),
    )

    _, own, others = [json.dumps(body) for body in bodies(server)]
    assert "deep thought" in own
    assert "deep thought" not in others
    assert wire_calls(bodies(server)[1]) == wire_calls(bodies(server)[2])


async def test_native_bytes_that_cannot_be_read_are_left_out(
    model: Model, name: str, server: ModelServer
) -> None:
    call = CallRequest(position=0, provider_id="odd id/1", name="look", arguments='{"path": "a"}')
    broken = Native(key=parse_model(name).key, data="bm90IGpzb24=")
    message = AssistantMessage(text="So.", calls=(call,), native=broken)
    result = ToolMessage(provider_id="odd id/1", name="look", text="A", failed=False)

    await answer_to(model, request_of(HELLO, message, result))

    body = bodies(server)[0]
    assert [text for _, text in wire_results(body)] == ["A"]
    assert "odd id/1" not in json.dumps(body)


async def test_cancelling_closes_the_connection(model: Model, server: ModelServer) -> None:
    server.plays(Silence())
    begun = asyncio.Event()
    asking = asyncio.ensure_future(model(request_of(), lambda _: begun.set()))
    await asyncio.wait_for(begun.wait(), timeout=20)

    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking

    assert asking.cancelled()
    assert await asyncio.to_thread(server.requests[0].left.wait, 5)
    assert len(server.requests) == 1


async def test_the_temperature_is_sent_only_where_it_is_set(
    model: Model, server: ModelServer
) -> None:
    await answer_to(model, request_of())
    await answer_to(model, request_of(temperature=0.5))

    without, with_it = [json.dumps(body) for body in bodies(server)]
    assert "temperature" not in without
    assert '"temperature": 0.5' in with_it


def wire_calls(body: dict[str, Any]) -> list[str]:
    """The ids of the calls in a request, in order, in whatever dialect."""
    found: list[str] = []
    for message in body.get("messages", body.get("contents", [])):
        found += [call["id"] for call in message.get("tool_calls", [])]
        found += [b["id"] for b in blocks(message) if b.get("type") == "tool_use"]
        found += [b["functionCall"]["id"] for b in blocks(message) if "functionCall" in b]
    return found


def wire_results(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Id and text of each result in a request, in order, in whatever dialect."""
    found: list[tuple[str, str]] = []
    for message in body.get("messages", body.get("contents", [])):
        if message["role"] == "tool":
            found.append((message["tool_call_id"], message["content"]))
        for block in blocks(message):
            if block.get("type") == "tool_result":
                found.append((block["tool_use_id"], block["content"][0]["text"]))
            if "functionResponse" in block:
                given = block["functionResponse"]
                found.append((given["id"], next(iter(given["response"].values()))))
    return found


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content: str | list[dict[str, Any]] | None = message.get("parts", message.get("content"))
    return content if isinstance(content, list) else []
