"""A ledger of another build is said to be one, with the commands that bring it up to date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg

from tests.support.stack import call_inside, clean_environment

if TYPE_CHECKING:
    from pathlib import Path


async def run_on(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


async def test_a_command_on_tables_of_another_build_says_what_to_run(
    url: str, tmp_path: Path
) -> None:
    own = {"DATABASE_URL": url, "TEMPORAL_ADDRESS": "127.0.0.1:1"}
    environment = clean_environment(tmp_path) | own
    await run_on(url, "alter table projection.run rename to run_of_another_build")
    try:
        refused = await asyncio.to_thread(call_inside, environment, "--json", "runs")
    finally:
        await run_on(url, "alter table projection.run_of_another_build rename to run")

    assert (refused.code, refused.error["code"]) == (1, "ledger_not_migrated")
    assert "down` and then `" in refused.error["next"]
