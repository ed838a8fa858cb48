"""Planted secrets are found nowhere that people other than the run's own can read."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2 as httpx
import pytest

from domain.events import CallUnknown, ModelFailed
from ledger.accept import accept_stop
from legato.client import host_of
from legato.embedded import ensure_up
from legato.embedded.ports import free_port
from tests.support.api import served_api
from tests.support.canaries import histories_of, seen_in, sightings
from tests.support.collector import Collector, collector
from tests.support.model_server import Behaviour, ModelServer, Refuses, model_server
from tests.support.raw_provider import raw_provider
from tests.support.rig import PERSON, PLUGIN, Rig, rig_of
from tests.support.secret_forms import good, raw, spoken
from tests.support.stack import ROOT, LiveStack, live_stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from domain.runs.run import Run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KEYS = {
    name: f"{name.lower()}/7f3e+91-key"
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
}
PROVIDERS = ("openai", "anthropic", "google")
SAID = "said/7f3e+91 word"
TOLD = "told/7f3e+91 word"
ASKED = "asked/7f3e+91 word"
"""Content: it stands in the ledger, where it belongs, and nowhere else."""

PLANTED = (SAID, TOLD, *KEYS.values())
LANES = 3
"""So many runs at once of each provider."""


@dataclass
class Observed:
    """A stack, what its worker tells operators, and what the command line said."""

    stack: LiveStack
    kept: Collector
    metrics: tuple[str, str]
    said: list[str] = field(default_factory=list[str])
    wire: list[bytes] = field(default_factory=list[bytes])

    def cli(self, *arguments: str) -> int:
        """Run a command, keep all that it says, and give its exit status."""
        result = self.stack.inside("--json", *arguments)
        self.said += [result.out, result.err]
        return result.code


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    """A stack whose environment holds secrets, and whose worker is observed in every way."""
    folder = tmp_path_factory.mktemp("secrets")
    files = folder / "files"
    files.mkdir()
    metrics = (f"127.0.0.1:{free_port(None)}", f"127.0.0.1:{free_port(None)}")
    with collector() as kept:
        environment = {
            **KEYS,
            "TOLD_BY_TOOLS": TOLD,
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(PLUGIN))),
            "LEGATO_METRICS_ADDRESS": metrics[0],
            "LEGATO_SDK_METRICS_ADDRESS": metrics[1],
            "OTEL_EXPORTER_OTLP_ENDPOINT": kept.endpoint,
        }
        with live_stack(folder / "home", files, **environment) as stack:
            yield Observed(stack, kept, metrics)


def at_rest(run: Run) -> bool:
    """The run has ended or waits: it asks its provider no more."""
    return run.ended is not None or run.waiting is not None


async def failing(rig: Rig, model: str) -> str:
    """Run against a provider whose next answer is a failure; a run that waits for it is stopped."""
    run_id = await rig.launch(model=model, message=ASKED, tools=("read_file",))
    run = await rig.until(run_id, at_rest, seconds=200)
    if run.ended is None:
        await accept_stop(rig.ledger, PERSON, run_id, "enough", "seen")
        await rig.ended(run_id, seconds=200)
    assert len(await rig.of(run_id, ModelFailed)) >= 1, await rig.what_happened(run_id)
    return run_id


async def raw_lane(observed: Observed, rig: Rig, provider: str, forms: Mapping[str, bytes]) -> None:
    """Fail in forms that no well-made server has, one run after another."""
    async with raw_provider(good(provider)) as server:
        for form in forms.values():
            server.queue.append(form)
            await failing(rig, ModelServer(server.port).name_of(provider))
        observed.wire += server.requests


async def spoken_lane(rig: Rig, provider: str, forms: Iterable[Behaviour]) -> None:
    """Fail in the provider's own words, one run after another."""
    with model_server() as server:
        for behaviour in forms:
            server.plays(behaviour)
            await failing(rig, server.name_of(provider))


async def tools(rig: Rig) -> None:
    """Call tools that say secrets: one that reads, and one of which nobody knows what it did."""
    for name in ("tell_secrets", "tell_secrets_once"):
        script = f"steps: [{{calls: [{{tool: {name}, arguments: {{}}}}]}}, {{text: {ASKED}}}]"
        run_id = await rig.launch(model=rig.script(script), message=ASKED)
        await rig.until(run_id, at_rest)
    assert len(await rig.of(run_id, CallUnknown)) == 1


