"""Agent files and their problems as people read them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.agents.files.codes import Level
from domain.agents.files.roster import summary
from domain.agents.profile import Profile
from domain.words import counted
from legato.cli.screens.tables import facts, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from domain.agents.files.agent_file import AgentFile
    from domain.agents.files.problems import Problem
    from legato.agent_files.lint import Report


def agents_screen(agents: Sequence[AgentFile]) -> RenderableType:
    """Show agents, one a line."""
    if not agents:
        return Text("there are no agent files here; docs/agent-files.md says how to write one")
    table = table_of("agent", "from", "at most", "tools", "model", "when to call it")
    for agent in agents:
        table.add_row(
            agent.id,
            agent.origin.value,
            agent.profile(Profile.WRITER).value,
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
        ("at most", agent.profile(Profile.WRITER).value),
        ("tools", tools_text(agent)),
        ("never", ", ".join(agent.disallowed_tools or ())),
        ("model", agent.model),
        ("provider", agent.provider),
        ("turns", str(agent.max_turns or "")),
        ("calls", str(agent.max_tool_calls or "")),
        ("skills", ", ".join(agent.skills or ())),
        ("servers", "\n".join(servers)),
        ("variables", ", ".join(_variables(agent))),
        ("hooks", "\n".join(hooks)),
        ("memory", agent.memory),
    ]  # fmt: skip
    return Group(facts(rows), Text(f"\n{agent.body}"))


def tools_text(agent: AgentFile) -> str:
    """Say which tools an agent asks for."""
    if agent.tools is None:
        return "those of the call"
    return ", ".join(agent.tools) or "none"


def report_screen(report: Report) -> RenderableType:
    """Show one line a problem, and what it comes to."""
    lines = "".join(f"{line}\n" for line in problem_lines(report.problems))
    files = counted(report.files, "file")
    return Text(f"{lines}{files}: {report.kept} kept, {report.dropped} dropped")


def problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Write one line a problem; files that are no agents at all take one line a folder."""
    skipped: dict[str, list[str]] = {}
    for one in problems:
        if one.level is Level.SKIPPED:
            path = PurePath(one.file)
            skipped.setdefault(str(path.parent), []).append(path.name)
        else:
            yield f"{one.file}:{one.line}: {one.level.value} {one.code}: {one.message}; {one.next}"
    for folder, names in skipped.items():
        without = "has" if len(names) == 1 else "have"
        yield (
            f"{folder}:0: skipped not_an_agent: {counted(len(names), 'file')} {without} no header "
            f"and no agent in it ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"  # noqa: PLR2004 - a taste of them
        )


def _server(name: str, url: str) -> str:
    return f"{name}  {url}" if url else name


def _variables(agent: AgentFile) -> list[str]:
    servers = agent.mcp_servers or ()
    return sorted({header.variable for server in servers for header in server.headers})
