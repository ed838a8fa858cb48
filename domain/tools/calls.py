"""What becomes of a call a model asks for: resolved against the view, or refused with advice."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from domain.codec import Json
from domain.tools.effective import CHANGED
from domain.tools.intrinsic import CALL_TOOL, GET_API_SPEC
from domain.tools.outages import advice, blamed
from domain.tools.registry import ToolSpec
from domain.tools.results import Outcome, denied, error, ok
from domain.tools.schema import argument_problems, parse_arguments

if TYPE_CHECKING:
    from domain.tools.effective import EffectiveView

MOST_NAMED = 60
MOST_NEAR = 3
_SHORTEST = 3


@dataclass(frozen=True)
class Resolved:
    """A call that may be made: `via` is `call_tool` where it was asked for through that."""

    name: str
    arguments: Mapping[str, Json]
    spec: ToolSpec
    via: str = ""


def resolve_call(
    offered: Collection[str] | None,
    view: EffectiveView,
    name: str,
    text: str,
    out: Collection[str] = (),
) -> Resolved | Outcome:
    """Parse, unwrap, authorise and validate one call; a refusal is the call's outcome.

    `offered` is what the request pinned (None where nothing was compiled: everything is
    denied), `view` is the view of now, `text` the arguments as the model wrote them. `out` are
    servers that could not be reached: an unknown tool of theirs is blamed on them.
    """
    arguments, problem = parse_arguments(text)
    if problem is not None:
        return error("arguments_invalid", f"{name}: {problem}. Send the arguments as JSON.")
    refusal = _checked(offered, view, name, arguments, out)
    if refusal is not None:
        return refusal
    if name != CALL_TOOL:
        return Resolved(name, arguments, view.specs[name])
    inner = unwrap(arguments)
    if isinstance(inner, Outcome):
        return inner
    inner_name, inner_arguments = inner
    refusal = _checked(offered, view, inner_name, inner_arguments, out)
    if refusal is not None:
        return refusal
    return Resolved(inner_name, inner_arguments, view.specs[inner_name], via=CALL_TOOL)


def _checked(
    offered: Collection[str] | None,
    view: EffectiveView,
    name: str,
    arguments: Mapping[str, Json],
    out: Collection[str],
) -> Outcome | None:
    """Refuse a call, and blame a server that is out for a tool of its that there is not."""
    refusal = check_call(offered, view, name, arguments)
    blame = advice(blamed(out, view, [name]))
    if refusal is None or not blame or refusal.code != "tool_unknown":
        return refusal
    return refusal.model_copy(update={"text": f"{refusal.text} {blame}"})


def unwrap(arguments: Mapping[str, Json]) -> tuple[str, dict[str, Json]] | Outcome:
    """Take the call out of `call_tool`'s validated arguments (a JSON text is accepted too)."""
    name, given = str(arguments["name"]), arguments.get("arguments", {})
    if name == CALL_TOOL:
        return error("call_nested", "call_tool cannot call itself: name the tool you want.")
    if isinstance(given, str):
        parsed, problem = parse_arguments(given)
        if problem is not None:
            return error("arguments_invalid", f"{name}: {problem}.")
        return name, parsed
    return name, dict(cast("Mapping[str, Json]", given))


def check_call(
    offered: Collection[str] | None,
    view: EffectiveView,
    name: str,
    arguments: Mapping[str, Json],
) -> Outcome | None:
    """Refuse a call outside offered and allowed now, or with wrong arguments; else None."""
    if offered is None:
        return denied("no_compiled_set", "This run has no compiled set of tools: call none.")
    if name in view.changed and name in offered:
        return error("binding_changed", f"{name} was not run: {CHANGED}. Go on without it.")
    if name not in offered or name not in view.specs:
        return _not_callable(offered, view, name)
    spec = view.specs[name]
    found = argument_problems(spec.schema, arguments)
    if not found:
        return None
    listed = "\n".join(f"- {one}" for one in found)
    return error(
        "arguments_invalid",
        f"{name} was not run, its arguments do not fit:\n{listed}\nIts schema is {spec.schema}",
    )


