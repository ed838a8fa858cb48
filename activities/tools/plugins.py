"""Tools from installed distributions: the entry points of the group `legato.tools`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from itertools import islice
from traceback import walk_tb
from typing import Final, cast

from domain.errors import problems
from domain.ports import Tool
from domain.tools.registry import Effect, ToolSpec, Writes, spec_problems

GROUP: Final = "legato.tools"
_MOST_TOOLS: Final = 500
_PARTS: Final[dict[str, type | tuple[type, ...]]] = {
    "name": str,
    "description": str,
    "schema": str,
    "effect": Effect,
    "writes": Writes,
    "timeout": (int, float),
    "resource": str,
    "needs": tuple,
}
_NEED_PROBE: Final = frozenset({Effect.PROBEABLE, Effect.TRANSACTIONAL})


def load_plugins() -> tuple[Tool, ...]:
    """Load every plug-in tool, ordered by distribution and entry point.

    An entry point gives a Tool or an iterable of Tool; each is marked with the source
    `plugin:<distribution>`. Raises LegatoError `plugin_invalid` with every problem of
    every plug-in, each naming its distribution and entry point. Whether a name is taken
    by another source of tools is for `build_registry` to say.
    """
    tools: list[Tool] = []
    found: list[str] = []
    claimed: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (_distribution(e), e.name)):
        loaded = _load(entry, found)
        where = f"{_distribution(entry)}, entry point {entry.name}"
        for tool in loaded:
            first = claimed.setdefault(tool.spec.name, where)
            if first != where or tool.spec.name in (t.spec.name for t in loaded if t is not tool):
                found.append(f"{where}: the tool {tool.spec.name!r} is claimed twice ({first})")
        tools.extend(loaded)
    if found:
        raise problems(
            "plugin_invalid",
            "plug-in tools cannot be loaded",
            found,
            next="correct or uninstall the named distributions (importing one tells what it says), "
            "then start the worker again",
        )
    return tuple(tools)


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "unknown distribution"


def _load(entry: EntryPoint, found: list[str]) -> list[Tool]:
    """Load one entry point's good tools; what is wrong goes to `found`."""
    name = _distribution(entry)
    where = f"{name}, entry point {entry.name}"
    try:
        values = _values(cast("object", entry.load()))
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - foreign code may raise anything
        found.append(f"{where}: loading {entry.value} raised {_shown(exc)}")
        return []
    if not values:
        found.append(f"{where}: {entry.value} holds no tool")
    tools: list[Tool] = []
    for value in values:
        wrong = tool_problems(value)
        found.extend(f"{where}: {problem}" for problem in wrong)
        if not wrong:
            tool = cast("Tool", value)
            tools.append(replace(tool, spec=replace(tool.spec, source=f"plugin:{name}")))
    return tools


def _shown(exc: BaseException) -> str:
    """Name what foreign code raised and where, without its text: a secret may stand in it."""
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(exc.__traceback__)]
    theirs = [f"{file}:{line}" for file, line in places if "importlib" not in file]
    missing = f" of {exc.name}" if isinstance(exc, ImportError) and exc.name else ""
    return f"{type(exc).__name__}{missing} at {theirs[-1]}"


def _values(loaded: object) -> list[object]:
    if isinstance(loaded, Tool) or not isinstance(loaded, Iterable):
        return [loaded]
    return list(islice(cast("Iterable[object]", loaded), _MOST_TOOLS))


def tool_problems(value: object) -> list[str]:
    """List everything that makes a value unfit as a plug-in tool."""
    if not isinstance(value, Tool):
        return [f"expected a domain.ports.Tool, got {type(value).__name__}"]
    spec = cast("object", value.spec)
    if not isinstance(spec, ToolSpec):
        return [f"expected a domain.tools.registry.ToolSpec, got {type(spec).__name__}"]
    wrong_types = _type_problems(value)
    return wrong_types or [*spec_problems(spec), *_class_problems(value)]


def _type_problems(tool: Tool) -> list[str]:
    """Check by hand what a plug-in that nobody type-checked may have got wrong."""
    parts = cast("dict[str, object]", vars(tool.spec))
    found = [
        f"tool {tool.spec.name!r}: its {part} has the wrong type, {type(parts[part]).__name__}"
        for part, kind in _PARTS.items()
        if not isinstance(parts[part], kind)
    ]
    if not callable(cast("object", tool.execute)):
        found.append(f"tool {tool.spec.name!r}: its execute cannot be called")
    if tool.probe is not None and not callable(cast("object", tool.probe)):
        found.append(f"tool {tool.spec.name!r}: its probe cannot be called")
    return found


def _class_problems(tool: Tool) -> list[str]:
    """Check what the effect class promises."""
    spec = tool.spec
    found: list[str] = []
    if spec.effect in _NEED_PROBE and tool.probe is None:
        found.append(f"tool {spec.name!r}: the class {spec.effect.value} needs a probe")
    if spec.effect is Effect.READ and spec.writes is not Writes.NOTHING:
        found.append(f"tool {spec.name!r}: a tool that only reads cannot write {spec.writes.value}")
    return found
