"""Translates one saved step of an older program, each field of it with what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from domain.agents.imported import step_model, step_stores, step_tools
from domain.agents.imported.loss import Became, FieldReport, Given, given
from domain.agents.imported.old_fields import WITHOUT_EFFECT
from domain.agents.imported.plan_step import PlanStep, read_saved, shown_field
from domain.agents.imported.step_stores import Authority
from domain.agents.profile import Profile

if TYPE_CHECKING:
    from domain.agents.imported.step_file import Entry, Form
    from domain.codec import Json

CONFIG = "agent_configs"
_MOST_DIGITS = 9
_TURNS = "execution_max_turns"
_MODE = "declared_execution_mode"
_OLD_MODE = "use_learn_code_mode"

_MODES: Mapping[str, Literal["agentic", "scripted"]] = MappingProxyType(
    {
        "agentic": "agentic",
        "code_exec": "agentic",
        "tool_search": "agentic",
        "simple": "agentic",
        "scripted": "scripted",
        "learn_code": "scripted",
    }
)

_HANDLED = frozenset(
    {"profile", _TURNS, _MODE, _OLD_MODE, step_model.FIELD, "additional_read_paths"}
    | step_tools.FIELDS
    | step_stores.FIELDS
)


@dataclass(frozen=True)
class Asked:
    """What the launch itself says: its role's default profile, and the profile it asks for."""

    default: Profile = Profile.WRITER
    profile: Profile | None = None


@dataclass(frozen=True)
class Translated:
    """A saved step as Legato has it, and what became of each field.

    `step` is None where something is refused; the rows then say all that is. `places` gives
    where in the source a name of the step stands.
    """

    step: PlanStep | None
    rows: tuple[FieldReport, ...]
    places: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass
class _Draft:
    fields: dict[str, object]
    rows: list[FieldReport] = field(default_factory=list[FieldReport])


def translate(entry: Entry, form: Form, asked: Asked = Asked()) -> Translated:
    """Translate a step of any form; the rows name its fields, never what they hold."""
    if form == "legato":
        return Translated(*read_saved(entry.fields))
    config, draft = _config(entry)
    stored = _profile(entry, config, draft)
    _limits(config, draft)
    _mode(config, draft)
    tools, servers = step_tools.read_tools(config), step_tools.read_servers(config)
    skills = step_tools.read_skills(config)
    draft.fields |= {
        "tools": tools.names,
        "mcp_tools": servers.names,
        "skills": skills.names,
    }
    draft.rows += [*tools.rows, *servers.rows, *skills.rows, *step_tools.list_rows(config)]
    _models(config, draft)
    authority = Authority(asked.profile or stored or asked.default, stored is not None)
    draft.rows += step_stores.store_rows(config, authority)
    draft.rows += _rest(config)
    rows = tuple(draft.rows)
    if any(row.became is Became.REFUSED for row in rows):
        return Translated(None, rows)
    places = {**tools.places, **servers.places, **skills.places}
    return Translated(PlanStep.model_validate(draft.fields), rows, places)


def _config(entry: Entry) -> tuple[dict[str, Json], _Draft]:
    """Take the step's own fields apart from those of its agent."""
    draft = _Draft({"id": entry.id, "profile": None})
    title = entry.fields.get("title")
    if isinstance(title, str):
        draft.fields["title"] = title
    for name, value in entry.fields.items():
        if name == "title" and not isinstance(value, str):
            draft.rows.append(_dropped(name, value, "without_effect", "it is no text"))
        elif name in {"id", "title"}:
            draft.rows.append(_kept(name, value))
        elif name not in {CONFIG, "profile"}:
            draft.rows.append(_misplaced(name, value))
    config = entry.fields.get(CONFIG)
    if isinstance(config, dict):
        return config, draft
    if config is not None:
        draft.rows.append(_refused(CONFIG, config, "type_wrong", "it is no object"))
    stood: Given = "null" if CONFIG in entry.fields else "absent"
    if config is None:
        draft.rows.append(_open(CONFIG, stood, "the step has no settings, so the role's count"))
    return {}, draft


def _profile(entry: Entry, config: Mapping[str, Json], draft: _Draft) -> Profile | None:
    """Read the stored profile, which may stand on the step or in its settings."""
    places = [("profile", entry.fields), (f"{CONFIG}.profile", config)]
    found: list[Profile] = []
    for name, fields in places:
        if "profile" not in fields:
            continue
        value = fields["profile"]
        word = value.strip().casefold() if isinstance(value, str) else ""
        if word in {one.value for one in Profile}:
            found.append(Profile(word))
            draft.rows.append(_kept(name, value))
        else:
            says = "it is neither reader nor writer"
            draft.rows.append(_refused(name, value, "profile_unknown", says))
    if len(set(found)) > 1:
        says = "the step and its settings name different profiles"
        draft.rows.append(_refused("profile", "value", "profile_contradicts", says))
    if not any("profile" in fields for _, fields in places):
        draft.rows.append(_open("profile", "absent", "the role's default counts"))
    draft.fields["profile"] = found[0] if found else None
    return found[0] if found else None


