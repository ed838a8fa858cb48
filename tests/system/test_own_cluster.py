"""Servers of one's own: `legato up` makes them ready, and runs work on them like on ours."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import asyncpg
import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

from domain.runs.attributes import KEYWORDS
from tests.support.stack import ROOT, LiveStack, call_inside, clean_environment, text

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

NAMESPACE = "own"


@pytest.fixture(scope="module")
def own(stack: LiveStack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment that names an empty database and a namespace that there is not yet."""
    asyncio.run(_new_database(stack.database_url))
    variables = clean_environment(tmp_path_factory.mktemp("own") / "home")
    return variables | {
        "TEMPORAL_ADDRESS": stack.temporal_address,
        "TEMPORAL_NAMESPACE": NAMESPACE,
        "DATABASE_URL": urlsplit(stack.database_url)._replace(path="/own").geturl(),
    }


async def _new_database(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("create database own")
    finally:
        await connection.close()


async def attributes(address: str) -> set[str]:
    client = await Client.connect(address, namespace=NAMESPACE)
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=NAMESPACE)
    )
    return set(listed.custom_attributes)


@contextmanager
def worker(variables: Mapping[str, str], log: Path) -> Generator[None]:
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers"], cwd=ROOT, env=dict(variables), stderr=file
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0


def test_up_makes_tables_namespace_and_attributes_and_may_be_repeated(
    own: dict[str, str],
) -> None:
    first = call_inside(own, "--json", "up")
    second = call_inside(own, "--json", "up")

    assert first.code == 0, first.out + first.err
    assert (first.json["embedded"], first.json["status"]) == (False, "ready")
    assert "bringing the ledger's tables up to date" in first.err
    assert second.json == first.json
    assert set(KEYWORDS) <= asyncio.run(attributes(own["TEMPORAL_ADDRESS"]))


def test_a_run_works_on_them_with_a_worker_of_ones_own(
    own: dict[str, str], stack: LiveStack, tmp_path: Path
) -> None:
    assert call_inside(own, "--json", "up").code == 0
    model = stack.script("own", text("done on my own servers"))
    with worker(own, tmp_path / "worker.log"):
        ran = call_inside(own, "--json", "run", "generic", "go", "-m", model)

    assert ran.code == 0, ran.out + ran.err + (tmp_path / "worker.log").read_text()
    assert ran.json["answer"] == "done on my own servers"
    assert call_inside(own, "--json", "runs").json["runs"][0]["run_id"] == ran.json["run_id"]
    assert ran.json["run_id"] not in {row["run_id"] for row in stack.rows()}


def test_a_database_that_does_not_answer_is_told_with_its_setting(own: dict[str, str]) -> None:
    away = own | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}
    up = call_inside(away, "--json", "up")

    assert (up.code, up.error["code"]) == (7, "ledger_unreachable")
    assert "DATABASE_URL" in up.error["next"]
