"""The client of a remote source: one request, every word of the answer checked again."""

from __future__ import annotations

import json
from time import monotonic
from typing import TYPE_CHECKING, NoReturn, cast
from urllib.parse import urljoin, urlsplit

from domain.agents.files.addresses import SAID, Unfit, address_problem
from domain.agents.files.agent_file import Origin
from domain.agents.files.caps import MOST_AGENTS
from domain.agents.files.parse import parse_wire
from domain.agents.files.problems import Problem, in_file, problem
from domain.agents.files.registry import Gathered, Located, stamped, unique
from domain.errors import LegatoError, refused

if TYPE_CHECKING:
    import httpx2 as httpx

CONTRACT = 1
PATH = "/agents"
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of an answer: what 1,024 definitions of the greatest size need, escapes included."""

_MOST_HOPS = 5
_SECONDS = 60.0
_OK = 200
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ITS_TROUBLE = 500


def fetch(url: str, token: str = "") -> Gathered:
    """Ask a remote source for its definitions, once.

    All are stamped `driver`, whatever the answer says, and held to the rules and caps of
    files. One that breaks them is dropped alone.

    Raises:
        LegatoError: `agent_source_address`, `agent_source_unreachable`,
            `agent_source_answer`.

    """
    document = _document(_ask(url.rstrip("/") + PATH, token))
    listed = document.get("agents")
    if document.get("contract") != CONTRACT or not isinstance(listed, list):
        _wrong(f"it is no document of contract {CONTRACT} with a list of agents")
    return _read(cast("list[object]", listed), url)


def _read(listed: list[object], label: str) -> Gathered:
    found: list[Located] = []
    problems: list[Problem] = []
    if len(listed) > MOST_AGENTS:
        problems.append(problem("agents_too_many", file=label, most=MOST_AGENTS))
    for place, value in enumerate(listed[:MOST_AGENTS], 1):
        where = f"{label} entry {place}"
        parsed = parse_wire(value, place)
        problems += in_file(parsed.problems, where)
        if parsed.agent is not None:
            found.append(Located(parsed.agent, where))
            if parsed.agent.hooks:
                problems.append(problem("driver_hooks", file=where))
    kept = unique(found)
    every = (*problems, *kept.problems)
    return Gathered(stamped(kept.found, Origin.DRIVER), every)


def _ask(url: str, token: str) -> bytes:
    """Follow the address to its answer; every hop must be one that may be used."""
    import httpx2 as httpx  # noqa: PLC0415 - folders of agents need no HTTP

    deadline = monotonic() + _SECONDS
    timeout = httpx.Timeout(30.0, connect=10.0)
    _require_usable(url)
    origin = _origin(url)
    try:
        with httpx.Client(timeout=timeout, trust_env=False) as client:
            for _ in range(_MOST_HOPS + 1):
                _require_usable(url)
                headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
                if token and _origin(url) == origin:
                    headers["Authorization"] = f"Bearer {token}"
                with client.stream("GET", url, headers=headers) as answer:
                    if answer.status_code not in _REDIRECTS:
                        return _body(answer, deadline)
                    url = urljoin(url, answer.headers.get("location", ""))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _unreachable(type(error).__name__) from None
    return _wrong(f"it led on more than {_MOST_HOPS} times")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _require_usable(url: str) -> None:
    unfit = address_problem(url)
    if unfit is None:
        return
    way = "use https://, or an address of this machine" if unfit is Unfit.EXPOSED else ""
    raise refused(
        "agent_source_address",
        "the remote source of agents cannot be asked at its address",
        cause=f"the address, or one that it led to, cannot be used: {SAID[unfit]}",
        next=way or "give its address with --agent-source-url, a token in the environment",
    )


def _body(answer: httpx.Response, deadline: float) -> bytes:
    if answer.status_code >= _ITS_TROUBLE:
        raise _unreachable(f"it answered with status {answer.status_code}")
    if answer.status_code != _OK:
        _wrong(f"it answered with status {answer.status_code}")
    whole = bytearray()
    for piece in answer.iter_bytes():
        whole += piece
        if len(whole) > MOST_BYTES:
            _wrong(f"it has more than {MOST_BYTES} bytes")
        if monotonic() > deadline:
            raise _unreachable(f"its answer took more than {_SECONDS:.0f} s")
    return bytes(whole)


def _document(data: bytes) -> dict[str, object]:
    try:
        value: object = json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        _wrong("it is no JSON, or a key of it stands twice")
    if not isinstance(value, dict):
        _wrong("it is no JSON object")
    return cast("dict[str, object]", value)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a repeated key: of two lists of tools, neither is the right one."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError
    return made


def _no_constant(_name: str) -> NoReturn:
    raise ValueError


def _unreachable(cause: str) -> LegatoError:
    return LegatoError(
        "agent_source_unreachable",
        "the remote source of agents did not answer",
        cause=cause,
        next="see that it is up, then run the command again; without it no agent is loaded",
    )


def _wrong(cause: str) -> NoReturn:
    raise refused(
        "agent_source_answer",
        "the answer of the remote source of agents cannot be used",
        cause=cause,
        next="mend the source by the contract in docs/agent-files.md, or check its token",
    )
