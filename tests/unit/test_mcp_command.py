"""What is wrong in mcp.toml is told by `mcp list` without starting anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from legato.cli.program import run_program
from legato.mcp_servers import read_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_server_that_cannot_be_used_is_listed_with_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEGATO_HOME", str(tmp_path))
    (tmp_path / "mcp.toml").write_text(
        '[servers.old]\ncommand = "npx"\nurl = "https://x.example"\n'
    )

    status = run_program(["--json", "mcp", "list"])

    document = json.loads(capsys.readouterr().out)
    assert (status, document["ok"]) == (3, False)
    (row,) = document["servers"]
    assert (row["name"], row["state"]) == ("old", "invalid")
    assert "stdio" in row["problems"][0]
    assert run_program(["mcp", "list"]) == 3
    assert "old: it is started by a command" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mcp.toml"]


def test_without_a_file_there_are_no_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEGATO_HOME", str(tmp_path))

    assert run_program(["mcp", "list"]) == 0
    assert "no servers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "says"), [(b"\xff", "not UTF-8"), (b"#" * (1 << 21), "more than")]
)
def test_a_file_that_cannot_be_read_declares_nothing(
    tmp_path: Path, data: bytes, says: str
) -> None:
    (tmp_path / "mcp.toml").write_bytes(data)

    declared = read_file(tmp_path)

    assert declared.servers == {}
    assert says in declared.problems[""][0]
