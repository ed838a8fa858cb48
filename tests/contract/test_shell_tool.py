"""The shell tool: what a model is told of a command, and what a probe finds of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from activities.tools import runner
from activities.tools.confine import Level
from activities.tools.shell import SHELL_TOOLS
from domain.agents.profile import Profile
from domain.ports import Absent, Executed, Unclear
from domain.tools.registry import Effect, Writes, spec_problems
from domain.tools.results import Tag
from tests.support.commands import eventually, offered, without_namespaces
from tests.support.tool_context import outcome_of, tool_context

if TYPE_CHECKING:
    from domain.ports import Probed, ToolContext

_SHELL = SHELL_TOOLS[0]
_REFUSED = """
import sys, pathlib
from activities.tools.shell import SHELL_TOOLS
from domain.errors import LegatoError
from tests.support.tool_context import tool_context
try:
    SHELL_TOOLS[0].execute({"command": "true"}, tool_context(pathlib.Path(sys.argv[1])))
except LegatoError as problem:
    print(problem.code)
"""


@pytest.fixture(autouse=True)
def _confined() -> None:
    if not offered(Level.BUBBLEWRAP) and not offered(Level.NAMESPACES):
        pytest.skip("no confinement level is offered here")


def _probe(context: ToolContext, command: str = "") -> Probed:
    assert _SHELL.probe is not None
    return _SHELL.probe({"command": command}, context)


def test_the_contract_is_sound() -> None:
    spec = _SHELL.spec
    assert spec_problems(spec) == []
    assert (spec.name, spec.effect, spec.writes) == ("shell", Effect.PROBEABLE, Writes.COPY)
    assert _SHELL.probe is not None


def test_exit_zero_is_ok_with_the_output(tmp_path: Path) -> None:
    outcome = outcome_of(_SHELL, tool_context(tmp_path), command="echo $((6 * 7)); pwd")
    assert outcome.tag is Tag.OK
    assert outcome.text == f"exit status 0\n42\n{tmp_path}/workspace\n"


def test_files_that_change_while_a_command_runs_are_named_and_caches_are_not(
    tmp_path: Path,
) -> None:
    context = tool_context(tmp_path)
    workspace = Path(context.workspace)
    for name in ("kept.txt", "old.txt", "gone.txt", "sub/in.txt", "cache/CACHEDIR.TAG"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x")
    writing = "echo y > old.txt; touch -d 2001-01-01 sub/in.txt; rm gone.txt; ln -s old.txt link"
    more = (
        "; mkdir -p new __pycache__; echo n > new/n.txt; echo n > cache/n; echo n > __pycache__/n"
    )

    failed = outcome_of(_SHELL, context, command=f"{writing}{more}; exit 1")
    looked = outcome_of(
        _SHELL, replace(context, call_folder=str(tmp_path / "second")), command="cat old.txt"
    )

    assert failed.code == "exit_status"
    assert failed.changed == ("link", "new/n.txt", "old.txt", "sub/in.txt")
    assert looked.changed == ()


def test_another_exit_is_an_error_with_the_output(tmp_path: Path) -> None:
    outcome = outcome_of(_SHELL, tool_context(tmp_path), command="echo why >&2; exit 3")
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "exit_status")
    assert outcome.text == "exit status 3\nwhy\n"


def test_an_unknown_command_says_so(tmp_path: Path) -> None:
    outcome = outcome_of(_SHELL, tool_context(tmp_path), command="no-such-program")
    assert outcome.text.startswith("exit status 127\n")
    assert "not found" in outcome.text


def test_a_limit_asked_for_ends_the_command_with_its_partial_output(tmp_path: Path) -> None:
    outcome = outcome_of(
        _SHELL, tool_context(tmp_path), command="echo part; sleep 300", timeout_seconds=0.5
    )
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "time_limit")
    assert outcome.text.endswith("part\n")


def test_the_limit_of_the_call_bounds_the_limit_asked_for(tmp_path: Path) -> None:
    started = time.monotonic()
    outcome = outcome_of(
        _SHELL, tool_context(tmp_path, limit=0.5), command="sleep 300", timeout_seconds=300
    )
    assert outcome.code == "time_limit"
    assert time.monotonic() - started < 10


def test_a_stop_keeps_the_partial_output(tmp_path: Path) -> None:
    stop = threading.Event()
    context = tool_context(tmp_path, stop=stop, limit=60)
    output = Path(context.call_folder, runner.OUTPUT)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(outcome_of, _SHELL, context, command="echo part; sleep 300")
        eventually(lambda: output.exists() and output.read_text() == "part\n", "there is output")
        stop.set()
        outcome = running.result(3)
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "stopped")
    assert outcome.text.endswith("part\n")


def test_hostile_bytes_become_harmless_text(tmp_path: Path) -> None:
    command = r"printf 'a\0b \033[31mred\007 \377\376 \302\205 \r\nend\177\n'"
    outcome = outcome_of(_SHELL, tool_context(tmp_path), command=command)
    assert outcome.text == "exit status 0\na␀b ␛[31mred␇ �� � \nend␡\n"


def test_twenty_megabytes_arrive_whole(tmp_path: Path) -> None:
    outcome = outcome_of(
        _SHELL, tool_context(tmp_path, limit=60), command="head -c 20000000 /dev/zero | tr '\\0' x"
    )
    assert len(outcome.text) == 20_000_000 + len("exit status 0\n")


def test_a_reader_cannot_change_the_workspace_and_a_writer_can(tmp_path: Path) -> None:
    reader = tool_context(tmp_path, profile=Profile.READER, call_id="reader")
    writer = tool_context(tmp_path, profile=Profile.WRITER, call_id="writer")
    assert outcome_of(_SHELL, reader, command="touch new").code == "exit_status"
    assert not (tmp_path / "workspace" / "new").exists()
    assert outcome_of(_SHELL, writer, command="touch new").tag is Tag.OK
    assert (tmp_path / "workspace" / "new").exists()


def test_the_stores_are_out_of_reach(tmp_path: Path) -> None:
    context = tool_context(tmp_path)
    store = Path(context.stores, "workflow.db")
    store.write_text("a secret of the store")
    other = tmp_path / "home" / "ledger"
    other.write_text("a secret of the ledger")
    outcome = outcome_of(
        _SHELL, context, command=f"cat '{store}' '{other}'; echo spoilt > '{store}' || rm '{other}'"
    )
    assert outcome.tag is Tag.ERROR
    assert "secret" not in outcome.text
    assert (store.read_text(), other.exists()) == ("a secret of the store", True)


def test_declared_names_reach_the_command(tmp_path: Path) -> None:
    context = replace(tool_context(tmp_path), environment={"GREETING": "hello there"})
    assert outcome_of(_SHELL, context, command='echo "$GREETING"').text.endswith("hello there\n")


def test_a_probe_finds_nothing_of_a_call_that_never_began(tmp_path: Path) -> None:
    assert _probe(tool_context(tmp_path), "touch new") == Absent()
    assert not (tmp_path / "workspace" / "new").exists()


def test_a_probe_finds_the_end_and_runs_nothing_again(tmp_path: Path) -> None:
    context = tool_context(tmp_path)
    command = "echo x >> count; cat count"
    done = _SHELL.execute({"command": command}, context)
    assert isinstance(done, Executed)
    assert _probe(context, command) == done
    assert (tmp_path / "workspace" / "count").read_text() == "x\n"


def test_a_probe_waits_for_a_running_command(tmp_path: Path) -> None:
    context = tool_context(tmp_path, limit=30)
    command = "echo x >> count; while ! test -e go; do sleep 0.05; done"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_SHELL.execute, {"command": command}, context)
        eventually((tmp_path / "workspace" / "count").exists, "the command runs")
        probed = pool.submit(_probe, context, command)
        (tmp_path / "workspace" / "go").touch()
        assert first.result(20) == probed.result(20)
    assert (tmp_path / "workspace" / "count").read_text() == "x\n"


def test_a_command_whose_runner_was_killed_is_unclear(tmp_path: Path) -> None:
    context = tool_context(tmp_path, limit=30)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(_SHELL.execute, {"command": "kill -0 1; sleep 300"}, context)
        begun = Path(context.call_folder, runner.BEGUN)
        eventually(begun.exists, "the command begins")
        os.kill(int(begun.read_text().split('"pid": ')[1].split(",")[0]), signal.SIGKILL)
        assert isinstance(first.result(20), Unclear)
    assert isinstance(_probe(context), Unclear)


def test_a_machine_without_confinement_refuses_the_shell(tmp_path: Path) -> None:
    if not offered(Level.NAMESPACES):
        pytest.skip("needs a user namespace to take namespaces away in")
    done = without_namespaces(tmp_path, _REFUSED, str(tmp_path))
    assert done.stdout == "shell_unavailable\n", done.stderr
