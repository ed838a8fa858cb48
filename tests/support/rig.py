"""A cluster of real parts under a test's control: its own workers, kill points and runs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psutil
from temporalio.client import Client

from domain.agents.request import AgentRequest
from domain.events import Entry, Fact, SlotTaken
from domain.ids import run_stream, slot_stream
from domain.runs.run import Run, fold
from ledger.connect import Ledger, close_ledger, open_ledger
from ledger.dispatch import Launch, dispatch
from ledger.encode import Author
from ledger.reads import Stored, read_stream
from legato.client import HandOver, connect, hand_over
from legato.embedded import Stack

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from temporalio.client import WorkflowHandle


F = TypeVar("F")

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "tests" / "support" / "plugin"
PERSON = Author("person:tester", "person:tester", "cli")


@dataclass
class Worker:
    """One worker process of the test's, on a queue of its own."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def terminate(self) -> int:
        """Ask it to end, and wait until it has."""
        self.process.terminate()
        return self.process.wait(30)


@dataclass
class Rig:
    """Everything a test of runs needs; `host` names the queue of its workers."""

    stack: Stack
    ledger: Ledger
    client: Client
    folder: Path
    host: str
    home: Path
    most_events: int = 2000
    workers: list[Worker] = field(default_factory=list[Worker])

    @property
    def workspace(self) -> Path:
        """The folder that runs work in."""
        return self.folder / "workspace"

    @property
    def stores(self) -> Path:
        """The workspace's stores, under the home as in a real launch."""
        return self.home / "stores" / self.folder.name

    def start_worker(self, *, kill: str = "", **environment: str) -> Worker:
        """Start a worker process; `kill` names its kill points."""
        path = os.pathsep.join((str(ROOT), str(PLUGIN)))
        named = {
            "LEGATO_HOME": str(self.home),
            "LEGATO_HOST": self.host,
            "LEGATO_KILL_POINTS": kill,
            "LEGATO_GRACE": "3600",
            "TEMPORAL_ADDRESS": self.stack.temporal_address,
            "TEMPORAL_NAMESPACE": self.stack.temporal_namespace,
            "DATABASE_URL": self.stack.database_url,
            "PYTHONPATH": path,
            **environment,
        }
        log = self.folder / f"worker-{len(self.workers)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "workers"],
                env={**os.environ, **named},
                stdout=out,
                stderr=out,
                cwd=ROOT,
            )
        worker = Worker(process, log)
        self.workers.append(worker)
        return worker

    def script(self, text: str) -> str:
        """Write a scripted model and give its name."""
        path = self.folder / f"script-{uuid.uuid4().hex[:8]}.yaml"
        path.write_text(text)
        return f"script:{path}"

    async def launch(self, request: AgentRequest | None = None, **asked: object) -> str:
        """Accept a run of the generic role, or of a request, and hand it over."""
        given = {
            "role": "generic",
            "message": "go",
            "workspace": str(self.workspace),
            "stores": str(self.stores),
            **asked,
        }
        request = request or AgentRequest.model_validate(given)
        launch = Launch(str(uuid.uuid4()), Entry.HAND, request, f"home/{self.host}")
        fact = (await dispatch(self.ledger, PERSON, launch)).accepted
        assert fact is not None
        to = HandOver(self.client, self.ledger, self.most_events)
        await hand_over(to, fact, "run.accepted", launch.run_id)
        return launch.run_id

    async def stored(self, run_id: str) -> list[Stored]:
        """Read a run's events."""
        return await read_stream(self.ledger, run_stream(run_id))

    async def facts(self, run_id: str) -> list[Fact]:
        """Read a run's facts."""
        return [event.fact for event in await self.stored(run_id)]

    async def of(self, run_id: str, kind: type[F]) -> list[F]:
        """Read a run's facts of one type."""
        return [fact for fact in await self.facts(run_id) if isinstance(fact, kind)]

    async def run(self, run_id: str) -> Run:
        """Fold a run."""
        return fold(await self.facts(run_id))

    async def until(
        self, run_id: str, true: Callable[[Run], bool], *, seconds: float = 90.0
    ) -> Run:
        """Wait until something is true of a run; fails with its last facts and the logs."""
        give_up = time.monotonic() + seconds
        while True:
            run = await self.run(run_id)
            if true(run):
                return run
            assert time.monotonic() < give_up, await self.what_happened(run_id)
            await asyncio.sleep(0.05)

    async def what_happened(self, run_id: str) -> str:
        """Tell what a run and its workers did last, for a failing test."""
        facts = [f"{fact.type}:{fact.key()}" for fact in await self.facts(run_id)]
        described = await (await self.handle(run_id)).describe()
        pending = [str(one) for one in described.raw_description.pending_activities]
        facts += pending
        logs = [worker.log.read_text()[-3000:] for worker in self.workers[-2:]]
        return "\n".join((f"last facts: {facts[-10:]}", f"{len(self.workers)} workers", *logs))

    async def ended(self, run_id: str, *, seconds: float = 90.0) -> Run:
        """Wait until a run has ended."""
        return await self.until(run_id, lambda run: run.ended is not None, seconds=seconds)

    async def next_run(self, slot: str) -> str:
        """Wait for the slot's second holder and give its run id."""
        async with asyncio.timeout(20):
            while True:
                taken = [
                    event.fact
                    for event in await read_stream(self.ledger, slot_stream(slot))
                    if isinstance(event.fact, SlotTaken)
                ]
                if len(taken) > 1:
                    return taken[-1].run_id
                await asyncio.sleep(0.05)

    async def beat(self, seconds: float) -> None:
        """Let a slow thing go on for a moment that a script has set."""
        await asyncio.sleep(seconds)

    def is_running(self, command: str) -> bool:
        """Tell whether a process with these arguments lives."""
        wanted = command.split()
        return any(
            (process.info["cmdline"] or [])[-len(wanted) :] == wanted
            and process.info["status"] != psutil.STATUS_ZOMBIE
            for process in psutil.process_iter(["cmdline", "status"])
        )

    async def until_running(self, command: str) -> None:
        """Wait until such a process lives."""
        give_up = time.monotonic() + 60
        while True:
            if self.is_running(command):
                return
            assert time.monotonic() < give_up, f"nobody runs {command}"
            await asyncio.sleep(0.05)

    async def handle(self, run_id: str) -> WorkflowHandle[object, object]:
        """Give the Temporal handle of a run."""
        accepted = (await self.run(run_id)).accepted
        assert accepted is not None
        return self.client.get_workflow_handle(accepted.workflow_id)


@asynccontextmanager
async def rig_of(
    stack: Stack, folder: Path, *, host: str = "", home: Path | None = None
) -> AsyncGenerator[Rig]:
    """Open a rig on a cluster; its workers end with it.

    `host` and `home` are those of a worker that serves already.
    """
    client = await connect(stack.temporal_address, stack.temporal_namespace)
    ledger = await open_ledger(stack.database_url)
    host = host or f"t{uuid.uuid4().hex[:10]}"
    rig = Rig(stack, ledger, client, folder, host, home or folder / "home")
    for needed in (rig.workspace, rig.home, rig.stores):
        needed.mkdir(parents=True, exist_ok=True)
    try:
        yield rig
    finally:
        for worker in rig.workers:
            if worker.process.poll() is None:
                worker.kill()
        await close_ledger(ledger)


def kept_alive(
    rig: Rig, *, kill: str = "", environment: Mapping[str, str] | None = None
) -> asyncio.Task[None]:
    """Keep a worker running: whenever it dies, start another."""

    async def body() -> None:
        while True:
            worker = rig.start_worker(kill=kill, **(environment or {}))
            await asyncio.to_thread(worker.process.wait)

    return asyncio.create_task(body())
