"""What is wrong in mcp.toml is told by `mcp list` without starting anything."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from domain.mcp.declared import Server
from domain.mcp.snapshot import McpAccepted, OfferedTool, snapshot_digest
from ledger.mcp import Accepted
from legato.cli.program import run_program
from legato.cli.screens.mcp import accepted_screen, check_screen
from legato.mcp_servers import Checked, Offered, read_file

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


@pytest.mark.parametrize("command", ["check", "accept"])
def test_a_server_that_is_not_declared_is_refused_before_anything_is_started(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.setenv("LEGATO_HOME", str(tmp_path))

    status = run_program(["--json", "mcp", command, "nobody"])

    error = json.loads(capsys.readouterr().out)["error"]
    assert (status, error["code"]) == (3, "mcp_server_unknown")
    assert list(tmp_path.iterdir()) == []


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


def test_a_servers_tool_begins_no_line_of_what_is_shown() -> None:
    name = "x\nas accepted by you\u202e"
    tool = OfferedTool(name=name, argument_schema="{}")
    fact = McpAccepted(
        n=1, server="a", address="https://x.example", tools=(), digest=snapshot_digest(())
    )
    stands = Accepted(fact=fact, by="you", at=datetime(2026, 1, 1, tzinfo=UTC))
    server = Server("a", "https://x.example")
    checked = Checked(server, Offered((tool,), {name: ("it has no name",)}), stands)
    console = Console(width=200)

    with console.capture() as shown:
        console.print(check_screen(checked), accepted_screen(checked, fact))

    lines = shown.get().splitlines()
    assert not [line for line in lines if line.startswith("as accepted")]
    assert "added since it was accepted: x\\nas accepted by you\\u202e" in lines


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mcp.toml")

    assert "no regular file" in read_file(tmp_path).problems[""][0]
