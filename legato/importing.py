"""Brings what other programs saved over to Legato's own files, and never over other content."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from domain.agents.imported.loss import Became, FieldReport
from domain.agents.imported.step_file import read_bytes
from domain.agents.imported.upgrade import upgraded
from domain.errors import LegatoError, problems, refused
from legato.drafts import Dialect, dialect_of, drafts_of, files_below, text_of, unique
from legato.plan_steps import file_in, read_file

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind: TypeAlias = Literal["steps", "claude", "copilot", "crewai", "agents"]
"""What a source is: saved steps, agent files of one program, or a folder of agent files."""

FORMS = ("steps", "claude", "copilot", "crewai")
"""What a person may say that a source is."""

DRAFTS = "legato-drafts"
"""Where drafts of agents go: no folder that agents are loaded from."""


@dataclass(frozen=True)
class Brought:
    """One step or agent: its name in reports, what became of it, and of each of its fields."""

    name: str
    kept: bool
    rows: tuple[FieldReport, ...]


@dataclass(frozen=True)
class Target:
    """A file to be written."""

    path: Path
    text: str


@dataclass(frozen=True)
class Import:
    """What was read from one source: its parts, what is to be written, what is wrong with it.

    `files` are those that were read.
    """

    kind: Kind
    source: Path
    parts: tuple[Brought, ...]
    targets: tuple[Target, ...]
    rows: tuple[FieldReport, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def every(self) -> tuple[FieldReport, ...]:
        """Every row of the report."""
        return (*self.rows, *(row for part in self.parts for row in part.rows))

    @property
    def refused(self) -> int:
        """Count what is refused: parts that are not brought over, and what the file lacks."""
        whole = sum(row.became is Became.REFUSED for row in self.rows)
        return whole + sum(
            any(row.became is Became.REFUSED for row in part.rows) for part in self.parts
        )

    @property
    def for_people(self) -> int:
        """Count the cases that a person should decide."""
        return sum(row.person for row in self.every)

    @property
    def counts(self) -> dict[str, int]:
        """Count the fields by what became of them."""
        found = Counter(row.became.value for row in self.every)
        return {one.value: found[one.value] for one in Became}


def read_import(path: Path, to: Path | None, form: str = "") -> Import:
    """Read a source; `to` is where its files go, None for their usual place.

    `form` says what the source is, "" leaves that to its name. Raises `step_file_unreadable`,
    `import_unknown` and `import_too_large`.
    """
    _require_reachable(path)
    flow = file_in(path)
    if form == "steps" or (not form and (path.suffix == ".json" or flow is not None)):
        return _steps(flow or path, to)
    files = files_below(path) if path.is_dir() else []
    if files:
        return _drafts(path, "agents", form, files, to)
    if not path.is_file() or not (form or dialect_of(path)):
        raise refused(
            "import_unknown",
            f"{path} is nothing that can be imported",
            cause=_why_not(path),
            next="name a step_config.json, an agent file (.md), a crew's agents.yaml, or a folder "
            "of them; --from says what a file is whose name does not",
        )
    return _drafts(path, form or dialect_of(path) or "claude", form, [path], to)


def _require_reachable(path: Path) -> None:
    """Refuse a path that cannot even be looked at; that nothing is there is told later."""
    try:
        path.stat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise refused(
            "import_unknown",
            f"{path} is nothing that can be imported",
            cause=getattr(exc, "strerror", None) or "no path holds a NUL",
            next="name a file or a folder that you can read",
        ) from None


def _why_not(path: Path) -> str:
    if path.is_dir():
        return "it holds neither a step_config.json nor an agent file"
    return "" if path.exists() else "there is nothing at this path"


def _drafts(path: Path, kind: str, form: str, files: Sequence[Path], to: Path | None) -> Import:
    dialect = cast("Dialect | None", form or None)
    drafts = unique([draft for file in files for draft in drafts_of(file, dialect)])
    folder = to or Path(DRAFTS)
    texts = [text for draft in drafts if (text := text_of(draft)) is not None]
    parts = tuple(Brought(one.name, one.agent is not None, one.rows) for one in drafts)
    targets = tuple(Target(folder / name, text) for name, text in texts)
    return Import(cast("Kind", kind), path, parts, targets, files=tuple(files))


def _steps(source: Path, to: Path | None) -> Import:
    made = upgraded(read_bytes(read_file(source)))
    target = to or source.with_name(f"{source.stem}.legato.json")
    parts = tuple(Brought(one.name, one.step is not None, one.rows) for one in made.steps)
    wrong = any(row.became is Became.REFUSED for row in made.file.rows) and not parts
    targets = () if wrong else (Target(target, made.text),)
    return Import("steps", source, parts, targets, made.file.rows, (source,))


def write_import(made: Import, *, overwrite: bool) -> tuple[Path, ...]:
    """Write the targets; raises `import_target_taken` and `import_not_written`.

    A file that holds the same already stays as it is; where one holds something else, nothing
    is written, unless `overwrite`.
    """
    taken = [one.path for one in made.targets if _differs(one)]
    if taken and not overwrite:
        raise problems(
            "import_target_taken",
            "files with other content are in the way, and nothing was written",
            [str(path) for path in taken],
            next="look at them, then name another place with --to or write over them with "
            "--overwrite",
        )
    _refuse_own_source(made)
    for one in made.targets:
        _write(one)
    return tuple(one.path for one in made.targets)


def _differs(target: Target) -> bool:
    if not os.path.isfile(target.path):  # noqa: PTH113 - it raises nothing
        return os.path.lexists(target.path)
    try:
        return target.path.read_text(encoding="utf-8") != target.text
    except (OSError, ValueError):
        return True


def _refuse_own_source(made: Import) -> None:
    read = {os.path.realpath(file) for file in made.files}
    own = [one.path for one in made.targets if os.path.realpath(one.path) in read]
    if own:
        raise refused(
            "import_target_taken",
            f"{own[0]} is what is imported, and stays as it is",
            next="name another place with --to",
        )


def _write(target: Target) -> None:
    """Write a file whole or not at all."""
    draft = target.path.with_name(f".{target.path.name}.{os.getpid()}")
    try:
        target.path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(target.text, encoding="utf-8")
        draft.replace(target.path)
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        with suppress(OSError):  # where it could not be made, it cannot be removed either
            draft.unlink(missing_ok=True)
        raise LegatoError(
            "import_not_written",
            f"{target.path} cannot be written",
            cause=getattr(exc, "strerror", None) or "no path holds a NUL",
            next="name a place that you can write to with --to",
        ) from None


def report_json(made: Import, written: Sequence[Path]) -> dict[str, object]:
    """Give the whole loss report as one document."""
    return {
        "source": str(made.source),
        "kind": made.kind,
        "written": [str(path) for path in written],
        "counts": made.counts,
        "refused": made.refused,
        "for_people": made.for_people,
        "file": _dumped(made.rows),
        "parts": [
            {"name": part.name, "kept": part.kept, "rows": _dumped(part.rows)}
            for part in made.parts
        ],
    }


def _dumped(rows: Sequence[FieldReport]) -> list[dict[str, object]]:
    return [row.model_dump(mode="json") for row in rows]
