"""A tool's context over real folders, for tests that run an executor by itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from domain.agents.profile import Claim, Profile
from domain.ports import Executed, ToolContext
from domain.tools.schema import argument_problems

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from domain.codec import Json
    from domain.ports import Tool
    from domain.tools.results import Outcome


def tool_context(
    tmp_path: Path,
    *,
    profile: Profile = Profile.WRITER,
    workspace: Path | None = None,
    limit: float = 5.0,
    call_id: str = "call-1",
    stop: threading.Event | None = None,
) -> ToolContext:
    """Build a context: workspace in `tmp_path/workspace`, Legato's own state in `tmp_path/home`.

    The folders are made. `limit` is in seconds.
    """
    workspace = workspace or tmp_path / "workspace"
    stores, call_folder = tmp_path / "home" / "stores", tmp_path / "home" / "calls" / call_id
    for folder in (workspace, stores, call_folder):
        folder.mkdir(parents=True, exist_ok=True)
    return ToolContext(
        run_id="run-1",
        call_id=call_id,
        claim=Claim("run-1", str(workspace), profile),
        workspace=str(workspace),
        home=str(tmp_path / "home"),
        stores=str(stores),
        call_folder=str(call_folder),
        limit=limit,
        stop=stop or threading.Event(),
    )


def outcome_of(tool: Tool, context: ToolContext, **arguments: Json) -> Outcome:
    """Run a tool's executor and return the outcome; anything but an outcome fails the test.

    The arguments must fit the published schema, as the engine sees to it.
    """
    assert argument_problems(tool.spec.schema, arguments) == []
    returned = tool.execute(arguments, context)
    assert isinstance(returned, Executed)
    return returned.outcome


def by_name(tools: tuple[Tool, ...]) -> Mapping[str, Tool]:
    """Index tools by their published names."""
    return {tool.spec.name: tool for tool in tools}
