"""What the tools of older programs are called here: one table, by name and by category."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.tools.registry import INTRINSIC

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILES: dict[str, tuple[str, ...]] = {
    "list_workspace_files": ("list_files",),
    "glob_discover_workspace_files": ("list_files",),
    "read_workspace_file": ("read_file",),
    "regex_search_workspace_files": ("search_files",),
    "semantic_search_workspace_files": ("search_files",),
    "update_workspace_file": ("write_file",),
    "delete_workspace_file": ("delete_file",),
}
_ADVANCED: dict[str, tuple[str, ...]] = {
    "execute_shell_command": ("shell",),
    "diff_patch_workspace_file": ("edit_file",),
}
_PEOPLE: dict[str, tuple[str, ...]] = {"human_feedback": ("ask_human",)}
_STORES: dict[str, tuple[str, ...]] = {
    "query_workflow_db": ("query_workflow_db", "describe_workflow_db"),
    "mutate_workflow_db": ("mutate_workflow_db",),
}

WITHOUT_TWIN = frozenset(
    {
        "agent_browser",
        "fetch_web_content",
        "generate_music",
        "generate_text_llm",
        "generate_video",
        "get_workspace_github_status",
        "image_edit",
        "image_gen",
        "move_workspace_file",
        "notify_user",
        "query_large_output",
        "read_image",
        "read_large_output",
        "read_pdf",
        "search_large_output",
        "search_web_llm",
        "speech_to_text",
        "sync_workspace_to_github",
        "text_to_speech",
    }
)
"""Tools of older programs that have none like them here."""

TOOLS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {**_FILES, **_ADVANCED, **_PEOPLE, **_STORES}
)
"""Each older name with what does the same here."""


def _all(*tables: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(name for table in tables for ours in table.values() for name in ours)
    )


CATEGORIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "workspace_tools": _all(_FILES, _ADVANCED),
        "workspace_basic": _all(_FILES),
        "workspace_advanced": _all(_ADVANCED),
        "workspace_git": (),
        "workspace_image": (),
        "workspace_browser": (),
        "human_tools": _all(_PEOPLE),
        "none": (),
    }
)
"""Each older category with the tools of it that there are here."""

NO_TOOLS = "none:*"
"""The older way to write that no tool is wanted, where an empty list meant all."""

NO_SERVERS = "NO_SERVERS"
"""The older way to write that no MCP server is wanted."""

KNOWN = frozenset(TOOLS) | WITHOUT_TWIN | frozenset(INTRINSIC)
"""Names that a report may repeat: they are no values of anybody."""
