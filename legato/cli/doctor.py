"""The command `doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from legato.cli.console import Call, json_option, plain, run_async
from legato.cli.spelling import spelled
from legato.examine import Grade, examine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from legato.examine import Finding

STYLES = {Grade.OK: "green", Grade.WARN: "yellow", Grade.FAIL: "bold red"}


@click.command("doctor")
@json_option
@click.pass_obj
def doctor_command(call: Call) -> int:
    """Look for what is wrong here, each finding with a next step. Starts nothing.

    Exit status 0 where nothing fails (warnings are no failure), else 1.
    """
    found = run_async(examine(call.settings()))
    healthy = all(one.grade is not Grade.FAIL for one in found)
    call.show({"ok": healthy, "checks": plain(found)}, lambda: _screen(found))
    return 0 if healthy else 1


def _screen(found: Sequence[Finding]) -> Text:
    text = Text()
    for one in found:
        text.append(f"{one.grade.value:<5}", style=STYLES[one.grade])
        text.append(f"{one.name}: ", style="bold").append(f"{one.text}\n")
        text.append(f"     next: {spelled(one.next)}\n" if one.next else "")
    text.rstrip()
    return text
