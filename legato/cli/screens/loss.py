"""What became of a source's fields, as people read it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from legato.cli.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.agents.imported.loss import FieldReport
    from legato.importing import Import


def report_text(rows: Sequence[FieldReport]) -> str:
    """Sum a report up and list what is for a person."""
    if not rows:
        return ""
    return "\n".join([_summed(rows), *(row_text(row) for row in rows if row.person)])


def _summed(rows: Sequence[FieldReport]) -> str:
    """Count the rows, and say what the profile gives more and less than all of them said."""
    counts = Counter(row.became.value for row in rows)
    fields = ", ".join(f"{number} {became}" for became, number in sorted(counts.items()))
    widens = sorted({one for row in rows for one in row.widens})
    narrows = sorted({one for row in rows for one in row.narrows})
    return fields + _authority(widens, narrows)


def _authority(widens: Sequence[str], narrows: Sequence[str]) -> str:
    more = [f"widens {', '.join(widens)}"] if widens else []
    less = [f"narrows {', '.join(narrows)}"] if narrows else []
    return f" [{'; '.join([*more, *less])}]" if more or less else ""


def row_text(row: FieldReport) -> str:
    """Tell one row: the field, what became of it and why, what is more and less than it said."""
    authority = _authority(row.widens, row.narrows)
    return f"{row.field}: {row.became.value} ({row.code}){authority}: {row.says}"


def import_screen(made: Import, said: str) -> Text:
    """Show an import: each part with the rows for a person, then what was written."""
    text = Text()
    for row in made.rows:
        _add(text, row, 0)
    for part in made.parts:
        style = "bold" if part.kept else "bold red"
        text.append(part.name, style=style)
        text.append(f"  {_summed(part.rows)}" if part.kept else "  refused")
        text.append("\n")
        for row in part.rows:
            if row.person:
                _add(text, row, 2)
    counts = ", ".join(f"{number} {became}" for became, number in made.counts.items())
    text.append(f"{counts}; {made.for_people} for a person\n", style="dim")
    return text.append(spelled(said))


def _add(text: Text, row: FieldReport, indent: int) -> None:
    mark = "? " if row.person else "- "
    text.append(f"{' ' * indent}{mark}{row_text(row)}\n")
    if row.person and row.next:
        text.append(f"{' ' * (indent + 2)}next: {spelled(row.next)}\n", style="dim")
