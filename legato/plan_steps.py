"""What a launch must know of a saved plan step before a worker builds it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from domain.agents.imported.apply_step import authority_rows
from domain.agents.imported.loss import problems_of
from domain.agents.imported.step_config import Asked, translate
from domain.agents.imported.step_file import MOST_BYTES, find_entry, read_bytes
from domain.agents.roles import ROLES
from domain.errors import LegatoError, problems, refused
from legato.paths import absolute

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest

_PLACES = (Path("planning", "step_config.json"), Path("step_config.json"))


def file_in(folder: Path) -> Path | None:
    """Find the file of saved steps that a workflow's folder keeps; None where it has none."""
    return next((folder / one for one in _PLACES if _is_file(folder / one)), None)


def _is_file(path: Path) -> bool:
    """Tell whether a file is there that can be looked at; `Path.is_file` raises where not."""
    return os.path.isfile(path)  # noqa: PTH113 - it raises nothing


def named_step(text: str) -> tuple[str, str]:
    """Take `FILE#STEP` apart: the file as it is found from everywhere, and the step's id.

    FILE may be a workflow's folder. A file whose own name holds `#` is found too.
    """
    path, step = text, ""
    if not os.path.exists(text):  # noqa: PTH110 - it raises nothing
        head, mark, tail = text.rpartition("#")
        path, step = (head, tail) if mark else (text, "")
    place = Path(absolute(path))
    return str(file_in(place) or place), step


def read_file(path: Path) -> bytes:
    """Read a regular file, as far as it can be one of saved steps.

    Raises `step_file_unreadable`.
    """
    cause = "it is no file" if os.path.exists(path) else "there is nothing at this path"  # noqa: PTH110 - as above
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as exc:  # ValueError: a NUL in its path
        cause = exc.strerror if isinstance(exc, OSError) and exc.strerror else type(exc).__name__
    raise refused(
        "step_file_unreadable",
        f"{path} cannot be read",
        cause=cause,
        next="name a file of saved steps, or the folder of its workflow",
    )


def with_saved(request: AgentRequest) -> AgentRequest:
    """Fill in the model and the profile that a request's saved step names.

    The worker reads the file once more and builds from it; what cannot be built is refused
    here at once. Raises `step_file_unreadable` and `definition_refused`.
    """
    role = ROLES.get(request.role)
    if not request.step_file or role is None:
        return request
    if not role.takes_steps:
        raise _cannot([f"step_not_of_role: {role.name} is not launched from a saved step"])
    file = read_bytes(read_file(Path(request.step_file)))
    entry, rows = find_entry(file, request.step)
    found = problems_of(rows)
    step = None
    if entry is not None:
        done = translate(entry, file.form, Asked(role.default_profile, request.profile))
        step, found = done.step, found + problems_of(done.rows)
    if step is not None:
        found += problems_of(authority_rows(request.profile, step))
    if entry is None or step is None or found:
        raise _cannot(found)
    return request.model_copy(
        update={
            "step": entry.id,
            "model": request.model or step.model,
            "fallback": request.fallback or ("" if request.model else step.fallback),
            "profile": request.profile or step.profile,
        }
    )


def _cannot(found: list[str]) -> LegatoError:
    return problems(
        "definition_refused",
        "the saved step cannot be launched",
        list(dict.fromkeys(found)),
        next="mend every problem named, then start the run again",
    )
