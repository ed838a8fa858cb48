"""Reads a file of saved plan steps in every form there was; pure, and it never raises."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from domain.agents.imported.loss import Became, FieldReport, refused
from domain.agents.imported.plan_step import MARK, VERSION, shown_id
from domain.codec import Json, clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BYTES = 1024 * 1024
MOST_STEPS = 2000
_MOST_NAMED = 20

Form: TypeAlias = Literal["object", "array", "legato", ""]
"""`object` and `array` are the older forms, `legato` is our own, "" is none of them."""


@dataclass(frozen=True)
class Entry:
    """One step as it stands in the file: its place from 1, its id ("" without one), its fields."""

    number: int
    id: str
    fields: dict[str, Json]

    @property
    def name(self) -> str:
        """Name the step as a report may: an id that is no plain name is not repeated."""
        return shown_id(self.number, self.id)


@dataclass(frozen=True)
class StepFile:
    """A file of saved steps; `rows` tell what is wrong with the file itself."""

    form: Form
    entries: tuple[Entry, ...] = ()
    rows: tuple[FieldReport, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Name every step that can be named."""
        return tuple(entry.id for entry in self.entries if entry.name == entry.id)


def find_entry(file: StepFile, wanted: str) -> tuple[Entry | None, tuple[FieldReport, ...]]:
    """Find a step by its id, "" for the only one; rows say why it cannot be had.

    What is wrong with other steps is theirs, what is wrong with the whole file is everybody's.
    """
    whole = tuple(row for row in file.rows if not row.field.startswith("steps["))
    if any(row.became is Became.REFUSED for row in whole):
        return None, whole
    found = [entry for entry in file.entries if entry.id == wanted or not wanted]
    same = [entry for entry in found if entry.id and entry.fields == found[0].fields]
    if found and len(same) == len(found):
        return found[0], whole
    there = ", ".join(file.names[:_MOST_NAMED]) or "none that has a plain name"
    code = "step_ambiguous" if found else "step_missing"
    says = "several steps are meant" if found else "no step has that id"
    row = refused("(step)", code, says, f"name one of them after #: {there}")
    return None, (*whole, row)


def read_bytes(data: bytes) -> StepFile:
    """Read a file's bytes, of which more than `MOST_BYTES` need not be there."""
    if len(data) > MOST_BYTES:
        return _too_large()
    try:
        return read_steps(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _none("not_text", "it is no UTF-8 text", "save it as UTF-8")


def read_steps(text: str) -> StepFile:
    """Read a file's text; whatever is wrong is a row, with no value of the file in it."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return _too_large()
    twice: list[str] = []
    try:
        root = _cleaned(_loaded(text.removeprefix("\ufeff"), twice))
    except json.JSONDecodeError as exc:
        where = f"line {exc.lineno}, column {exc.colno}"
        return _none("json_invalid", f"it is no JSON at {where}", f"mend it at {where}")
    except (ValueError, RecursionError):
        return _none("json_invalid", "it is nested too deeply, or holds a number that is too long")
    if twice:
        says = f"{len(twice)} keys stand twice in one object, and no one can tell which counts"
        return _none("key_repeated", says, "keep one of each")
    return _of(root)


def _too_large() -> StepFile:
    return _none("file_too_large", f"it is larger than {MOST_BYTES // 1024} KiB")


def _loaded(text: str, twice: list[str]) -> object:
    """Read JSON strictly; a key that stands twice in one object is added to `twice`."""

    def collect(pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        twice.extend(["again"] * (len(pairs) - len(made)))
        return made

    def refuse(constant: str) -> object:
        raise ValueError(constant)

    value: object = json.loads(text, object_pairs_hook=collect, parse_constant=refuse)
    return value


def _cleaned(value: object) -> Json:
    """Make every text storable, keys too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {clean_text(key): _cleaned(one) for key, one in pairs}
    return cast("Json", value)


def _of(root: Json) -> StepFile:
    if isinstance(root, list):
        return _entries("array", root)
    if not isinstance(root, dict):
        return _none("root_invalid", "its root is neither an object nor a list of steps")
    steps = root.get("steps")
    if MARK in root:
        if root[MARK] != VERSION or isinstance(root[MARK], bool):
            says = f"its {MARK} is not {VERSION}, the one that this build reads"
            return _none("version_unknown", says, "use the build that wrote it")
        return _entries("legato", steps, [key for key in root if key not in {MARK, "steps"}])
    if "steps" not in root:
        says = "it has neither `steps` nor a list of them at its root"
        return _none("steps_missing", says, 'write {"steps": [{"id": "...", "agent_configs": {}}]}')
    return _entries("object", steps, [key for key in root if key != "steps"])


def _entries(form: Form, steps: Json, more: Sequence[str] = ()) -> StepFile:
    if steps is None:
        steps = []
    if not isinstance(steps, list) or len(steps) > MOST_STEPS:
        return _none("steps_invalid", f"`steps` is no list of at most {MOST_STEPS} steps")
    rows = [_more(form) for _ in more[:1]]
    entries: list[Entry] = []
    for number, step in enumerate(steps, start=1):
        if not isinstance(step, dict):
            rows.append(_bad(number, "step_invalid", "is no object"))
            continue
        name = step.get("id")
        if not isinstance(name, str) or not name.strip():
            rows.append(_bad(number, "step_id_missing", "has no id, so nothing can name it"))
            name = ""
        entries.append(Entry(number, name, step))
    return StepFile(form, tuple(entries), (*rows, *_twice(entries)))


def _twice(entries: list[Entry]) -> list[FieldReport]:
    """List the ids that stand several times with different content; the same twice is one."""
    first: dict[str, Entry] = {}
    rows: list[FieldReport] = []
    for entry in entries:
        known = first.setdefault(entry.id, entry)
        if entry.id and known.fields != entry.fields:
            rows.append(
                _bad(
                    entry.number, "step_repeated", f"has the id of step {known.number} but differs"
                )
            )
    return rows


def _more(form: Form) -> FieldReport:
    return FieldReport(
        field="(beside steps)",
        given="value",
        became=Became.REFUSED if form == "legato" else Became.DROPPED,
        code="field_unknown",
        says="the file holds fields beside `steps` that nothing reads",
        next="remove them",
        person=True,
    )


def _bad(number: int, code: str, says: str) -> FieldReport:
    step = "mend this step; the others are read without it"
    return refused(f"steps[{number - 1}]", code, f"step {number} {says}", step)


def _none(code: str, says: str, step: str = "mend the file") -> StepFile:
    row = refused("(file)", code, says, step)
    return StepFile("", rows=(row,))
