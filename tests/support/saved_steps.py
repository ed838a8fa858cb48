"""Saved plan steps as older programs left them, made up after the shapes of real files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from domain.agents.imported.loss import Became, FieldReport
from domain.agents.imported.step_config import Asked, Translated, translate
from domain.agents.imported.step_file import StepFile, find_entry, read_steps
from tests.support.agents import a_request, built, refusals

if TYPE_CHECKING:
    from domain.agents.build import Built
    from domain.tools.registry import Registry

SHEETS = ["sheets:*"]
BROWSER = ["browser:navigate", "browser:click", "browser:snapshot"]
EVERY_OLD_FILE_TOOL = [
    f"workspace_tools:{name}"
    for name in (
        "list_workspace_files",
        "read_workspace_file",
        "update_workspace_file",
        "delete_workspace_file",
        "move_workspace_file",
        "diff_patch_workspace_file",
        "regex_search_workspace_files",
        "semantic_search_workspace_files",
        "sync_workspace_to_github",
        "get_workspace_github_status",
        "execute_shell_command",
        "read_image",
    )
]
OLD_FLAGS = {
    "disable_validation": False,
    "disable_learning": False,
    "lock_learnings": False,
    "learning_detail_level": "exact",
}

ELEVEN: dict[str, dict[str, object]] = {
    "read-ledger": {
        **OLD_FLAGS,
        "selected_servers": ["sheets"],
        "selected_tools": SHEETS,
        "enabled_custom_tools": EVERY_OLD_FILE_TOOL[:3],
        "use_code_execution_mode": True,
    },
    "sign-in": {
        **OLD_FLAGS,
        "selected_servers": ["browser"],
        "selected_tools": BROWSER,
        "enabled_custom_tools": EVERY_OLD_FILE_TOOL,
        "use_code_execution_mode": False,
    },
    "one-time-code": {
        "lock_learnings": True,
        "selected_servers": ["mail", "browser"],
        "selected_tools": ["mail:read_mail", "mail:send_mail", *BROWSER],
    },
    "parse": {
        **OLD_FLAGS,
        "selected_servers": ["NO_SERVERS"],
        "use_code_execution_mode": True,
    },
    "verify-format": {
        "lock_learnings": False,
        "selected_servers": ["NO_SERVERS"],
        "enabled_custom_tools": [*EVERY_OLD_FILE_TOOL[:3], "workspace_tools:execute_shell_command"],
    },
    "orchestrate": {
        "lock_learnings": False,
        "selected_servers": ["browser"],
        "selected_tools": ["browser:*"],
        "enabled_custom_tools": [*EVERY_OLD_FILE_TOOL[:3], "human_tools:*"],
        "execution_llm": {"provider": "vertex", "model_id": "gemini-3-pro-preview"},
    },
    "sign-out": {
        "lock_learnings": True,
        "selected_servers": ["browser"],
        "selected_tools": ["browser:*"],
        "enable_context_offloading": False,
    },
    "verify": {"lock_learnings": True},
    "scripted": {"declared_execution_mode": "learn_code", "lock_code": True},
    "of-today": {
        "execution_tier": "high",
        "execution_tier_reason": "hard",
        "execution_max_turns": 40,
        "learning_objective": "what selectors work",
        "learnings_access": "read-write",
        "lock_learnings": False,
        "enabled_skills": ["house-style"],
        "additional_read_paths": ["variables"],
        "knowledgebase_access": "read",
        "knowledgebase_contribution": "",
        "disable_parallel_tool_execution": True,
        "coding_agent_tmux_lifecycle": "close_on_completion",
        "successful_runs": 4,
        "declared_execution_mode": "agentic",
        "review_notes": "as agreed",
    },
    "of-the-beginning": {
        "enabled_custom_tool_categories": ["workspace_basic", "human_tools"],
        "db_access": "read",
    },
}
"""Agent settings by step id: the forms that real files hold."""


def a_file(*, form: str = "object", **settings: object) -> str:
    """Write a file of saved steps, `array` in the oldest form."""
    steps = [{"id": name, "agent_configs": config} for name, config in settings.items()]
    return json.dumps(steps if form == "array" else {"steps": steps})


def real_file() -> str:
    """Write all of `ELEVEN` as one file."""
    steps = [{"id": name, "agent_configs": config} for name, config in ELEVEN.items()]
    return json.dumps({"steps": steps})


def translated(config: object, **more: object) -> Translated:
    """Translate one step with these settings; `more` stands beside them."""
    text = json.dumps({"steps": [{"id": "one", "agent_configs": config, **more}]})
    file = read_steps(text)
    entry, rows = find_entry(file, "one")
    assert entry is not None, rows
    return translate(entry, file.form, Asked())


def became(rows: tuple[FieldReport, ...], field: str) -> tuple[str, str, str]:
    """Give how a field stood, what became of it, and its code."""
    (row,) = [row for row in rows if row.field == field]
    return row.given, row.became.value, row.code


def row_of(rows: tuple[FieldReport, ...], field: str) -> FieldReport:
    """Give the one row of a field."""
    (row,) = [row for row in rows if row.field == field]
    return row


def launched(
    text: str, step: str = "", registry: Registry | None = None, **request: object
) -> Built:
    """Build the agent of a saved step."""
    asked = a_request("plan-step", step_file="/saved.json", step=step, **request)
    return built(asked, registry, steps=read_steps(text))


def launch_refusals(
    text: str, step: str = "", registry: Registry | None = None, **request: object
) -> list[str]:
    """Give what a launch is refused for."""
    asked = a_request("plan-step", step_file="/saved.json", step=step, **request)
    return refusals(asked, registry, steps=read_steps(text))


def tools(made: Built) -> set[str]:
    """Name the tools of a built agent."""
    return {tool.name for tool in made.definition.tools}


def refused_codes(file: StepFile) -> set[str]:
    """Name what is wrong with a file."""
    return {row.code for row in file.rows if row.became is Became.REFUSED}
