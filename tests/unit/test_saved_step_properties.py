"""Whatever a file of saved steps holds: nothing raises, widens in silence, or repeats a secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.agents.build import build_definition
from domain.agents.imported.loss import Became
from domain.agents.imported.old_fields import WITHOUT_EFFECT
from domain.agents.imported.step_config import translate
from domain.agents.imported.step_file import read_steps
from domain.agents.imported.upgrade import upgraded
from domain.agents.profile import Profile
from domain.agents.request import Sources
from domain.agents.surfaces import STORES
from domain.errors import LegatoError
from tests.support.agents import LASTING, a_registry, a_request, built

if TYPE_CHECKING:
    from domain.agents.build import Built

SECRET = "sk-planted-9f2c7e1b"  # noqa: S105 - made up, to look for it
FIELDS = sorted(
    {
        *WITHOUT_EFFECT,
        "profile",
        "enabled_custom_tools",
        "enabled_custom_tool_categories",
        "selected_servers",
        "selected_tools",
        "enabled_skills",
        "execution_llm",
        "execution_max_turns",
        "declared_execution_mode",
        "use_learn_code_mode",
        "additional_read_paths",
        "db_access",
        "knowledgebase_access",
        "learnings_access",
        "lock_learnings",
        "disable_learning",
        "learning_detail_level",
        "write_access",
        "nobody_knows_this",
    }
)
WORDS = st.sampled_from(
    [
        SECRET,
        f"workspace_tools:{SECRET}",
        f"{SECRET}:*",
        "workspace_tools:*",
        "human_tools:human_feedback",
        "read_workspace_file",
        "shell",
        "NO_SERVERS",
        "none:*",
        "reader",
        "writer",
        "read",
        "read-write",
        "none",
        "scripted",
        "agentic",
        "",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
CONFIGS = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8)
SETTLED = settings(max_examples=60, deadline=None)


def build(text: str) -> Built | LegatoError:
    """Build from a file's only step, or give what it is refused with."""
    asked = a_request("plan-step", step_file="/saved.json")
    try:
        return build_definition(asked, Sources(a_registry(), steps=read_steps(text)))
    except LegatoError as exc:
        return exc


@SETTLED
@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "replace")))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    file = read_steps(text)

    assert file.form or any(row.became is Became.REFUSED for row in file.rows)


@SETTLED
@given(VALUES)
def test_no_json_is_too_odd_to_be_upgraded(value: object) -> None:
    for text in (json.dumps(value), json.dumps({"steps": value}), json.dumps([value])):
        new = upgraded(read_steps(text))
        assert read_steps(new.text).rows == ()


@SETTLED
@given(CONFIGS)
def test_every_field_is_in_the_report_and_no_value_is(config: dict[str, object]) -> None:
    entry = read_steps(json.dumps([{"id": "one", "agent_configs": config}])).entries[0]
    done = translate(entry, "object")

    fields = {row.field.partition("[")[0].partition(".")[0] for row in done.rows}
    told = fields | {"profile" if "agent_configs.profile" in str(done.rows) else ""}
    assert {name for name in config if name != "profile"} <= told
    assert SECRET not in repr(done.rows)


@SETTLED
@given(CONFIGS)
def test_neither_an_agent_nor_a_refusal_repeats_what_was_planted(config: dict[str, object]) -> None:
    made = build(json.dumps([{"id": "one", "agent_configs": config}]))

    if isinstance(made, LegatoError):
        assert SECRET not in f"{made} {made.cause} {made.next} {made.details}"
    else:
        assert SECRET not in repr((made.definition, made.step, made.notes, made.runtime))


@SETTLED
@given(CONFIGS)
def test_a_step_never_has_a_tool_that_its_role_or_profile_does_not(
    config: dict[str, object],
) -> None:
    made = build(json.dumps([{"id": "one", "agent_configs": config}]))
    if isinstance(made, LegatoError):
        return
    names = {tool.name for tool in made.definition.tools}
    whole = {tool.name for tool in built(a_request("plan-step")).definition.tools}

    assert names <= whole
    if made.definition.profile is Profile.READER:
        assert not names.intersection(LASTING)
    named = config.get("enabled_custom_tools")
    if isinstance(named, list) and "workspace_tools:*" not in cast("list[object]", named):
        assert "shell" not in names - {str(one) for one in cast("list[object]", named)}
    if named == []:
        assert not names.intersection(STORES)


@SETTLED
@given(CONFIGS)
def test_a_store_is_widened_only_where_the_report_says_so(config: dict[str, object]) -> None:
    made = build(json.dumps([{"id": "one", "agent_configs": config}]))
    if isinstance(made, LegatoError) or made.definition.profile is Profile.READER:
        return
    widened = {one for row in made.step for one in row.widens}

    if config.get("db_access") in ("none", "read"):
        assert "database:write" in widened
    if config.get("learnings_access") in ("none", "read"):
        assert "learnings:write" in widened
    if config.get("lock_learnings") is True:
        assert "learnings:write" in widened


@SETTLED
@given(CONFIGS)
def test_an_upgraded_step_is_always_the_same_agent(config: dict[str, object]) -> None:
    text = json.dumps([{"id": "one", "agent_configs": config}])
    old, new = build(text), build(upgraded(read_steps(text)).text)

    if isinstance(old, LegatoError):
        assert isinstance(new, LegatoError)
    else:
        assert not isinstance(new, LegatoError)
        assert (old.definition, old.runtime) == (new.definition, new.runtime)