def _limits(config: Mapping[str, Json], draft: _Draft) -> None:
    """Read the limit of model calls; one that cannot be read is refused, not lost."""
    value = config.get(_TURNS)
    if value is None:
        stood: Given = "null" if _TURNS in config else "absent"
        draft.rows.append(_unlimited(stood))
        return
    number = _whole(value)
    if number is None:
        says = "it is no whole number, and a limit must not be lost"
        draft.rows.append(_refused(_TURNS, value, "type_wrong", says))
    elif number <= 0:
        draft.rows.append(_unlimited("value"))
    else:
        draft.fields["max_steps"] = number
        draft.rows.append(_changed(_TURNS, value, "it is the limit of model calls, max_steps"))


def _unlimited(stood: Given) -> FieldReport:
    """Tell of a step without a limit of its own that older programs still had one."""
    row = _open(_TURNS, stood, "older programs stopped at 500; here the call's limit counts")
    return row.model_copy(update={"widens": ("steps",)})


def _whole(value: Json) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return (
            int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
        )
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def _mode(config: Mapping[str, Json], draft: _Draft) -> None:
    value = config.get(_MODE)
    word = value.strip().casefold() if isinstance(value, str) else ""
    mode = _MODES.get(word)
    if mode is not None:
        draft.fields["mode"] = mode
        same = word == mode
        row = _kept(_MODE, value) if same else _changed(_MODE, value, f"it means {mode}")
        unsure = word == "code_exec"  # some took it for a saved program
        draft.rows.append(row.model_copy(update={"person": unsure}))
    elif _MODE in config and given(value) != "value":
        draft.rows.append(_open(_MODE, given(value), "an agent does the step"))
    elif _MODE in config:
        draft.rows.append(_refused(_MODE, value, "mode_unknown", "no step ever had that mode"))
    if _OLD_MODE in config:
        old = config[_OLD_MODE]
        if old is True and mode is None:
            draft.fields["mode"] = "scripted"
        draft.rows.append(_changed(_OLD_MODE, old, f"{_MODE} says it, or scripted where this does"))


def _models(config: Mapping[str, Json], draft: _Draft) -> None:
    value = config.get(step_model.FIELD)
    if given(value) != "value":
        stood: Given = given(value) if step_model.FIELD in config else "absent"
        draft.rows.append(_open(step_model.FIELD, stood, "the call names the model"))
        return
    found = step_model.read_model(value)
    draft.fields |= {"model": found.model, "fallback": found.fallback}
    draft.rows += found.rows


def _rest(config: Mapping[str, Json]) -> list[FieldReport]:
    """Report the fields without effect, and those that nobody knows."""
    rows: list[FieldReport] = []
    for name, value in config.items():
        if name in WITHOUT_EFFECT:
            rows.append(_dropped(name, value, "without_effect", WITHOUT_EFFECT[name]))
        elif name == "additional_read_paths":
            says = "a run reads its workspace only"
            row = _dropped(name, value, "paths_not_given", says)
            more = given(value) == "value"
            rows.append(
                row.model_copy(update={"narrows": ("files:read",) if more else (), "person": more})
            )
        elif name not in _HANDLED:
            row = _dropped(shown_field(name), value, "field_unknown", "nobody knows this field")
            rows.append(row.model_copy(update={"person": True, "next": "remove it"}))
    return rows


def _misplaced(name: str, value: Json) -> FieldReport:
    known = name in _HANDLED or name in WITHOUT_EFFECT
    says = f"it counts in {CONFIG} only" if known else "nobody knows this field"
    code = "field_misplaced" if known else "field_unknown"
    row = _dropped(shown_field(name), value, code, says)
    step = f"move it into {CONFIG}" if known else "remove it"
    return row.model_copy(update={"person": True, "next": step})


def _kept(name: str, value: Json) -> FieldReport:
    return FieldReport(
        field=name, given=given(value), became=Became.MAPPED, code="kept", says="it counts as it is"
    )


def _changed(name: str, value: Json, says: str) -> FieldReport:
    return FieldReport(
        field=name, given=given(value), became=Became.TRANSFORMED, code="renamed", says=says
    )


def _dropped(name: str, value: Json, code: str, says: str) -> FieldReport:
    return FieldReport(field=name, given=given(value), became=Became.DROPPED, code=code, says=says)


def _open(name: str, stood: Given, says: str) -> FieldReport:
    return FieldReport(
        field=name,
        given=stood,
        became=Became.DEFAULTED,
        code="null_is_absent" if stood == "null" else "left_open",
        says=says,
    )


def _refused(name: str, value: Json, code: str, says: str) -> FieldReport:
    return FieldReport(
        field=name,
        given=given(value),
        became=Became.REFUSED,
        code=code,
        says=says,
        next="mend it in the file",
        person=True,
    )
