"""Each field of an older step is mapped, transformed, defaulted, dropped or refused, and told."""

from __future__ import annotations

import pytest

from domain.agents.imported.old_fields import WITHOUT_EFFECT
from domain.agents.imported.old_tools import CATEGORIES, TOOLS
from domain.agents.profile import Profile
from domain.agents.roles import ROLES
from domain.tools.registry import INTRINSIC
from tests.support.saved_steps import EVERY_OLD_FILE_TOOL, became, row_of, translated

FILES = ("list_files", "read_file", "write_file")


@pytest.mark.parametrize(
    ("config", "tools"),
    [
        ({}, None),
        ({"enabled_custom_tools": None}, None),
        ({"enabled_custom_tools": []}, ()),
        ({"enabled_custom_tools": ["none:*"]}, ()),
        ({"enabled_custom_tools": EVERY_OLD_FILE_TOOL[:3]}, FILES),
        ({"enabled_custom_tools": ["read_workspace_file"]}, ("read_file",)),
        ({"enabled_custom_tools": ["wrong_group:read_workspace_file"]}, ("read_file",)),
        ({"enabled_custom_tools": ["human_tools:*", "human_feedback"]}, ("ask_human",)),
        ({"enabled_custom_tools": ["human_tools:*", "none:*"]}, ("ask_human",)),
        ({"enabled_custom_tools": ["workspace_git:*", "nowhere:*"]}, ()),
        ({"enabled_custom_tools": ["ours:my_plugin_tool"]}, ("my_plugin_tool",)),
        ({"enabled_custom_tools": ["read_skill", "x:get_api_spec"]}, ()),
        ({"enabled_custom_tools": [1, "", " : ", "a b:c d", None]}, ()),
        ({"enabled_custom_tool_categories": ["human_tools"]}, ("ask_human",)),
        (
            {
                "enabled_custom_tool_categories": ["human_tools"],
                "enabled_custom_tools": ["read_workspace_file"],
            },
            ("read_file",),
        ),
    ],
)
def test_tools_have_their_own_names_here(
    config: dict[str, object], tools: tuple[str, ...] | None
) -> None:
    step = translated(config).step

    assert step is not None
    assert step.tools == tools


def test_every_older_category_is_what_its_tools_are_here() -> None:
    surface = set(ROLES["plan-step"].surface)

    assert CATEGORIES["workspace_tools"] == (
        "list_files",
        "read_file",
        "search_files",
        "write_file",
        "delete_file",
        "shell",
        "edit_file",
    )
    assert {name for names in CATEGORIES.values() for name in names} <= surface
    assert {name for names in TOOLS.values() for name in names} <= surface


@pytest.mark.parametrize(
    ("config", "patterns"),
    [
        ({}, None),
        ({"selected_servers": None, "selected_tools": None}, None),
        ({"selected_servers": []}, ()),
        ({"selected_servers": ["NO_SERVERS"]}, ()),
        ({"selected_servers": ["NO_SERVERS"], "selected_tools": []}, ()),
        ({"selected_servers": ["NO_SERVERS", "mail"], "selected_tools": ["mail:*"]}, ()),
        ({"selected_servers": ["mail", "mail"]}, ("mcp__mail__*",)),
        ({"selected_servers": ["mail"], "selected_tools": []}, ()),
        ({"selected_tools": ["mail:read"]}, ("mcp__mail__read",)),
        ({"selected_tools": ["read"]}, ("mcp__*__read",)),
        ({"selected_tools": ["*", ":x", "x:", "a b:c", 4, "*:x"]}, ()),
        (
            {"selected_servers": ["mail", "web"], "selected_tools": ["mail:read", "db:*"]},
            ("mcp__mail__read",),
        ),
    ],
)
def test_tools_of_servers_become_patterns_of_their_names(
    config: dict[str, object], patterns: tuple[str, ...] | None
) -> None:
    step = translated(config).step

    assert step is not None
    assert step.mcp_tools == patterns


