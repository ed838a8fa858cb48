"""Where agent definitions come from, in order, and the snapshot of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from domain.agents.files.agent_file import Origin
from domain.agents.files.parse import NO_TOOLS
from domain.agents.files.problems import Problem, problem
from domain.agents.files.registry import Gathered, Registry, merged, stamped
from domain.agents.files.source import AgentDefSource, MemorySource
from domain.errors import refused
from legato.agent_files.driver import fetch
from legato.agent_files.folder import read_folder, shown


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sources a launch asks for.

    `explicit` are folders that the operator named, in their order. `workspace` is a folder
    whose own agents count only where it is `trusted`. `config_home` and `user_home` are the
    user's folders, None for none. `url` is a remote source, which takes the place of all
    others; `token` is sent to it, "" for none.
    """

    explicit: tuple[Path, ...] = ()
    workspace: Path | None = None
    trusted: bool = False
    conventional: bool = True
    config_home: Path | None = None
    user_home: Path | None = None
    url: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to be searched, and what its definitions are stamped with."""

    folder: Path
    origin: Origin


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All definitions as they were read once.

    `withheld` are the project's folders that are there and were not read, for want of trust.
    """

    source: AgentDefSource
    registry: Registry
    problems: tuple[Problem, ...] = ()
    withheld: tuple[Path, ...] = ()


def places(wanted: Wanted) -> tuple[Place, ...]:
    """Give the folders in order of precedence. Of a workspace without trust there are none."""
    found = [Place(folder, Origin.EXPLICIT) for folder in wanted.explicit]
    if not wanted.conventional:
        return tuple(found)
    if wanted.trusted:
        found += [Place(folder, Origin.PROJECT) for folder in _of_project(wanted)]
    if wanted.config_home is not None:
        found.append(Place(wanted.config_home / "legato" / "agents", Origin.USER))
    if wanted.user_home is not None:
        found.append(Place(wanted.user_home / ".claude" / "agents", Origin.USER))
    return tuple(found)


def read_agents(wanted: Wanted, more_tools: frozenset[str] = NO_TOOLS) -> Snapshot:
    """Read every source once. What is wrong with one definition never touches another.

    Raises:
        LegatoError: `agent_sources_conflict`, `agents_folder_unreadable`, and what
            `legato.agent_files.driver.fetch` raises.

    """
    if wanted.url and wanted.explicit:
        raise refused(
            "agent_sources_conflict",
            "a remote source and folders of agents exclude each other",
            cause="the remote source takes the place of all folders",
            next="leave out --agents-dir, or --agent-source-url and LEGATO_AGENT_SOURCE_URL",
        )
    if wanted.url:
        return _snapshot(fetch(wanted.url, wanted.token), ())
    gathered: list[Gathered] = []
    for place in places(wanted):
        read = read_folder(place.folder, more_tools)
        missing = place.origin is Origin.EXPLICIT and not place.folder.exists()
        told = (problem("folder_missing", file=shown(place.folder)),) if missing else ()
        gathered.append(Gathered(stamped(read.found, place.origin), (*told, *read.problems)))
    return _snapshot(merged(gathered), _withheld(wanted))


def _snapshot(gathered: Gathered, withheld: tuple[Path, ...]) -> Snapshot:
    source = MemorySource(one.agent for one in gathered.found)
    return Snapshot(source, Registry(gathered.found), gathered.problems, withheld)


def _of_project(wanted: Wanted) -> tuple[Path, ...]:
    if wanted.workspace is None:
        return ()
    return wanted.workspace / ".legato" / "agents", wanted.workspace / ".claude" / "agents"


def _withheld(wanted: Wanted) -> tuple[Path, ...]:
    if wanted.trusted or not wanted.conventional:
        return ()
    return tuple(folder for folder in _of_project(wanted) if folder.is_dir())
