"""What activities are given by the composition root: the ledger, the tools, the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from activities.mcp.servers import Servers
from activities.record import Records
from domain.ports import Model, Tool
from domain.runs.pace import Paces
from domain.tools.registry import Registry, ToolSpec
from ledger.connect import Ledger


def no_key(_model: str) -> str:
    """Give no model a key."""
    return ""


@dataclass(frozen=True)
class World:
    """The outside of the activities, made once at the worker's start.

    `home` is Legato's own folder, where stores and call folders (receipts, outputs) are;
    `confinement` the level of this machine, `model` gives a model by name, `model_problem`
    why a name cannot be used, `environment` the names and values that a command may see,
    `kill` the kill points that a test has set. `model_key` gives a model's key, "" for none,
    `paces` the rates that models may be asked at, `servers` what it has of MCP servers.
    """

    ledger: Ledger
    registry: Registry
    tools: Mapping[str, Tool]
    model: Callable[[str, str], Model]
    model_problem: Callable[[str], str]
    home: str
    confinement: str
    environment: Mapping[str, str]
    kill: Callable[[str], None]
    model_key: Callable[[str], str] = no_key
    paces: Paces = field(default_factory=Paces)
    records: Records = field(default_factory=Records)
    servers: Servers = field(default_factory=Servers)

    def tool_of(self, spec: ToolSpec) -> Tool:
        """Give what runs a tool: a server's own, by its contract; any other, by its name."""
        if not spec.remote:
            return self.tools[spec.name]
        from activities.mcp.run import remote_tool  # noqa: PLC0415 - seconds, and seldom needed

        return remote_tool(self.servers, spec)
