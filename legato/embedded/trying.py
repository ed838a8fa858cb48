"""Tries this build on the open runs of the home, in a process of its own, before the worker."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from domain.errors import LegatoError

from .parts import Start, tethered

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULE = "legato.try_build"
_LIMIT = 45.0


async def try_build(environment: Mapping[str, str]) -> None:
    """Have the build replay the open runs of the home.

    Raises:
        LegatoError: `build_cannot_replay`, or `build_not_tried` where that could not be found out.

    """
    command = (sys.executable, "-m", MODULE)
    process = await asyncio.create_subprocess_exec(
        *tethered(Start(command, environment, "", _at_once)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env=dict(environment),
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), _LIMIT)
    except TimeoutError:
        said = b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    _judge(said)


def _judge(said: bytes) -> None:
    try:
        answer = json.loads(said)
        error = None if answer["ok"] else answer["error"]
    except (ValueError, KeyError, TypeError):
        raise LegatoError(
            "build_not_tried",
            "it could not be found out whether this build replays the open runs of this home",
            cause="what tries it ended without an answer",
            next="read logs/supervisor.log; `legato up` tries again, `legato up --force` does not",
        ) from None
    if error is not None:
        raise LegatoError(
            str(error["code"]),
            str(error["message"]),
            cause=str(error["cause"]),
            next=str(error["next"]),
            details=error["details"],
        )


async def _at_once() -> None:
    """It serves nobody: it answers and ends."""
