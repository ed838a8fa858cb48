"""Plug-in tools come from real distributions, or every fault of theirs is named at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import invalidate_caches
from pathlib import Path
from typing import cast

import pytest

from activities.tools.plugins import load_plugins
from domain.errors import LegatoError
from domain.ports import Executed, Tool
from domain.tools.registry import Effect, Writes, build_registry
from tests.support.tool_context import by_name, tool_context

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "tests" / "support" / "plugin"

PRELUDE = """
from dataclasses import replace
from domain.ports import Tool
from domain.tools.registry import Effect, Writes, tool_spec

def run(arguments, context):
    raise RuntimeError

def make(name="good", execute=run, probe=None, **more):
    return Tool(tool_spec(name, "d", {"type": "object"}, **more), execute, probe)
"""


def install(folder: Path, distribution: str, module: str, source: str, *points: str) -> None:
    """Lay a distribution down as an installer would: its module and its dist-info."""
    (folder / f"{module}.py").write_text(PRELUDE + source)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[legato.tools]", *points, ""]))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that stands on sys.path."""
    put_on_path(monkeypatch, tmp_path)
    return tmp_path


def put_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    invalidate_caches()


def named(error: LegatoError) -> list[str]:
    return cast("list[str]", error.details["problems"])


def plugin_tools(monkeypatch: pytest.MonkeyPatch) -> dict[str, Tool]:
    put_on_path(monkeypatch, PLUGIN)
    return dict(by_name(load_plugins()))


def test_no_distribution_means_no_tool() -> None:
    assert load_plugins() == ()


def test_an_installed_distribution_brings_its_tools_with_their_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools = plugin_tools(monkeypatch)
    assert {tool.spec.source for tool in tools.values()} == {"plugin:legato-test-tools"}
    count = tools["count_once"].spec
    assert (count.effect, count.writes, count.resource) == (Effect.ONCE, Writes.LASTING, "counter")
    assert len(build_registry([tool.spec for tool in tools.values()]).specs) == len(tools)


def test_one_entry_point_may_give_one_tool_or_many(site: Path) -> None:
    source = "ONE = make('one')\ndef several():\n    yield make('two')\n    yield make('three')\n"
    points = ["one = plugin_forms:ONE", "many = plugin_forms:MANY"]
    install(site, "forms", "plugin_forms", source + "MANY = several()\n", *points)
    assert [tool.spec.name for tool in load_plugins()] == ["two", "three", "one"]


def test_every_fault_of_every_plugin_is_named_at_once(site: Path) -> None:
    install(site, "breaks", "plugin_breaks", "import no_such_module_here", "b = plugin_breaks:X")
    install(site, "exits", "plugin_exits", "raise SystemExit(3)", "e = plugin_exits:X")
    install(site, "leaks", "plugin_leaks", "raise ValueError('sk-planted')", "x = plugin_leaks:X")
    install(site, "lacks", "plugin_lacks", "", "l = plugin_lacks:MISSING")
    source = """
TOOLS = [
    3,
    make("read_result"),
    make("no probe", effect=Effect.PROBEABLE),
    make("unproven", effect=Effect.TRANSACTIONAL),
    make("liar", effect=Effect.READ, writes=Writes.LASTING),
    make("typed", effect="once"),
    make("inert", execute=None),
    make("shapeless", timeout=0),
    Tool("spec", run),
]
EMPTY = []
"""
    points = ["t = plugin_wrong:TOOLS", "e = plugin_wrong:EMPTY", "n = plugin_wrong:make"]
    install(site, "wrong", "plugin_wrong", source, *points)
    with pytest.raises(LegatoError) as raised:
        load_plugins()
    assert raised.value.code == "plugin_invalid"
    text = "\n".join(named(raised.value))
    for part in (
        "breaks, entry point b: loading plugin_breaks:X raised ModuleNotFoundError of",
        "exits, entry point e: loading plugin_exits:X raised SystemExit at ",
        "leaks, entry point x: loading plugin_leaks:X raised ValueError at ",
        "plugin_leaks.py:",
        "lacks, entry point l: loading plugin_lacks:MISSING raised AttributeError",
        "wrong, entry point e: plugin_wrong:EMPTY holds no tool",
        "wrong, entry point n: expected a domain.ports.Tool, got function",
        "wrong, entry point t: expected a domain.ports.Tool, got int",
        "wrong, entry point t: expected a domain.tools.registry.ToolSpec, got str",
        "tool name 'read_result' is reserved",
        "tool 'no probe': a name is 1 to 128",
        "tool 'no probe': the class probeable needs a probe",
        "tool 'unproven': the class transactional needs a probe",
        "tool 'liar': a tool that only reads cannot write lasting",
        "tool 'typed': its effect has the wrong type, str",
        "tool 'inert': its execute cannot be called",
        "tool 'shapeless': timeout 0 is outside",
    ):
        assert part in text
    assert len(named(raised.value)) == 16
    assert "sk-planted" not in text + str(raised.value)


def test_a_name_that_two_plugins_claim_is_a_fault_of_both(site: Path) -> None:
    install(site, "first", "plugin_first", "T = make('same')", "a = plugin_first:T")
    install(site, "second", "plugin_second", "T = make('same')", "a = plugin_second:T")
    with pytest.raises(LegatoError) as raised:
        load_plugins()
    assert raised.value.details["problems"] == [
        "second, entry point a: the tool 'same' is claimed twice (first, entry point a)"
    ]


def test_the_counter_counts_each_execution(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = plugin_tools(monkeypatch)["count_once"]
    counter = tmp_path / "counter"
    for _ in range(2):
        tool.execute({"path": str(counter), "text": "x"}, tool_context(tmp_path))
    with pytest.raises(RuntimeError, match="after the effect"):
        tool.execute({"path": str(counter), "text": "y", "then": "raise"}, tool_context(tmp_path))
    assert counter.read_text() == "x\nx\ny\n"


def test_a_counter_told_to_die_takes_its_process_with_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from activities.tools.plugins import load_plugins\n"
        "from tests.support.tool_context import by_name, tool_context\n"
        "arguments = {'path': sys.argv[1] + '/counter', 'text': 'x', 'then': 'die'}\n"
        "context = tool_context(Path(sys.argv[1]))\n"
        "by_name(load_plugins())['count_once'].execute(arguments, context)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(PLUGIN)])}
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "counter").read_text() == "x\n"


def test_the_misbehaving_reads_misbehave_as_they_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tools = plugin_tools(monkeypatch)
    context = tool_context(tmp_path)
    with pytest.raises(RuntimeError):
        tools["raise_always"].execute({}, context)
    big = tools["big_result"].execute({"bytes": 100_001}, context)
    assert isinstance(big, Executed)
    assert len(big.outcome.text) == 100_001
    bad = tools["bad_text"].execute({}, context)
    assert isinstance(bad, Executed)
    assert {"\x00", "\ud800", "\x1b"} <= set(bad.outcome.text)
    hung = tools["hang_read"].execute({"seconds": 0}, context)
    assert isinstance(hung, Executed)


def test_forked_children_are_alive_and_named(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from activities.tools.plugins import load_plugins\n"
        "from tests.support.tool_context import by_name, tool_context\n"
        "tool = by_name(load_plugins())['fork_children']\n"
        "done = tool.execute({'count': 2}, tool_context(Path(sys.argv[1])))\n"
        "print(done.outcome.text, flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(PLUGIN)])}
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pids = json.loads(process.stdout.readline())["pids"]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    assert len(pids) == 2
    assert process.returncode == 0