async def run_all(observed: Observed, folder: Path) -> list[str]:
    """Make every run fail that is to fail; give what Temporal shows of what was planted."""
    settings = observed.stack.settings
    stack = await ensure_up(settings, progress=lambda _: None)
    forms, told = list(raw(SAID).items()), list(spoken(SAID).values())
    parts = [(PROVIDERS[n % 3], dict(forms[n :: 3 * LANES])) for n in range(3 * LANES)]
    async with rig_of(stack, folder, host=host_of(settings), home=settings.home) as rig:
        await asyncio.gather(
            tools(rig),
            *(raw_lane(observed, rig, provider, part) for provider, part in parts),
            *(spoken_lane(rig, name, told[n::3]) for n, name in enumerate(PROVIDERS)),
        )
        return await seen_in_records(rig)


async def seen_in_records(rig: Rig) -> list[str]:
    """List what is seen in the events of all runs and in their histories."""
    found, content = list[str](), 0
    for row in await rig.ledger.pool.fetch("select stream_id from ledger.stream"):
        if not row["stream_id"].startswith("run/"):
            continue
        run_id = row["stream_id"].removeprefix("run/")
        told = "\n".join(fact.model_dump_json() for fact in await rig.facts(run_id)).encode()
        content += ASKED.encode() in told
        found += [f"{one} in the ledger's {run_id}" for one in sightings(told, PLANTED)]
        for history in await histories_of(rig, run_id):
            found += seen_in(history, (*PLANTED, ASKED))
    assert content > 100, "what belongs into the ledger is found there"
    return found


def commands(observed: Observed) -> None:
    """Have the command line fail by what a provider says, and show what it knows."""
    with model_server() as server:
        for status in (400, 401, 307):
            server.plays(Refuses(status, SAID, SAID, {"location": f"/{SAID}", "x-error": SAID}))
            model = server.name_of("anthropic")
            assert observed.cli("run", "generic", ASKED, "-m", model) not in {0, 2}
    for command in ("runs", "inbox", "usage", "doctor", "status"):
        observed.cli(command)
    for row in observed.stack.rows()[::4]:
        assert observed.cli("show", str(row["run_id"])) == 0
        assert observed.cli("log", str(row["run_id"])) == 0


def told_to_operators(observed: Observed) -> bytes:
    """Give everything that metrics and spans tell."""
    pages = [httpx.get(f"http://{address}/metrics", timeout=10) for address in observed.metrics]
    with ExitStack() as opened:
        home, url = observed.stack.home, observed.stack.database_url
        api = opened.enter_context(served_api(home, url, observed.stack.files / "api.log"))
        pages.append(api.get("/metrics", api.headers()))
    assert [page.status_code for page in pages] == [200, 200, 200]
    assert len(observed.kept.spans()) > 100
    return b"".join([*observed.kept.bodies, *(page.content for page in pages)])


def seen_on_disk(home: Path) -> list[str]:
    """List what is seen in any file of the home, and what of content is seen in a log."""
    found = list[str]()
    for file in home.rglob("*"):
        if not stat.S_ISREG(file.lstat().st_mode):
            continue
        texts = (*PLANTED, ASKED) if file.parent.name == "logs" else PLANTED
        found += [
            f"{one} in {file.relative_to(home)}" for one in sightings(file.read_bytes(), texts)
        ]
    return found


def test_planted_secrets_are_seen_in_no_log_trace_metric_history_error_or_file(
    observed: Observed, tmp_path: Path
) -> None:
    found = asyncio.run(run_all(observed, tmp_path))
    commands(observed)
    found += sightings(told_to_operators(observed), (*PLANTED, ASKED))
    found += [
        f"{one} by the command line" for one in sightings("".join(observed.said).encode(), PLANTED)
    ]
    found += seen_on_disk(observed.stack.home)

    assert sorted(set(found)) == []
    assert sightings(b"".join(observed.wire), KEYS.values()) != [], "the keys were in use"
    log = (observed.stack.home / "logs" / "worker.log").read_text()
    assert log.count('"event": "tool_raised"') == 2
    assert all(line.startswith("{") for line in log.splitlines())
