"""What a launch must know of a workspace: its folder, its stores, its checks and fixers."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from domain.agents.roles import ROLES
from domain.agents.store_folders import CONTEXT, KNOWLEDGEBASE
from domain.errors import LegatoError, problems, refused
from domain.ids import workspace_slug
from legato.detection import Found, detect
from legato.off_limits import require_allowed
from legato.paths import make_private
from legato.settings import child_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.agents.request import AgentRequest
    from legato.settings import Settings

FILE = ".legato/workspace.toml"
"""Where a workspace declares what Legato is to know of it."""

_TABLES = {"checks": "commands", "fixers": "commands", "environment": "names", "network": "allow"}
_MOST_SHOWN = 200
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace as a launch needs it.

    `folder` is its real, absolute path, `stores` the folder in LEGATO_HOME that holds its
    stores. `checks` prove that work is done, `fixers` mend style. `environment` names
    the variables that its commands are given, `network` lets them reach beyond a loopback
    of their own. `why` says where each check came from, and each fixer where style is wanted.
    """

    folder: Path
    stores: Path
    checks: tuple[str, ...] = ()
    fixers: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    network: bool = False
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What a workspace declares itself; None where it leaves a thing to detection."""

    checks: tuple[str, ...] | None = None
    fixers: tuple[str, ...] | None = None
    environment: tuple[str, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a launch asks of a workspace.

    `checks` were given by hand and count alone; `style` takes formatters and linters as
    checks too, where none are given or declared; `required` refuses a workspace without any.
    """

    checks: tuple[str, ...] = ()
    style: bool = False
    required: bool = True


def open_workspace(settings: Settings, path: str | Path, wanted: Wanted) -> Workspace:
    """Look a workspace up and make its stores; checks as given, declared, or detected.

    Raises:
        LegatoError: `workspace_not_found`, `workspace_refused`, `workspace_file_invalid`,
            `checks_not_found`, `home_unusable`.

    """
    folder = find_folder(path, settings.home)
    declared = read_declared(folder)
    found = detect(folder, child_environment().get("PATH", os.defpath))
    checks, why = _checks(wanted, declared, found)
    fixers, mends = _fixers(declared, found)
    if not checks and wanted.required:
        raise _no_checks(folder, found)
    stores = settings.home / "stores" / workspace_slug(str(folder))
    make_private(stores / KNOWLEDGEBASE / CONTEXT)
    return Workspace(
        folder=folder,
        stores=stores,
        checks=checks,
        fixers=fixers,
        environment=declared.environment,
        network=declared.network,
        why=(*why, *mends) if wanted.style else why,
    )


def placed(settings: Settings, request: AgentRequest) -> tuple[AgentRequest, tuple[str, ...]]:
    """Fill in what a request leaves open and its workspace knows: stores, checks, fixers.

    Gives the request, and for each check and fixer where it came from.

    A request without a workspace, or of a role that there is not, stays as it is. Raises
    what `open_workspace` raises.
    """
    role = ROLES.get(request.role)
    if role is None or not request.workspace:
        return request, ()
    wanted = Wanted(request.checks, style=not role.needs_model, required=role.needs_checks)
    opened = open_workspace(settings, request.workspace, wanted)
    filled = request.model_copy(
        update={
            "workspace": str(opened.folder),
            "stores": request.stores or str(opened.stores),
            "checks": opened.checks if role.needs_checks else request.checks,
            "fixers": request.fixers or (opened.fixers if role.needs_checks else ()),
            "environment": tuple(dict.fromkeys((*request.environment, *opened.environment))),
            "network": request.network or opened.network,
        }
    )
    fixers = tuple(f"{command}: given" for command in request.fixers)
    why = (*_about(opened.checks, opened.why), *(fixers or _about(opened.fixers, opened.why)))
    return filled, tuple(dict.fromkeys(why)) if role.needs_checks else ()


