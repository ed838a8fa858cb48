"""A child's life is tied to its supervisor's, by the kernel or by a watcher."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from legato.embedded.parts import tether
from legato.embedded.processes import identify
from legato.embedded.tether import LOCKED, ORPHANED
from tests.support.embedded_stack import all_gone, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PARENT = """
import os, signal, subprocess, sys
from legato.embedded.parts import tether
tie = {"parent": os.getpid(), "signal": int(signal.SIGKILL), "watch": sys.argv[1] == "watch"}
child = subprocess.Popen(tether(tie, ["sleep", "600"]), stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=["kernel", "watch"])
def parent(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A process that has tied a child to itself and printed the child's pid."""
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(request.param)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


async def test_the_child_lives_with_its_parent_and_dies_with_it(
    parent: subprocess.Popen[str],
) -> None:
    assert parent.stdout is not None
    child = identify(int(parent.stdout.readline()))
    assert not await until(all_gone(child), seconds=0.6)
    parent.kill()
    assert await until(all_gone(child))


def test_a_child_whose_parent_is_gone_already_does_not_begin() -> None:
    tie = {"parent": 1 << 22, "signal": int(signal.SIGKILL)}
    ended = subprocess.run(tether(tie, ["true"]), check=False, timeout=10)
    assert ended.returncode == ORPHANED


async def test_of_two_children_with_one_lock_the_second_does_not_begin(tmp_path: Path) -> None:
    tie = {"lock": str(tmp_path / "lock")}
    first = await asyncio.create_subprocess_exec(
        *tether(tie, ["sh", "-c", "echo holds; read line"]),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert first.stdout is not None
    assert await first.stdout.readline() == b"holds\n"
    second = await asyncio.create_subprocess_exec(*tether(tie, ["true"]))
    assert await second.wait() == LOCKED
    await first.communicate(b"end\n")
    third = await asyncio.create_subprocess_exec(*tether(tie, ["true"]))
    assert await third.wait() == 0
