"""Puts the activities' world together: the tools of this deployment, its models, its folders."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from activities.mcp.servers import Servers
from activities.models.pipeline import pipeline_model
from activities.models.select import model_problem, models
from activities.tools.files import FILE_TOOLS
from activities.tools.guidance import GUIDANCE_TOOLS
from activities.tools.knowledge import KNOWLEDGE_TOOLS
from activities.tools.learnings import LEARNINGS_TOOLS
from activities.tools.people import PEOPLE_TOOLS
from activities.tools.plugins import load_plugins
from activities.tools.review import REVIEW_TOOLS
from activities.tools.search import SEARCH_TOOLS
from activities.tools.shell import SHELL_TOOLS
from activities.tools.workflow_db import WORKFLOW_DB_TOOLS
from activities.world import World
from domain.runs.model_name import model_key, parse_model
from domain.tools.registry import build_registry
from legato.kill_points import kill_points
from legato.mcp_servers import read_file
from legato.settings import child_environment, secret

if TYPE_CHECKING:
    from activities.tools.confine import Level
    from domain.ports import Model, Tool
    from ledger.connect import Ledger
    from legato.settings import Settings


def all_tools() -> tuple[Tool, ...]:
    """Give every tool that this deployment can run, those of plug-ins among them."""
    return (
        *FILE_TOOLS,
        *SEARCH_TOOLS,
        *SHELL_TOOLS,
        *WORKFLOW_DB_TOOLS,
        *KNOWLEDGE_TOOLS,
        *LEARNINGS_TOOLS,
        *GUIDANCE_TOOLS,
        *REVIEW_TOOLS,
        *PEOPLE_TOOLS,
        *load_plugins(),
    )


def build_world(settings: Settings, ledger: Ledger, confinement: Level) -> World:
    """Make the world, where commands get a level of confinement.

    Raises `registry_invalid` or `plugin_invalid` with all problems.
    """
    tools = all_tools()
    if read_file(settings.home).servers:
        importlib.import_module("activities.mcp.run")  # takes seconds: better now than in a call
    lookup = models(secret)

    def model(name: str, pipeline: str) -> Model:
        return pipeline_model(pipeline) if pipeline else lookup(name)

    def problem(name: str) -> str:
        found = model_problem(name, secret) if name else None
        return f"{found.code}: {found.message}" if found is not None else ""

    def key(name: str) -> str:
        return model_key(parse_model(name), secret)

    return World(
        ledger=ledger,
        registry=build_registry([tool.spec for tool in tools]),
        tools={tool.spec.name: tool for tool in tools},
        model=model,
        model_problem=problem,
        home=str(settings.home),
        confinement=confinement.value,
        environment=child_environment(),
        kill=kill_points(settings.kill_points, settings.home / "kill_points"),
        model_key=key,
        paces=settings.paces,
        servers=Servers(lambda: read_file(settings.home), secret),
    )
