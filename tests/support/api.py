"""The API as a process of its own, and a viewer that reads its streams over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2 as httpx

from legato.embedded.ports import free_port
from tests.support.rig import ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Seen:
    """One server-sent event."""

    id: str
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True)
class ServedApi:
    """A running API and the token of its home."""

    url: str
    token: str

    def headers(self, **more: str) -> dict[str, str]:
        """Write the headers of somebody who holds the token."""
        return {"Authorization": f"Bearer {self.token}", **more}

    async def stream(self, run_id: str, after: str = "") -> AsyncGenerator[Seen]:
        """Read a run's stream from a place, until it ends or the reader leaves."""
        headers = self.headers(**({"Last-Event-ID": after} if after else {}))
        async with (
            httpx.AsyncClient(timeout=60) as client,
            client.stream("GET", f"{self.url}/runs/{run_id}/events", headers=headers) as answer,
        ):
            assert answer.status_code == 200, await answer.aread()
            block: dict[str, str] = {}
            async for line in answer.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    block[name] = value
                    continue
                if "data" in block:
                    kind = block.get("event", "")
                    yield Seen(block.get("id", ""), kind, json.loads(block["data"]))
                block = {}

    def get(self, path: str, headers: Mapping[str, str]) -> httpx.Response:
        """Ask for a page."""
        return httpx.get(f"{self.url}{path}", headers=dict(headers), timeout=20)


@contextmanager
def served_api(home: Path, database_url: str, log: Path) -> Generator[ServedApi]:
    """Start the API's own program, and end it."""
    address = f"127.0.0.1:{free_port(None)}"
    named = {
        "LEGATO_HOME": str(home),
        "DATABASE_URL": database_url,
        "LEGATO_API_ADDRESS": address,
        "PYTHONPATH": str(ROOT),
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "legato.api"],
            env={**os.environ, **named},
            stdout=out,
            stderr=out,
            cwd=ROOT,
        )
    try:
        _until_it_serves(f"http://{address}", log)
        yield ServedApi(f"http://{address}", (home / "api_token").read_text())
    finally:
        process.terminate()
        process.wait(20)


def _until_it_serves(url: str, log: Path) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
