"""The command `import`: brings saved steps and agents of other programs over, with what is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from domain.words import counted
from legato.cli.console import Call, json_option
from legato.cli.screens.loss import import_screen
from legato.importing import FORMS, Import, read_import, report_json, write_import

if TYPE_CHECKING:
    from collections.abc import Sequence

TO_HELP = "Where to write: a file for steps, else beside PATH; a folder for agents."

_REFUSED = 3
_FOR_PEOPLE = 5


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), help=TO_HELP)
@click.option("--from", "form", type=click.Choice(FORMS), help="What PATH is, else by its name.")
@click.option("--strict", is_flag=True, help="Write nothing while a person has to decide.")
@click.option("--overwrite", is_flag=True, help="Write over files that hold something else.")
@json_option
@click.pass_obj
def import_command(
    call: Call, path: Path, *, to: Path | None, form: str | None, strict: bool, overwrite: bool
) -> int:
    """Bring PATH over to Legato's own form and report what became of each field.

    PATH is a step_config.json of an older program or the folder of its workflow, an agent file of
    Claude Code (.md) or Copilot (.agent.md), an agents.yaml of CrewAI, or a folder of agent files.
    Agents become drafts, which nothing loads from where they are written. What is imported stays
    as it is. Exit status: 0 written, 3 something is refused, 5 a person has to decide
    (with --strict).
    """
    made = read_import(path, to, form or "")
    waits = strict and made.for_people > 0
    written = () if waits else write_import(made, overwrite=overwrite)
    status = _REFUSED if made.refused else _FOR_PEOPLE if waits else 0
    document = {"ok": status == 0, **report_json(made, written)}
    call.show(document, lambda: import_screen(made, _said(made, written, waits=waits)))
    return status


def _said(made: Import, written: Sequence[Path], *, waits: bool) -> str:
    """Say what was written, or why nothing was."""
    if waits:
        return (
            f"nothing is written: {counted(made.for_people, 'case')} for a person; decide in the "
            "file (a stored profile decides those of stores), or leave out --strict"
        )
    if not written:
        return "nothing is written: there is nothing that could be kept"
    return "\n".join(f"written: {path}" for path in written)
