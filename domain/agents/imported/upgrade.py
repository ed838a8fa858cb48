"""Writes a file of saved steps anew in Legato's own form, with what became of each field."""

from __future__ import annotations

import json
from dataclasses import dataclass

from domain.agents.imported.loss import FieldReport
from domain.agents.imported.plan_step import MARK, VERSION, PlanStep, saved
from domain.agents.imported.step_config import Asked, translate
from domain.agents.imported.step_file import Entry, StepFile, find_entry
from domain.agents.profile import Profile


@dataclass(frozen=True)
class Moved:
    """One step: its name in reports, what it is now (None where it is refused), and its rows."""

    name: str
    step: PlanStep | None
    rows: tuple[FieldReport, ...]


@dataclass(frozen=True)
class Upgrade:
    """The old file read, each of its steps, and the new file's text."""

    file: StepFile
    steps: tuple[Moved, ...]

    @property
    def rows(self) -> tuple[FieldReport, ...]:
        """Every row: those of the file, then those of each step."""
        return (*self.file.rows, *(row for moved in self.steps for row in moved.rows))

    @property
    def text(self) -> str:
        """Write the steps that are not refused; each names its profile."""
        steps = [saved(moved.step) for moved in self.steps if moved.step is not None]
        return json.dumps({MARK: VERSION, "steps": steps}, indent=2, ensure_ascii=False) + "\n"


def upgraded(file: StepFile, default: Profile = Profile.WRITER) -> Upgrade:
    """Upgrade a file of any form; `default` is the profile of a step that stores none."""
    first: dict[str, Entry] = {}
    unclear: set[str] = set()
    for entry in file.entries:
        if entry.id and first.setdefault(entry.id, entry).fields != entry.fields:
            unclear.add(entry.id)
    moved = [
        Moved(entry.name, None, find_entry(file, name)[1])
        if name in unclear
        else _moved(file, entry, default)
        for name, entry in first.items()
    ]
    return Upgrade(file, tuple(moved))


def _moved(file: StepFile, entry: Entry, default: Profile) -> Moved:
    done = translate(entry, file.form, Asked(default))
    step = done.step
    if step is not None and step.profile is None:
        step = step.model_copy(update={"profile": default})
    return Moved(entry.name, step, done.rows)
