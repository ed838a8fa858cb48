"""The log tells of an exception what it was and where, never what its text says."""

from __future__ import annotations

import json
import subprocess
import sys

from legato.shape import shape
from tests.support.stack import ROOT

CANARY = "sk-canary-0815"
_PROGRAM = f"""
import asyncio, gc, logging, structlog, threading
from legato.log import configure_log
configure_log()
log = structlog.get_logger()
def fails():
    try:
        {{}}["{CANARY}"]
    except KeyError as exc:
        raise RuntimeError("{CANARY}") from exc
try:
    fails()
except RuntimeError as exc:
    log.exception("own")
    log.warning("given", exc_info=exc)
    logging.getLogger("library").exception("a library says %s", exc)
async def forgotten():
    task = asyncio.ensure_future(inner())
    await asyncio.sleep(0)
    del task
    gc.collect()
async def inner():
    fails()
asyncio.run(forgotten())
thread = threading.Thread(target=fails)
thread.start()
thread.join()
class Breaks:
    def __del__(self):
        fails()
Breaks()
fails()
"""


def test_no_way_into_the_log_takes_an_exceptions_text_along() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )

    rows = [json.loads(line) for line in ran.stderr.splitlines()]
    assert CANARY not in ran.stdout + ran.stderr
    said = [row["event"] for row in rows]
    assert said == [
        "own",
        "given",
        "a library says %s",
        "Task exception was never retrieved",
        "uncaught",
        "uncaught",
        "uncaught",
    ]
    assert all(row["exception"][0] == "builtins.RuntimeError" for row in rows)
    assert all("caused by builtins.KeyError" in row["exception"] for row in rows)
    assert all(any(line.endswith(" fails") for line in row["exception"]) for row in rows)


def test_a_shape_ends_though_causes_go_in_a_circle() -> None:
    one, other = ValueError("a"), ValueError("b")
    one.__cause__, other.__cause__ = other, one

    assert len(shape(one)) < 10
