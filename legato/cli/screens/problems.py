"""What is wrong with agent files, one line a problem."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.text import Text

from domain.agents.files.codes import Level
from domain.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from domain.agents.files.problems import Problem
    from legato.agent_files.lint import Report


def report_screen(report: Report) -> RenderableType:
    """Show one line a problem, and what it comes to."""
    lines = "".join(f"{line}\n" for line in problem_lines(report.problems))
    files = counted(report.files, "file")
    return Text(f"{lines}{files}: {report.kept} kept, {report.dropped} dropped")


def problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Write one line a problem; files that are no agents at all take one line a folder."""
    skipped: dict[str, list[str]] = {}
    for one in problems:
        if one.level is Level.SKIPPED:
            path = PurePath(one.file)
            skipped.setdefault(str(path.parent), []).append(path.name)
        else:
            yield f"{one.file}:{one.line}: {one.level.value} {one.code}: {one.message}; {one.next}"
    for folder, names in skipped.items():
        without = "has" if len(names) == 1 else "have"
        yield (
            f"{folder}:0: skipped not_an_agent: {counted(len(names), 'file')} {without} no header "
            f"and no agent in it ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"  # noqa: PLR2004 - a taste of them
        )
