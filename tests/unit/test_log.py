"""The log tells what happened and where, never a text that was made while running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from legato.log import LEFT_OUT
from legato.shape import shape
from tests.support.stack import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "sk-canary-0815"
MADE = '"sk-canary-" + str(800 + 15).zfill(4)'
"""Makes the same while it runs: what stands in the code is no secret."""
_PROGRAM = f"""
import asyncio, gc, logging, os, structlog, sys, threading, warnings
from legato.log import configure_log, own_output
configure_log(own_output())
log = structlog.get_logger()
def fails():
    secret = {MADE}
    try:
        {{}}[secret]
    except KeyError as exc:
        exc.add_note(secret)
        raise RuntimeError(secret) from exc
secret = {MADE}
try:
    fails()
except RuntimeError as exc:
    log.exception("own")
    log.warning("given", exc_info=exc)
    logging.getLogger("library").exception("a library says %s", exc)
    logging.getLogger("library").exception(f"a library says {{exc}}")
logging.getLogger("library").warning(secret)
warnings.warn(secret)
print(secret)
sys.stderr.write(secret)
os.system(f"echo {{secret}}; echo {{secret}} >&2")
asyncio.new_event_loop().call_exception_handler({{"message": "in a callback", "of": secret}})
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


def test_no_way_into_the_log_takes_a_text_along_that_was_made_while_running(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    ran = subprocess.run(
        [sys.executable, program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert CANARY not in ran.stdout + ran.stderr
    rows = [json.loads(line) for line in ran.stderr.splitlines()]
    said = [row["event"] for row in rows]
    assert said == [
        "own",
        "given",
        "a library says %s",
        LEFT_OUT,
        LEFT_OUT,
        "warned",
        LEFT_OUT,
        "Task exception was never retrieved",
        "uncaught",
        "uncaught",
        "uncaught",
    ]
    places = [row["place"] for row in rows if row["event"] in {LEFT_OUT, "warned"}]
    assert all(place.partition(":")[0].endswith(".py") for place in places)
    shapes = [row["exception"] for row in rows if "exception" in row]
    assert len(shapes) == 8
    assert all(shape[0] == "builtins.RuntimeError" for shape in shapes)
    assert all("caused by builtins.KeyError" in shape for shape in shapes)
    assert all(any(line.endswith(" fails") for line in shape) for shape in shapes)


def test_a_shape_ends_though_causes_go_in_a_circle() -> None:
    one, other = ValueError("a"), ValueError("b")
    one.__cause__, other.__cause__ = other, one

    assert len(shape(one)) < 10
