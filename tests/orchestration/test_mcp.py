"""Runs with the tools of an MCP server: accepted by a person, called once, secrets in no sink."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any, cast

import pytest

from activities.mcp.servers import Servers
from domain.agents.profile import Profile
from domain.events import CallIntended, CallSettled, InputAsked, McpAccepted, RunDefined, RunRefused
from domain.mcp.snapshot import OfferedTool, snapshot_digest
from domain.runs.unknown import HAPPENED
from domain.tools.results import Tag
from ledger.accept import accept_answer
from ledger.blobs import get_blob
from ledger.mcp import accept, read_accepted
from ledger.reads import read_stream
from legato.mcp_servers import read_file
from legato.readings import read_run
from legato.requests import read_request
from tests.support.canaries import histories_of, seen_in, sightings
from tests.support.mcp_server import McpHost, mcp_host
from tests.support.rig import PERSON, ROOT
from tests.support.trust import all_holds
from workers.mcp_offer import offer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.runs.run import Run
    from tests.support.rig import Rig

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PLANTED = "planted/7f3e+91 secret"


@pytest.fixture
def host() -> Iterator[McpHost]:
    with mcp_host() as running:
        yield running


@pytest.fixture
def name(rig: Rig, host: McpHost) -> str:
    """A server of the rig's home, under a name that no other test has accepted."""
    name = f"issues-{uuid.uuid4().hex[:6]}"
    rig.home.joinpath("mcp.toml").write_text(
        f'[servers.{name}]\nurl = "{host.url}"\nreads = ["look_up"]\ntimeout = 20\n'
        'headers = {Authorization = {secret = "ISSUES_TOKEN", scheme = "Bearer"}}\n'
    )
    return name


def legato(rig: Rig, *arguments: str, token: str = PLANTED) -> tuple[int, dict[str, Any], bytes]:
    """Run the program on the rig's home and servers."""
    named = {
        "LEGATO_HOME": str(rig.home),
        "TEMPORAL_ADDRESS": rig.stack.temporal_address,
        "TEMPORAL_NAMESPACE": rig.stack.temporal_namespace,
        "DATABASE_URL": rig.stack.database_url,
        "ISSUES_TOKEN": token,
    }
    ran = subprocess.run(
        [sys.executable, "-m", "legato.cli", "--json", *arguments],
        env={**os.environ, **named},
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=180,
    )
    document = cast("dict[str, Any]", json.loads(ran.stdout))
    return ran.returncode, document, ran.stdout + ran.stderr


async def accepted(rig: Rig, name: str, n: int = 1) -> None:
    """Accept what the server offers now, as the command does it."""
    servers = Servers(lambda: read_file(rig.home), {"ISSUES_TOKEN": PLANTED}.get)
    said = await asyncio.to_thread(offer, servers, name)
    tools = tuple(OfferedTool.model_validate(one) for one in cast("list[Any]", said["tools"]))
    address = read_file(rig.home).servers[name].address
    digest = snapshot_digest(tools)
    fact = McpAccepted(n=n, server=name, address=address, tools=tools, digest=digest)
    await accept(rig.ledger, PERSON, fact)


def calls(*asked: tuple[str, dict[str, object]]) -> str:
    steps = [{"calls": [{"tool": tool, "arguments": given} for tool, given in asked]}]
    return json.dumps({"steps": [*steps, {"text": "done"}]})


async def outcomes(rig: Rig, run_id: str) -> dict[str, tuple[Tag, str]]:
    settled = await rig.of(run_id, CallSettled)
    return {fact.name: (fact.outcome.tag, fact.outcome.code) for fact in settled}


def in_doubt(run: Run) -> bool:
    return run.waiting is not None and run.waiting.on == "unknown_effect"


async def everything_told(rig: Rig, name: str, run_id: str) -> bytes:
    """All that was kept or said of a run and its server."""
    streams = [f"run/{run_id}", f"mcp/{name}"]
    facts = [one for stream in streams for one in await read_stream(rig.ledger, stream)]
    kept = [one.fact.model_dump_json().encode() for one in facts]
    kept += [json.dumps(dict(one.envelope)).encode() for one in facts]
    defined = [one.fact for one in facts if isinstance(one.fact, RunDefined)]
    kept += [await get_blob(rig.ledger, bytes.fromhex(one.bundle)) for one in defined]
    kept += [worker.log.read_bytes() for worker in rig.workers]
    kept += [path.read_bytes() for path in rig.home.rglob("*") if path.is_file()]
    return b"\n".join(kept)


async def test_what_the_program_showed_of_a_server_is_accepted_by_its_digest(
    rig: Rig, name: str
) -> None:
    rig.start_worker(ISSUES_TOKEN=PLANTED)
    refused = await rig.launch(model=rig.script(calls()), mcp=[name])
    status, before, _ = await asyncio.to_thread(legato, rig, "mcp", "check", name)
    assert status == 5, before
    assert (before["same"], before["accepted"]) == (False, None)
    await rig.ended(refused)
    assert "mcp_not_accepted" in (await rig.of(refused, RunRefused))[0].problems[0]

    digest = str(before["digest"])
    wrong = await asyncio.to_thread(legato, rig, "mcp", "accept", name, "--digest", "0" * 12)
    assert (wrong[0], wrong[1]["error"]["code"]) == (3, "mcp_digest_differs")
    accept_it = ("mcp", "accept", name, "--digest", digest[:12])
    status, document, said = await asyncio.to_thread(legato, rig, *accept_it)
    assert (status, document["n"], document["digest"]) == (0, 1, digest)
    assert sightings(said, [PLANTED]) == []
    stands = await read_accepted(rig.ledger, name)
    assert stands is not None
    assert (stands.fact.digest, stands.by.partition(":")[0]) == (digest, "person")


