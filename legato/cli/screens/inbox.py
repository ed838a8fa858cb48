"""What people are asked, as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.console import Group
from rich.text import Text

from legato.cli.screens.tables import facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from legato.lists import Listed


def inbox_screen(listed: Listed) -> RenderableType:
    """Show each question with its run and the command that answers it."""
    if not listed.rows:
        return Text("nobody is asked anything")
    shown: list[RenderableType] = []
    for row in listed.rows:
        kind = str(row["kind"]).replace("_", " ")
        head = Text(f"{kind}: ", style="bold yellow").append(str(row["text"]), style="")
        shown += [head, facts(_facts(row))]
    if listed.more:
        shown.append(Text("younger questions are left out; --all lists them", style="dim"))
    return Group(*shown)


def _facts(row: Mapping[str, object]) -> list[tuple[str, str]]:
    where = f" in {row['workspace']}" if row["workspace"] else ""
    run = f"{row['agent']}{where}  {row['run_id']}  ({row['status']})"
    return [
        ("  run", run),
        ("  choices", " | ".join(_texts(row["choices"]))),
        ("  who", ", ".join(_texts(row["who"]))),
        ("  since", str(row["since"])),
        ("  expires", str(row["expires_at"] or "never")),
        ("  answer with", str(row["command"])),
    ]


def _texts(value: object) -> list[str]:
    return [str(one) for one in cast("Sequence[object]", value)]