@pytest.mark.parametrize(
    ("config", "field", "told"),
    [
        ({}, "enabled_custom_tools", ("absent", "defaulted", "left_open")),
        (
            {"enabled_custom_tools": None},
            "enabled_custom_tools",
            ("null", "defaulted", "null_is_absent"),
        ),
        (
            {"enabled_custom_tools": []},
            "enabled_custom_tools",
            ("empty", "transformed", "empty_is_none"),
        ),
        (
            {"enabled_custom_tools": ["x:read_workspace_file"]},
            "enabled_custom_tools",
            ("value", "transformed", "renamed"),
        ),
        (
            {"enabled_custom_tools": "all"},
            "enabled_custom_tools",
            ("value", "refused", "type_wrong"),
        ),
        (
            {"enabled_custom_tools": ["read_image"]},
            "enabled_custom_tools[0]",
            ("value", "dropped", "tool_without_twin"),
        ),
        (
            {"enabled_custom_tools": ["a:*"]},
            "enabled_custom_tools[0]",
            ("value", "dropped", "category_unknown"),
        ),
        ({"selected_servers": []}, "selected_servers", ("empty", "transformed", "empty_is_none")),
        (
            {"selected_servers": ["a"], "selected_tools": []},
            "selected_tools",
            ("empty", "transformed", "empty_is_none"),
        ),
        (
            {"selected_servers": ["a", "b"], "selected_tools": ["a:x"]},
            "selected_servers[1]",
            ("value", "dropped", "server_without_tools"),
        ),
        (
            {"selected_servers": ["NO_SERVERS"], "selected_tools": ["a:x"]},
            "selected_tools",
            ("value", "dropped", "servers_contradict"),
        ),
        ({"enabled_skills": []}, "enabled_skills", ("value", "mapped", "kept")),
        ({"enabled_skills": None}, "enabled_skills", ("null", "defaulted", "null_is_absent")),
        ({"execution_max_turns": 0}, "execution_max_turns", ("value", "defaulted", "left_open")),
        ({"execution_max_turns": "9"}, "execution_max_turns", ("value", "transformed", "renamed")),
        (
            {"execution_max_turns": "many"},
            "execution_max_turns",
            ("value", "refused", "type_wrong"),
        ),
        ({"execution_max_turns": True}, "execution_max_turns", ("value", "refused", "type_wrong")),
        ({"execution_llm": {}}, "execution_llm", ("empty", "defaulted", "left_open")),
        (
            {"execution_llm": {"provider": "vertex", "model_id": "gemini-3"}},
            "execution_llm",
            ("value", "transformed", "model_named"),
        ),
        (
            {"execution_llm": {"provider": "openai", "model_id": "gpt-9"}},
            "execution_llm",
            ("value", "mapped", "model_named"),
        ),
        (
            {"execution_llm": {"provider": "bedrock", "model_id": "x"}},
            "execution_llm",
            ("value", "dropped", "model_unknown"),
        ),
        (
            {"execution_llm": {"provider": "openai", "model_id": "m@http://elsewhere.test"}},
            "execution_llm",
            ("value", "dropped", "model_unknown"),
        ),
        (
            {"declared_execution_mode": "learn_code"},
            "declared_execution_mode",
            ("value", "transformed", "renamed"),
        ),
        (
            {"declared_execution_mode": "agentic"},
            "declared_execution_mode",
            ("value", "mapped", "kept"),
        ),
        (
            {"declared_execution_mode": "telepathy"},
            "declared_execution_mode",
            ("value", "refused", "mode_unknown"),
        ),
        ({"review_notes": "x"}, "review_notes", ("value", "dropped", "without_effect")),
        ({"review_notes": None}, "review_notes", ("null", "dropped", "without_effect")),
        (
            {"additional_read_paths": ["v"]},
            "additional_read_paths",
            ("value", "dropped", "paths_not_given"),
        ),
        ({"nobody_knows": 1}, "nobody_knows", ("value", "dropped", "field_unknown")),
        ("text", "agent_configs", ("value", "refused", "type_wrong")),
        (None, "agent_configs", ("null", "defaulted", "null_is_absent")),
        ({"profile": None}, "agent_configs.profile", ("null", "refused", "profile_unknown")),
        ({"profile": "owner"}, "agent_configs.profile", ("value", "refused", "profile_unknown")),
        ({"profile": "Reader"}, "agent_configs.profile", ("value", "mapped", "kept")),
    ],
)
def test_the_report_tells_how_a_field_stood_and_what_became_of_it(
    config: object, field: str, told: tuple[str, str, str]
) -> None:
    assert became(translated(config).rows, field) == told


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT))
def test_a_field_without_effect_is_told_and_changes_nothing(name: str) -> None:
    step, bare = translated({name: "x"}).step, translated({}).step

    assert step == bare
    assert row_of(translated({name: "x"}).rows, name).code == "without_effect"


def test_a_field_on_the_step_instead_of_in_its_settings_does_not_count() -> None:
    found = translated({}, enabled_custom_tools=["workspace_tools:*"], mystery=1)

    assert found.step == translated({}).step
    assert row_of(found.rows, "mystery").code == "field_unknown"
    (misplaced,) = [row for row in found.rows if row.code == "field_misplaced"]
    assert (misplaced.field, misplaced.next) == (
        "enabled_custom_tools",
        "move it into agent_configs",
    )


def test_the_profile_may_stand_on_the_step_and_two_that_differ_are_refused() -> None:
    one = translated({}, profile="reader").step
    both = translated({"profile": "writer"}, profile="reader")

    assert one is not None
    assert one.profile is Profile.READER
    assert both.step is None
    assert "profile_contradicts" in {row.code for row in both.rows}


def test_everything_wrong_is_told_at_once() -> None:
    found = translated(
        {
            "profile": "owner",
            "selected_tools": "mail:*",
            "enabled_skills": 4,
            "execution_max_turns": [],
            "declared_execution_mode": "x",
        }
    )

    assert found.step is None
    refused = {row.field for row in found.rows if row.became == "refused"}
    assert refused == {
        "agent_configs.profile",
        "selected_tools",
        "enabled_skills",
        "execution_max_turns",
        "declared_execution_mode",
    }


def test_an_intrinsic_tool_needs_no_name() -> None:
    found = translated({"enabled_custom_tools": list(INTRINSIC)})

    assert found.step is not None
    assert found.step.tools == ()
    assert [row.code for row in found.rows if row.field.endswith("]")] == ["renamed"] * 4


def test_a_model_and_its_first_fallback_are_kept() -> None:
    found = translated(
        {
            "execution_llm": {
                "provider": "openrouter",
                "model_id": "vendor/model",
                "options": {"api_key": "sk-planted"},
                "fallbacks": [{"provider": "openai", "model_id": "gpt-9"}, {}],
            }
        }
    )

    assert found.step is not None
    assert (found.step.model, found.step.fallback) == ("openrouter:vendor/model", "openai:gpt-9")
    assert row_of(found.rows, "execution_llm.fallbacks").code == "fallback_cut"
    assert "sk-planted" not in repr(found)


def test_a_title_is_kept_where_it_is_one() -> None:
    good, bad = translated({}, title="Fetch"), translated({}, title=5)

    assert good.step is not None
    assert good.step.title == "Fetch"
    assert row_of(bad.rows, "title").became == "dropped"