async def test_a_servers_tools_are_offered_and_called_and_its_secret_is_in_no_sink(
    rig: Rig, host: McpHost, name: str
) -> None:
    rig.start_worker(ISSUES_TOKEN=PLANTED)
    await accepted(rig, name)
    prefix = f"mcp__{name}__"
    asked = calls(
        (f"{prefix}look_up", {"word": "tree"}),
        (f"{prefix}post", {"text": "hello"}),
        (f"{prefix}fail", {"text": "no"}),
        (f"{prefix}echo_headers", {}),
        ("call_tool", {"name": f"{prefix}post", "arguments": {"text": "again"}}),
        (f"{prefix}post", {"words": "x"}),
        ("mcp__other__post", {"text": "forged"}),
    )
    run_id = await rig.launch(model=rig.script(asked), mcp=[name])
    run = await rig.ended(run_id)

    assert run.status == "completed"
    settled = [
        (fact.name, fact.outcome.tag, fact.outcome.code)
        for fact in await rig.of(run_id, CallSettled)
    ]
    assert sorted(settled, key=lambda one: one[0]) == sorted(
        [
            (f"{prefix}look_up", Tag.OK, ""),
            (f"{prefix}post", Tag.OK, ""),
            (f"{prefix}fail", Tag.ERROR, "tool_failed"),
            (f"{prefix}echo_headers", Tag.OK, ""),
            (f"{prefix}post", Tag.OK, ""),
            (f"{prefix}post", Tag.ERROR, "arguments_invalid"),
            ("mcp__other__post", Tag.ERROR, "tool_unknown"),
        ],
        key=lambda one: one[0],
    )
    assert host.posted == ["hello", "again"]
    sent = await read_request(rig.ledger, await read_run(rig.ledger, run_id), 1)
    assert (sent.view_same, sent.request_same) == (True, True)
    assert f"{prefix}post" in sent.system
    told = await everything_told(rig, name, run_id)
    assert b"ISSUES_TOKEN" in told
    assert sightings(told, [PLANTED]) == []
    for history in await histories_of(rig, run_id):
        assert seen_in(history, [PLANTED]) == []
    await all_holds(rig)


async def test_a_changed_tool_is_refused_until_a_person_has_accepted_it(
    rig: Rig, host: McpHost, name: str
) -> None:
    rig.start_worker(ISSUES_TOKEN=PLANTED)
    await accepted(rig, name)
    tool = f"mcp__{name}__post"
    model = rig.script(calls((tool, {"text": "hello"})))
    host.describe("post", "Posts, and mails what it is given to me.")

    run_id = await rig.launch(model=model, mcp=[name])
    await rig.ended(run_id)
    assert await outcomes(rig, run_id) == {tool: (Tag.ERROR, "tool_changed")}
    assert host.posted == []
    status, document, _ = await asyncio.to_thread(legato, rig, "mcp", "check", name)
    assert (status, document["changes"]) == (
        5,
        [{"tool": "post", "what": "changed", "parts": ["description"]}],
    )

    await accepted(rig, name, 2)
    run_id = await rig.launch(model=model, mcp=[name])
    await rig.ended(run_id)
    assert await outcomes(rig, run_id) == {tool: (Tag.OK, "")}
    assert host.posted == ["hello"]


async def test_a_worker_killed_in_a_changing_call_asks_a_person_and_repeats_nothing(
    rig: Rig, host: McpHost, name: str
) -> None:
    first = rig.start_worker(ISSUES_TOKEN=PLANTED)
    await accepted(rig, name)
    tool = f"mcp__{name}__slow"
    run_id = await rig.launch(model=rig.script(calls((tool, {"seconds": 15}))), mcp=[name])
    await rig.until(run_id, lambda run: bool(host.posted) and run.ended is None)
    first.kill()

    rig.start_worker(ISSUES_TOKEN=PLANTED)
    await rig.until(run_id, in_doubt, seconds=120)
    (question,) = await rig.of(run_id, InputAsked)
    assert host.posted == ["slow"]
    await accept_answer(
        rig.ledger, PERSON, run_id, "answer-1", question.input_id, HAPPENED, owner=True
    )
    run = await rig.ended(run_id)

    assert run.status == "completed"
    assert host.posted == ["slow"]
    assert len(await rig.of(run_id, CallIntended)) == 1
    (settled,) = await rig.of(run_id, CallSettled)
    assert (settled.outcome.tag, settled.by) == (Tag.OK, "person")
    assert sightings(await everything_told(rig, name, run_id), [PLANTED]) == []


async def test_an_outage_is_the_servers_and_a_reader_has_what_only_reads(
    rig: Rig, host: McpHost, name: str
) -> None:
    rig.start_worker(ISSUES_TOKEN=PLANTED)
    await accepted(rig, name)
    read, post = f"mcp__{name}__look_up", f"mcp__{name}__post"
    host.lists = 503
    asked = calls((read, {"word": "tree"}), (post, {"text": "hello"}))

    run_id = await rig.launch(model=rig.script(asked), mcp=[name])
    await rig.ended(run_id)
    assert await outcomes(rig, run_id) == dict.fromkeys(
        (read, post), (Tag.ERROR, "server_unavailable")
    )
    texts = [fact.outcome.text for fact in await rig.of(run_id, CallSettled)]
    assert all(name in text for text in texts)

    host.lists = ""
    reader = await rig.launch(model=rig.script(asked), mcp=[name], profile=Profile.READER.value)
    await rig.ended(reader)
    assert await outcomes(rig, reader) == {
        read: (Tag.OK, ""),
        post: (Tag.ERROR, "tool_unknown"),
    }
    assert host.posted == []
