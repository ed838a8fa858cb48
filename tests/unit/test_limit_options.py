"""A limit in seconds is a number: NaN, which every comparison lets pass, is refused as one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from legato.cli.program import run_program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "-1", "1e13"])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "generic", "--max-seconds"),
        ("run", "generic", "--soft-seconds"),
        ("run", "generic", "--max-wait"),
        ("drain", "--timeout"),
    ],
    ids=" ".join,
)
def test_no_number_of_seconds_is_refused_before_anything_is_done(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    value: str,
) -> None:
    monkeypatch.setenv("LEGATO_HOME", str(tmp_path / "home"))

    status = run_program(["--json", *command, value])

    assert status == 2
    assert command[-1] in json.loads(capsys.readouterr().out)["error"]["message"]
    assert not (tmp_path / "home").exists()
