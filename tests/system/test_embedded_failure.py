"""A stack that cannot run says why; a stack that is not ours is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from legato.embedded import Status, down, ensure_up, stack_status
from legato.settings import load_settings
from tests.support.embedded_stack import (
    all_gone,
    bring_up,
    ended_after,
    process_of,
    settings_of,
    state_of,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TOO_MANY = {f"LegatoNumber{n}": "Double" for n in range(4)}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    home = tmp_path / "home"
    with ended_after(home):
        yield home


@pytest.mark.slow
async def test_a_part_that_fails_again_and_again_stops_the_stack_and_the_state_says_why(
    home: Path,
) -> None:
    with pytest.raises(LegatoError) as failure:
        await bring_up(home, **_TOO_MANY)
    assert failure.value.code == "stack_failed"
    assert failure.value.details == {"reason": "part_keeps_failing"}
    assert "temporal" in failure.value.message
    assert "Double" in failure.value.cause
    state = state_of(home)
    assert state.status is Status.FAILED
    assert state.part("temporal").restarts == 5
    assert all_gone(state.supervisor, *(part.process for part in state.parts))()
    assert (await stack_status(settings_of(home))).reason == state.reason


async def test_a_failed_stack_comes_up_once_its_cause_is_mended(home: Path) -> None:
    _put_folder_in_place_of_data(home)
    with pytest.raises(LegatoError) as failure:
        await bring_up(home)
    assert failure.value.details == {"reason": "postgres_data_unusable"}
    _remove_folder(home)
    await bring_up(home)
    assert state_of(home).status is Status.READY


def _put_folder_in_place_of_data(home: Path) -> None:
    (home / "postgres").mkdir(parents=True)


def _remove_folder(home: Path) -> None:
    (home / "postgres").rmdir()


async def test_an_up_that_is_not_given_time_says_what_was_being_done(home: Path) -> None:
    with pytest.raises(LegatoError) as failure:
        await ensure_up(
            settings_of(home), progress=lambda _: None, with_worker=False, deadline=0.01
        )
    assert failure.value.code == "stack_not_ready"
    assert "legato status" in failure.value.next
    assert await until((home / "state.json").exists)
    assert await down(settings_of(home))


async def test_down_of_a_home_that_never_ran_finds_nothing(home: Path) -> None:
    assert not await down(settings_of(home))
    assert (await stack_status(settings_of(home))).status is Status.STOPPED


async def test_servers_of_the_users_own_are_returned_and_nothing_is_started(home: Path) -> None:
    url = "postgresql://me:secret@db.example/ledger"
    settings = load_settings(
        {"LEGATO_HOME": str(home), "TEMPORAL_ADDRESS": "t.example:7233", "DATABASE_URL": url}
    )
    stack = await ensure_up(settings, progress=lambda _: None)
    assert (stack.embedded, stack.temporal_address, stack.database_url) == (
        False,
        "t.example:7233",
        url,
    )
    assert "secret" not in repr(stack)
    assert not await down(settings)


@pytest.mark.parametrize(
    ("given", "value", "missing"),
    [
        ("TEMPORAL_ADDRESS", "127.0.0.1:7233", "DATABASE_URL"),
        ("DATABASE_URL", "postgresql://me@db.example/ledger", "TEMPORAL_ADDRESS"),
    ],
)
async def test_one_server_of_the_users_own_without_the_other_is_refused(
    home: Path, given: str, value: str, missing: str
) -> None:
    settings = load_settings({"LEGATO_HOME": str(home), given: value})
    with pytest.raises(LegatoError) as refusal:
        await ensure_up(settings, progress=lambda _: None)
    assert refusal.value.code == "stack_settings_incomplete"
    assert missing in refusal.value.next


async def test_the_status_of_ones_own_servers_asks_whether_they_answer(home: Path) -> None:
    stack = await bring_up(home)
    settings = load_settings(
        {
            "LEGATO_HOME": str(home.with_name("other")),
            "TEMPORAL_ADDRESS": stack.temporal_address,
            "DATABASE_URL": stack.database_url.replace("/legato?", "/absent?"),
        }
    )
    status = await stack_status(settings)
    assert {part.name: part.alive for part in status.parts} == {"temporal": True, "postgres": False}
    assert process_of(home, "postgres").pid > 0
