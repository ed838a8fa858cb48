"""Logins that may do less: what they are told to ask for is enough, and no more is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import asyncpg
import pytest

from domain.errors import LegatoError
from ledger.connect import open_ledger
from ledger.migrate import migrate, revision_of, revisions
from ledger.projections.rebuild import rebuild
from ledger.sequence import sequence_once
from ledger.verify import verify
from tests.support import facts
from tests.support.embedded_stack import bring_up, ended_after
from tests.support.ledger import begin_run, connected, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ledger.connect import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@dataclass(frozen=True)
class Logins:
    """A server on which nobody but its superuser has made anything; `url` is the superuser's."""

    url: str

    def as_login(self, login: str, database: str) -> str:
        """Write the address of a database for a login."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=f"{login}:secret@{host}", path=f"/{database}").geturl()

    async def run(self, *statements: str) -> None:
        """Do something as the superuser."""
        async with connected(self.url) as connection:
            for statement in statements:
                await connection.execute(statement)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    with ended_after(tmp_path / "home"):
        yield tmp_path / "home"


@pytest.fixture
async def logins(home: Path) -> Logins:
    """Start a server."""
    return Logins((await bring_up(home)).database_url)


async def uses(ledger: Ledger, run_id: str) -> None:
    """Do everything that a worker does with a ledger."""
    await begin_run(ledger, run_id, facts.run_ended())
    while await sequence_once(ledger.pool):
        continue
    assert (await rebuild(ledger)).differences == 0
    assert (await verify(ledger)).ok


async def test_an_owner_without_the_right_to_make_roles_needs_none_and_workers_less(
    logins: Logins,
) -> None:
    await logins.run(
        "create role plain login password 'secret'", "create database ours owner plain"
    )
    url = logins.as_login("plain", "ours")

    await migrate(url)

    assert await revision_of(url) == revisions()[-1]
    async with opened(url) as ledger:
        await uses(ledger, "one")
        with pytest.raises(asyncpg.PostgresError, match="what was recorded stays"):
            await ledger.pool.execute("delete from ledger.event")
        roles = await ledger.pool.fetch("select rolname from pg_roles where rolname ~ '^ledger_'")
        assert roles == []


async def test_what_a_login_is_told_to_ask_for_is_enough(logins: Logins) -> None:
    await logins.run("create role weak login password 'secret'", "create database ours")
    url = logins.as_login("weak", "ours")

    with pytest.raises(LegatoError) as making:
        await migrate(url)
    assert making.value.code == "ledger_forbidden"
    await logins.run(*re.findall("`(.+?)`", making.value.next))
    await migrate(url)

    async with opened(url) as ledger:
        await uses(ledger, "one")


async def test_a_login_that_may_append_and_no_more_does_all_that_a_worker_does(
    logins: Logins,
) -> None:
    await logins.run("create role hand login password 'secret'")
    await migrate(logins.url)
    url = logins.as_login("hand", "legato")

    for way in (migrate, open_ledger):
        with pytest.raises(LegatoError) as using:
            await way(url)
        assert using.value.code == "ledger_forbidden"
    await logins.run(*re.findall("`(.+?)`", using.value.next))
    await migrate(url)

    async with opened(url) as ledger:
        await uses(ledger, "one")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await ledger.pool.execute("delete from ledger.event")
