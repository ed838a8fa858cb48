"""Agent files as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.agents.files.authority import profile_of
from domain.agents.files.roster import summary
from domain.agents.files.servers import references
from domain.agents.profile import Profile
from legato.cli.screens.tables import facts, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from domain.agents.files.agent_file import AgentFile


def agents_screen(agents: Sequence[AgentFile]) -> RenderableType:
    """Show agents, one a line."""
    if not agents:
        return Text("there are no agent files here; docs/agent-files.md says how to write one")
    table = table_of("agent", "from", "at most", "tools", "model", "when to call it")
    for agent in agents:
        table.add_row(
            agent.id,
            agent.origin.value,
            profile_of(agent, Profile.WRITER).value,
            tools_text(agent),
            agent.model,
            summary(agent.description),
        )
    return table


def agent_screen(agent: AgentFile, where: str) -> RenderableType:
    """Show one agent whole. Of headers only the variables are known."""
    servers = [_server(one.name, one.url) for one in agent.mcp_servers or ()]
    hooks = [
        f"{one.phase}{f' ({one.matcher})' if one.matcher else ''}: {one.command}"
        for one in agent.hooks or ()
    ]
    rows = [
        ("name", agent.name),
        ("id", agent.id),
        ("from", f"{agent.origin.value}: {where}"),
        ("description", agent.description),
        ("at most", profile_of(agent, Profile.WRITER).value),
        ("tools", tools_text(agent)),
        ("never", ", ".join(agent.disallowed_tools or ())),
        ("model", agent.model),
        ("provider", agent.provider),
        ("turns", str(agent.max_turns or "")),
        ("calls", str(agent.max_tool_calls or "")),
        ("skills", ", ".join(agent.skills or ())),
        ("servers", "\n".join(servers)),
        ("variables", ", ".join(references(agent.mcp_servers or ()))),
        ("hooks", "\n".join(hooks)),
        ("memory", agent.memory),
    ]  # fmt: skip
    return Group(facts(rows), Text(f"\n{agent.body}"))


def tools_text(agent: AgentFile) -> str:
    """Say which tools an agent asks for."""
    if agent.tools is None:
        return "those of the call"
    return ", ".join(agent.tools) or "none"


def _server(name: str, url: str) -> str:
    return f"{name}  {url}" if url else name
