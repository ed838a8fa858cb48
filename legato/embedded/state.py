"""The state file: what the supervisor runs, told to every other process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain.errors import LegatoError, refused

from .processes import ProcessId

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1
_TEXTS = ("code", "message", "cause", "next")


class Status(StrEnum):
    """Where the embedded stack stands."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a stack failed: the parts of a LegatoError."""

    code: str
    message: str
    cause: str = ""
    next: str = ""
    details: Mapping[str, object] = field(default_factory=dict[str, object])

    @classmethod
    def of(cls, error: LegatoError) -> Reason:
        """Keep what an error says."""
        return cls(error.code, error.message, error.cause, error.next, error.details)


@dataclass(frozen=True, slots=True)
class PartState:
    """One part of the stack; `since` is its start in seconds since 1970, UTC."""

    name: str
    process: ProcessId | None = None
    address: str = ""
    since: float | None = None
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class StackState:
    """All that the state file says; `step` is what is being done, in words for a person."""

    status: Status
    supervisor: ProcessId
    step: str = ""
    reason: Reason | None = None
    temporal_address: str = ""
    temporal_namespace: str = ""
    ui_address: str = ""
    database_url: str = ""
    parts: tuple[PartState, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    schema: int = SCHEMA

    def part(self, name: str) -> PartState:
        """Look one part up; a part never started is an empty one."""
        return next((part for part in self.parts if part.name == name), PartState(name))

    def with_part(self, changed: PartState) -> StackState:
        """Put one part in the place of its earlier state, or after the others."""
        names = [part.name for part in self.parts]
        if changed.name not in names:
            return replace(self, parts=(*self.parts, changed))
        parts = tuple(changed if part.name == changed.name else part for part in self.parts)
        return replace(self, parts=parts)


def state_file(home: Path) -> Path:
    """Tell where the state of a home is kept."""
    return home / "state.json"


def write_state(home: Path, state: StackState) -> None:
    """Replace the state file whole; it is 0600, for it holds the database's password."""
    draft = state_file(home).with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(_to_json(state), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(state_file(home))


def load_state(home: Path) -> StackState | None:
    """Read the state file; None where there is none, or none that can be read.

    Raises:
        LegatoError: `state_from_other_version` where a newer Legato wrote it.

    """
    try:
        written = json.loads(state_file(home).read_text(encoding="utf-8"))
        schema = written["schema"]
        if schema == SCHEMA:
            return _from_json(written)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # the next supervisor writes a new one and looks for leftovers itself
    raise refused(
        "state_from_other_version",
        f"The embedded stack in {home} was started by another version of Legato.",
        cause=f"its state file has schema {schema}, this version reads {SCHEMA}",
        next="run `legato down` with that version, or point LEGATO_HOME elsewhere",
    )


def _to_json(state: StackState) -> dict[str, object]:
    reason = state.reason
    return {
        "schema": state.schema,
        "status": state.status.value,
        "step": state.step,
        "reason": None
        if reason is None
        else {name: getattr(reason, name) for name in (*_TEXTS, "details")},
        "temporal_address": state.temporal_address,
        "temporal_namespace": state.temporal_namespace,
        "ui_address": state.ui_address,
        "database_url": state.database_url,
        "supervisor": _process_to_json(state.supervisor),
        "parts": [
            {
                "name": part.name,
                "process": None if part.process is None else _process_to_json(part.process),
                "address": part.address,
                "since": part.since,
                "restarts": part.restarts,
            }
            for part in state.parts
        ],
        "versions": dict(state.versions),
    }


def _process_to_json(process: ProcessId) -> dict[str, object]:
    return {"pid": process.pid, "started": process.started}


# The state file is read by a process that did not write it: Any ends at these two functions.
def _from_json(written: Any) -> StackState:  # noqa: ANN401 - parsed JSON
    reason = written["reason"]
    return StackState(
        status=Status(written["status"]),
        supervisor=_process(written["supervisor"]),
        step=str(written["step"]),
        reason=None if reason is None else _reason(reason),
        temporal_address=str(written["temporal_address"]),
        temporal_namespace=str(written["temporal_namespace"]),
        ui_address=str(written["ui_address"]),
        database_url=str(written["database_url"]),
        parts=tuple(
            PartState(
                name=str(part["name"]),
                process=None if part["process"] is None else _process(part["process"]),
                address=str(part["address"]),
                since=None if part["since"] is None else float(part["since"]),
                restarts=int(part["restarts"]),
            )
            for part in written["parts"]
        ),
        versions={str(key): str(value) for key, value in written["versions"].items()},
    )


def _reason(written: Any) -> Reason:  # noqa: ANN401 - parsed JSON
    texts = {name: str(written[name]) for name in _TEXTS}
    return Reason(**texts, details=dict(written.get("details", {})))


def _process(written: Any) -> ProcessId:  # noqa: ANN401 - parsed JSON
    return ProcessId(int(written["pid"]), str(written["started"]))
