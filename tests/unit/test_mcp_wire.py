"""The HTTP under the client sends to fit addresses only, and reads no more than it can hold."""

from __future__ import annotations

import httpx2
import pytest

from activities.mcp.servers import Opened, Servers, open_server
from activities.mcp.wire import MOST_RECEIVED, Trace, Wire, http_client
from domain.errors import LegatoError
from domain.mcp.declared import Secret, Server

PLANTED = "planted-secret"


class Answering(httpx2.AsyncBaseTransport):
    """Answers every request with one response, and keeps what it was asked."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.asked: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Keep and answer."""
        self.asked.append(request)
        return self.response


async def posted(trace: Trace, inner: Answering, url: str) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=Wire(trace, inner)) as client:
        return await client.post(url, content=b"{}")


@pytest.mark.parametrize("url", ["http://x.example/mcp", "http://a:b@127.0.0.1/", "ftp://x/"])
async def test_nothing_is_sent_where_a_secret_could_be_read(url: str) -> None:
    trace, inner = Trace(calling=True), Answering(httpx2.Response(200))

    with pytest.raises((httpx2.ConnectError, httpx2.UnsupportedProtocol)):
        await posted(trace, inner, url)

    assert inner.asked == []
    assert not trace.sent


async def test_an_answer_without_end_is_cut_off_and_the_call_counts_as_sent() -> None:
    trace = Trace(calling=True)
    inner = Answering(httpx2.Response(200, stream=httpx2.ByteStream(b"x" * (MOST_RECEIVED + 1))))

    with pytest.raises(httpx2.ReadError):
        await posted(trace, inner, "https://x.example/mcp")

    assert trace.sent
    assert f"more than {MOST_RECEIVED} bytes" in trace.problem


async def test_an_answer_that_is_compressed_unasked_is_not_unpacked() -> None:
    trace = Trace()
    packed = httpx2.Response(200, headers={"content-encoding": "br"}, stream=httpx2.ByteStream(b""))

    with pytest.raises(httpx2.ReadError):
        await posted(trace, Answering(packed), "https://x.example/mcp")

    assert "compresses" in trace.problem


def server(**more: Secret) -> Server:
    return Server("issues", "https://x.example/mcp", headers=more)


def opened(given: Server, **values: str) -> Opened:
    return open_server(Servers(secret=values.get), given)


async def test_headers_go_out_with_their_scheme_and_nothing_of_the_surroundings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    one = opened(server(Authorization=Secret("T", "Bearer")), T=PLANTED)
    async with http_client(one, Trace(), 5) as client:
        request = client.build_request("POST", one.url)

    assert request.headers["authorization"] == f"Bearer {PLANTED}"
    assert request.headers["accept-encoding"] == "identity"
    assert not client.trust_env


def test_a_secret_is_struck_in_the_forms_in_which_a_server_may_tell_it_back() -> None:
    one = opened(server(A=Secret("T"), B=Secret("LONG")), T='a"b\\c', LONG='a"b\\c-and-more')

    assert one.struck('x a"b\\c y') == "x [T] y"
    assert one.struck('{"x": "a\\"b\\\\c"}') == '{"x": "[T]"}'
    assert one.struck('a"b\\c-and-more') == "[LONG]"
    assert PLANTED not in repr(opened(server(A=Secret("T")), T=PLANTED))


def test_a_secret_address_is_checked_and_shown_by_its_name_only() -> None:
    hook = Server("hook", Secret("HOOK"))
    one = opened(hook, HOOK=f"https://x.example/hooks/{PLANTED}?k=v")

    assert one.url.endswith("?k=v")
    assert one.struck(f"no /hooks/{PLANTED} here") == "no [HOOK] here"
    assert hook.address == "$HOOK"
    with pytest.raises(LegatoError) as refused:
        opened(hook, HOOK=f"http://x.example/{PLANTED}")
    assert refused.value.code == "mcp_url_unfit"
    assert PLANTED not in str(refused.value)