def find_folder(path: str | Path, home: Path) -> Path:
    """Resolve a workspace's folder; raises `workspace_not_found`, `workspace_refused`.

    `home` is LEGATO_HOME, which is no workspace itself.
    """
    folder, cause = Path(path), ""
    try:
        folder = Path(os.path.realpath(folder.expanduser()))
        if not folder.is_dir():
            cause = "it is a file" if folder.exists() else "there is nothing at this path"
    except (OSError, RuntimeError, ValueError) as error:  # too long, nobody's home, a NUL
        cause = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if cause:
        raise refused(
            "workspace_not_found",
            f"{_shown(folder)} is not a folder.",
            cause=cause,
            next="name the folder of the project to work on",
        )
    require_allowed(folder, home)
    return folder


def _shown(folder: Path) -> str:
    text = str(folder)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"


def read_declared(folder: Path) -> Declared:
    """Read `.legato/workspace.toml`; a missing one declares nothing.

    Raises:
        LegatoError: `workspace_file_invalid` with all that is wrong in it.

    """
    file = folder / FILE
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Declared()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _invalid(file, [f"it cannot be read as TOML: {error}"]) from None
    found = [f"[{name}] is not known" for name in sorted(tables.keys() - _TABLES.keys())]
    lists = {name: _strings(tables, name, found) for name in _TABLES}
    names = lists["environment"] or ()
    found += [f"{name!r} is no variable's name" for name in names if not _VARIABLE.fullmatch(name)]
    allowed = lists["network"] or ()
    if allowed not in {(), ("all",)}:
        found.append('[network] allow must be [] or ["all"]')
    if found:
        raise _invalid(file, found)
    return Declared(lists["checks"], lists["fixers"], names, network=bool(allowed))


def _strings(tables: Mapping[str, object], name: str, found: list[str]) -> tuple[str, ...] | None:
    """Read one table's one list; None where the file leaves the table out."""
    key = _TABLES[name]
    if name not in tables:
        return None
    table = tables[name]
    if not isinstance(table, dict):
        found.append(f"{name} must be a table: [{name}]")
        return None
    keys = cast("dict[str, object]", table)
    found += [f"[{name}] {other} is not known, only {key}" for other in sorted(keys.keys() - {key})]
    values = keys.get(key, [])
    if not isinstance(values, list):
        found.append(f"[{name}] {key} must be a list of texts")
        return None
    texts = [value for value in cast("list[object]", values) if isinstance(value, str)]
    if len(texts) != len(cast("list[object]", values)) or not all(map(str.strip, texts)):
        found.append(f"[{name}] {key} must hold texts that are not empty")
    return tuple(texts)


def _invalid(file: Path, found: Sequence[str]) -> LegatoError:
    return problems(
        "workspace_file_invalid",
        f"{file} cannot be used",
        found,
        next="correct it; docs/check-and-fix.md shows a whole one",
    )


def _checks(
    wanted: Wanted, declared: Declared, found: Found
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Choose the checks, and say for each command where it came from."""
    if wanted.checks:
        return wanted.checks, tuple(f"{command}: given" for command in wanted.checks)
    if declared.checks:
        return declared.checks, tuple(f"{command}: {FILE}" for command in declared.checks)
    checks = (*found.style, *found.tests) if wanted.style else found.tests
    return checks, _about(checks, found.why)


def _fixers(declared: Declared, found: Found) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Choose the fixers, and say for each command where it came from."""
    if declared.fixers is None:
        return found.fixers, _about(found.fixers, found.why)
    return declared.fixers, tuple(f"{command}: {FILE}" for command in declared.fixers)


def _about(commands: tuple[str, ...], why: tuple[str, ...]) -> tuple[str, ...]:
    """Give the reasons of these commands, in their order."""
    starts = [f"{command}: " for command in commands]
    return tuple(line for start in starts for line in why if line.startswith(start))


def _no_checks(folder: Path, found: Found) -> LegatoError:
    missing = "; ".join(found.missing)
    return refused(
        "checks_not_found",
        f"No check was given or found for {folder}, so nothing could prove the work.",
        cause=missing or "neither pytest, nor unittest, nor package.json, nor a Makefile tests it",
        next=(
            "give a command with --check, or declare it in .legato/workspace.toml as "
            '[checks] commands = ["..."], or set up pytest, a `test` script in package.json, '
            "or a `test` target in a Makefile"
        ),
        details={"missing": list(found.missing)},
    )