def _not_callable(offered: Collection[str], view: EffectiveView, name: str) -> Outcome:
    advice = recovery_text(view, name, offered=offered)
    if name not in view.known:
        return error("tool_unknown", advice)
    return denied("tool_not_allowed", advice)


def recovery_text(view: EffectiveView, name: str, *, offered: Collection[str] | None = None) -> str:
    """Say what a model can do instead of calling a name that it may not call.

    Names only callable tools, the nearest first, at most 60 of them, and counts the rest;
    `offered` narrows to what the request pinned.
    """
    names = [n for n in view.names if offered is None or n in offered]
    why = view.hidden.get(name, "")
    first = f"You cannot call {name!r}" + (f": {why}." if why else ".")
    if not names:
        return f"{first} You have no tools in this turn: do not try again, answer in text."
    near = nearest(name, names)
    ordered = [*near, *(n for n in names if n not in near)]
    shown = ", ".join(ordered[:MOST_NAMED])
    rest = len(ordered) - MOST_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"{first} You can call: {shown}{more}."


def nearest(name: str, names: Collection[str]) -> list[str]:
    """Name at most three of the names that are spelled like one, or hold it, or are held in it."""
    meant = name.strip().casefold()
    parts = [
        one
        for one in names
        if min(len(one), len(meant)) >= _SHORTEST
        and (one.casefold() in meant or meant in one.casefold())
    ]
    close = get_close_matches(meant, names, n=MOST_NEAR, cutoff=0.5)
    return list(dict.fromkeys((*close, *parts)))[:MOST_NEAR]


def names_server(name: str, text: str) -> bool:
    """Tell whether a call as the model wrote it addresses a tool by a server too.

    That is accepted and ignored; it is counted so that one can see when nobody does it.
    """
    arguments, problem = parse_arguments(text)
    return problem is None and name == GET_API_SPEC and arguments.get("server_name") is not None


def api_spec(view: EffectiveView, names: Json, out: Collection[str] = ()) -> Outcome:
    """Answer `get_api_spec`: every spec asked for, or an error that names each one missing.

    `names` is the `tool_names` argument: a list, the same as JSON text, or one name. Names
    are the only address; whatever stands in `server_name` never comes here. `nearest` holds
    callable names only. `out` are servers that could not be reached: tools are blamed on them.
    """
    wanted = _names(names)
    if not wanted:
        return error("arguments_invalid", "tool_names is empty: name at least one tool.")
    missing = [name for name in wanted if name not in view.specs]
    if missing:
        body: dict[str, Json] = {
            "error": "tools_unavailable",
            "unknown": [name for name in missing if name not in view.known],
            "not_allowed": [name for name in missing if name in view.known],
        }
        near = {name: list[Json](found) for name in missing if (found := nearest(name, view.names))}
        if near:
            body["nearest"] = dict[str, Json](near)
        body |= _blame(view, out, missing)
        return error("tools_unavailable", json.dumps(body, ensure_ascii=False))
    listed: list[Json] = [_described(view.specs[name]) for name in wanted]
    answer: dict[str, Json] = {"tools": listed, **_blame(view, out, wanted)}
    return ok(json.dumps(answer, ensure_ascii=False))


def _blame(view: EffectiveView, out: Collection[str], names: list[str]) -> dict[str, Json]:
    """Blame servers that are out for tools of theirs."""
    servers = blamed(out, view, names)
    return {"server_unavailable": list[Json](servers), "advice": advice(servers)} if servers else {}


def _names(given: Json) -> list[str]:
    """Read names from a list or from its text, keeping the order and dropping repeats."""
    value: object = given
    if isinstance(given, str):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, list):
            value = [given]
    items = cast("list[object]", value) if isinstance(value, list | tuple) else []
    return list(dict.fromkeys(str(item).strip() for item in items if str(item).strip()))


def _described(spec: ToolSpec) -> dict[str, Json]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
    }
