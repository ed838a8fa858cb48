"""The state file says what was written, to its owner only, and never misleads."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from legato.embedded.processes import ProcessId
from legato.embedded.state import (
    PartState,
    Reason,
    StackState,
    Status,
    load_state,
    state_file,
    write_state,
)

if TYPE_CHECKING:
    from pathlib import Path

_STATE = StackState(
    status=Status.FAILED,
    supervisor=ProcessId(10, "boot:1"),
    step="stopping",
    reason=Reason("part_keeps_failing", "it failed", "a cause", "a next step"),
    temporal_address="127.0.0.1:20000",
    temporal_namespace="legato",
    ui_address="http://127.0.0.1:20001",
    database_url="postgresql://legato:word@/legato?host=/run/legato",
    parts=(
        PartState("postgres", ProcessId(11, "boot:2"), "socket", 1.5, 3),
        PartState("temporal"),
    ),
    versions={"legato": "0.1.0"},
)


def test_a_state_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    write_state(tmp_path, _STATE)
    assert load_state(tmp_path) == _STATE
    assert stat.S_IMODE(state_file(tmp_path).stat().st_mode) == 0o600


def test_no_file_is_no_state(tmp_path: Path) -> None:
    assert load_state(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 1}', '{"schema": 1, "x": 2}'])
def test_a_file_that_cannot_be_read_is_no_state(tmp_path: Path, text: str) -> None:
    state_file(tmp_path).write_text(text)
    assert load_state(tmp_path) is None


def test_a_state_of_a_newer_version_is_refused_not_guessed(tmp_path: Path) -> None:
    state_file(tmp_path).write_text('{"schema": 2}')
    with pytest.raises(LegatoError) as refusal:
        load_state(tmp_path)
    assert refusal.value.code == "state_from_other_version"


def test_a_changed_part_takes_the_place_of_its_earlier_state() -> None:
    changed = _STATE.with_part(PartState("temporal", restarts=1))
    assert [part.name for part in changed.parts] == ["postgres", "temporal"]
    assert changed.part("temporal").restarts == 1
    assert changed.part("worker") == PartState("worker")
