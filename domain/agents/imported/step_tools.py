"""The tools, servers and skills of an older step, by the names that they have here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from domain.agents.imported.loss import Became, FieldReport, given, left_out, tools_became
from domain.agents.imported.old_tools import (
    CATEGORIES,
    NO_SERVERS,
    NO_TOOLS,
    TOOLS,
    WITHOUT_TWIN,
)
from domain.agents.imported.plan_step import SKILL, TOOL
from domain.tools.registry import INTRINSIC

if TYPE_CHECKING:
    from domain.codec import Json

TOOLS_FIELD = "enabled_custom_tools"
CATEGORIES_FIELD = "enabled_custom_tool_categories"
SERVERS_FIELD = "selected_servers"
SERVER_TOOLS_FIELD = "selected_tools"
SKILLS_FIELD = "enabled_skills"

FIELDS = frozenset({TOOLS_FIELD, CATEGORIES_FIELD, SERVERS_FIELD, SERVER_TOOLS_FIELD, SKILLS_FIELD})

_LEFT = {
    TOOLS_FIELD: "the role's own tools count, whatever the workflow's defaults were",
    SERVERS_FIELD: "no server is selected; those of the workflow are not read",
    SERVER_TOOLS_FIELD: "the selected servers count",
    SKILLS_FIELD: "no skill of the workspace",
}
_TOOL = re.compile(TOOL)
_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SKILL = re.compile(SKILL)
_LONGEST = 64


@dataclass(frozen=True)
class Named:
    """What a field names, None where it leaves it to the role; and the report of it.

    `places` gives, for each name, where in the source it stands.
    """

    names: tuple[str, ...] | None
    rows: tuple[FieldReport, ...]
    places: Mapping[str, str] = field(default_factory=dict[str, str])


def read_tools(fields: Mapping[str, Json]) -> Named:
    """Read which tools of our own the step has; `[]` is none, whatever it once meant."""
    old = _list(fields, CATEGORIES_FIELD)
    value = _list(fields, TOOLS_FIELD)
    if value is None and old:
        return _tools(CATEGORIES_FIELD, [f"{one}:*" for one in old if isinstance(one, str)])
    found = _tools(TOOLS_FIELD, value) if value is not None else _unsaid(fields, TOOLS_FIELD)
    if CATEGORIES_FIELD not in fields:
        return found
    return replace(found, rows=(*found.rows, _overruled(fields[CATEGORIES_FIELD])))


def _tools(name: str, entries: list[Json]) -> Named:
    if not entries:
        return Named((), (_none(name, "older programs took an empty list for every tool"),))
    if entries == [NO_TOOLS]:
        return Named((), (_kept(name, "no tool at all"),))
    places: dict[str, str] = {}
    rows: list[FieldReport] = []
    for n, entry in enumerate(entries):
        if entry == NO_TOOLS:
            continue
        place = f"{name}[{n}]"
        found, row = _tool(place, entry)
        for one in found:
            places.setdefault(one, place)
        rows += [row] if row is not None else []
    says = tools_became(len(entries), len(places))
    return Named(tuple(places), (_changed(name, says), *rows), places)


def _tool(place: str, entry: Json) -> tuple[tuple[str, ...], FieldReport | None]:
    """Read `category:tool`, `category:*` or a bare name; the category is no address."""
    if not isinstance(entry, str) or not entry.strip():
        return (), _lost(place, "entry_invalid", "it is no name")
    category, colon, tool = entry.strip().partition(":")
    name = tool if colon else category
    if name == "*":
        if CATEGORIES.get(category):
            return CATEGORIES[category], None
        return (), _lost(place, "category_unknown", "no tool here belongs to that category")
    if name in TOOLS:
        return TOOLS[name], None
    if name in INTRINSIC:
        return (), _changed(place, "it is there by itself where it applies")
    if name in WITHOUT_TWIN:
        return (), _lost(place, "tool_without_twin", f"nothing here does what {name} did")
    if not _TOOL.fullmatch(name):
        return (), _lost(place, "entry_invalid", "it is no name of a tool")
    return (name,), None


def read_servers(fields: Mapping[str, Json]) -> Named:
    """Read which tools of MCP servers the step has, as patterns `mcp__SERVER__TOOL`."""
    servers, tools = _list(fields, SERVERS_FIELD), _list(fields, SERVER_TOOLS_FIELD)
    if servers is not None and (not servers or NO_SERVERS in servers):
        return _no_servers(servers, tools)
    if servers is None and tools is None:
        unsaid = [_unsaid(fields, one) for one in (SERVERS_FIELD, SERVER_TOOLS_FIELD)]
        return Named(None, tuple(row for one in unsaid for row in one.rows))
    names, rows = _servers(servers or [])
    if tools is None:
        row = _changed(SERVERS_FIELD, f"every tool of {len(names)} servers, by their names here")
        places = {f"mcp__{one}__*": place for one, place in names.items()}
        return Named(tuple(places), (row, *rows), places)
    places, more = _patterns(tools, None if servers is None else names)
    said = [one for one in (SERVERS_FIELD, SERVER_TOOLS_FIELD) if one in fields]
    about = [_changed(one, f"{len(places)} patterns of names, as they are here") for one in said]
    if not tools:
        about[-1] = _none(SERVER_TOOLS_FIELD, "servers were selected without any of their tools")
    return Named(tuple(places), (*about, *rows, *more), places)


def _no_servers(servers: list[Json], tools: list[Json] | None) -> Named:
    if not servers:
        first = _none(SERVERS_FIELD, "older programs took the workflow's own servers then")
    else:
        first = _kept(SERVERS_FIELD, "no MCP server at all")
    rows = [first]
    if len(servers) > 1:
        says = "it names servers beside NO_SERVERS, which counts"
        rows.append(_lost(SERVERS_FIELD, "servers_contradict", says))
    if tools:
        says = "it names tools of servers where no server is selected"
        rows.append(_lost(SERVER_TOOLS_FIELD, "servers_contradict", says))
    elif tools is not None:
        rows.append(_kept(SERVER_TOOLS_FIELD, "no tool of a server"))
    return Named((), tuple(rows))


def _servers(entries: list[Json]) -> tuple[dict[str, str], list[FieldReport]]:
    """Give each server with its place."""
    places: dict[str, str] = {}
    rows: list[FieldReport] = []
    for n, entry in enumerate(entries):
        place = f"{SERVERS_FIELD}[{n}]"
        if isinstance(entry, str) and _SERVER.fullmatch(entry.strip()):
            places.setdefault(entry.strip(), place)
        else:
            rows.append(_lost(place, "entry_invalid", "it is no server's name"))
    return places, rows


def _patterns(
    entries: list[Json], servers: Mapping[str, str] | None
) -> tuple[dict[str, str], list[FieldReport]]:
    """Give each pattern with its place; `servers` None lets every server in."""
    places: dict[str, str] = {}
    rows: list[FieldReport] = []
    used: set[str] = set()
    for n, entry in enumerate(entries):
        place = f"{SERVER_TOOLS_FIELD}[{n}]"
        server, tool = _server_tool(entry)
        if not tool:
            rows.append(_lost(place, "entry_invalid", "it is no SERVER:TOOL"))
        elif servers is not None and server not in {"*", *servers}:
            says = "its server is not among those selected"
            rows.append(_lost(place, "server_not_selected", says))
        else:
            used.add(server)
            places.setdefault(f"mcp__{server}__{tool}", place)
    rows += [
        _lost(place, "server_without_tools", "no tool of it is selected")
        for server, place in (servers or {}).items()
        if entries and not used.intersection({server, "*"})
    ]
    return places, rows


def _server_tool(entry: Json) -> tuple[str, str]:
    """Read `server:tool`, `server:*` or a bare tool, whose server is then any; "" for none."""
    if not isinstance(entry, str):
        return "", ""
    server, colon, tool = entry.strip().partition(":")
    if not colon:
        server, tool = "*", server
    known = (server == "*" and not colon) or _SERVER.fullmatch(server)
    named = (tool == "*" and colon) or (_TOOL.fullmatch(tool) and len(tool) <= _LONGEST)
    return (server, tool) if known and named else ("", "")


def read_skills(fields: Mapping[str, Json]) -> Named:
    """Read which skills the step has; none where it names none, which is what it always meant."""
    entries = _list(fields, SKILLS_FIELD)
    if entries is None:
        return _unsaid(fields, SKILLS_FIELD)
    if not entries:
        return Named((), (_kept(SKILLS_FIELD, "no skill"),))
    places: dict[str, str] = {}
    rows: list[FieldReport] = []
    for n, entry in enumerate(entries):
        place = f"{SKILLS_FIELD}[{n}]"
        if isinstance(entry, str) and _SKILL.fullmatch(entry.strip()):
            places.setdefault(entry.strip(), place)
        else:
            says = "it is no skill's name"
            rows.append(_lost(place, "entry_invalid", says, narrows="skills"))
    kept = _kept(SKILLS_FIELD, f"{len(places)} skills by name")
    return Named(tuple(places), (kept, *rows), places)


def list_rows(fields: Mapping[str, Json]) -> tuple[FieldReport, ...]:
    """Refuse the fields that are no list: what they would have limited must not be lost."""
    return tuple(
        FieldReport(
            field=name,
            given=given(fields[name]),
            became=Became.REFUSED,
            code="type_wrong",
            says="it is no list, and what it limits must not be guessed",
            next="write a list of names, [] for none",
            person=True,
        )
        for name in sorted(FIELDS)
        if fields.get(name) is not None and not isinstance(fields[name], list)
    )


def _list(fields: Mapping[str, Json], name: str) -> list[Json] | None:
    value = fields.get(name)
    return value if isinstance(value, list) else None


def _unsaid(fields: Mapping[str, Json], name: str) -> Named:
    """Say that a field leaves it to the role: absent or null, and which of them it was."""
    null = name in fields
    if fields.get(name) is not None:  # it is no list, which is refused
        return Named(None, ())
    row = FieldReport(
        field=name,
        given="null" if null else "absent",
        became=Became.DEFAULTED,
        code="null_is_absent" if null else "left_open",
        says=f"null says nothing; {_LEFT[name]}" if null else _LEFT[name],
        next="write [] if none were meant" if null else "",
        person=null,
    )
    return Named(None, (row,))


def _overruled(value: Json) -> FieldReport:
    known = given(value) == "value"
    return FieldReport(
        field=CATEGORIES_FIELD,
        given=given(value),
        became=Became.DROPPED,
        code="categories_overruled",
        says=f"{TOOLS_FIELD} says which tools there are" if known else "it names nothing",
        narrows=("tools",) if known else (),
        person=known,
    )


def _kept(name: str, says: str) -> FieldReport:
    return FieldReport(field=name, given="value", became=Became.MAPPED, code="kept", says=says)


def _changed(name: str, says: str) -> FieldReport:
    return FieldReport(
        field=name, given="value", became=Became.TRANSFORMED, code="renamed", says=says
    )


def _none(name: str, older: str) -> FieldReport:
    return FieldReport(
        field=name,
        given="empty",
        became=Became.TRANSFORMED,
        code="empty_is_none",
        says=f"an empty list is none; {older}",
        next="leave the field out if the role's own were meant",
        narrows=("tools",),
        person=True,
    )


def _lost(place: str, code: str, says: str, narrows: str = "tools") -> FieldReport:
    step = "take it out, or name what should stand for it"
    return left_out(place, code, says, step, narrows)
