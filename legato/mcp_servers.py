"""The MCP servers of a home: declared in a file, asked by the worker's side, accepted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from domain.codec import decode_object
from domain.errors import Kind, LegatoError, bug
from domain.mcp.declared import Declared, Server, find_server, read_declared
from domain.mcp.snapshot import McpAccepted, OfferedTool, changes, snapshot_digest
from ledger.mcp import Accepted, accept, read_accepted
from legato.embedded.parts import CODE_ROOT
from legato.settings import child_environment

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json
    from domain.mcp.snapshot import Change
    from legato.door import Door
    from legato.settings import Settings

FILE = "mcp.toml"
"""Where servers are declared, in LEGATO_HOME."""

_LONGEST = 120.0
_MOST_BYTES = 1 << 20


def read_file(home: Path) -> Declared:
    """Read the declarations as they stand now; no file declares nothing."""
    path = home / FILE
    try:
        if path.exists() and not path.is_file():
            return Declared(problems={"": (f"{path} is no regular file",)})
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return Declared()
    except OSError as exc:
        return Declared(problems={"": (f"{path} cannot be read: {exc.strerror}",)})
    if len(data) > _MOST_BYTES:
        return Declared(problems={"": (f"{path} has more than {_MOST_BYTES} bytes",)})
    try:
        return read_declared(data.decode())
    except UnicodeDecodeError:
        return Declared(problems={"": (f"{path} is not UTF-8",)})


@dataclass(frozen=True)
class Offered:
    """What a server offers now: the tools that can be had, and why the others cannot."""

    tools: tuple[OfferedTool, ...]
    unfit: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Checked:
    """A server as it is, beside what was accepted of it."""

    server: Server
    offered: Offered
    accepted: Accepted | None

    @property
    def digest(self) -> str:
        """The digest of what can be had now."""
        return snapshot_digest(self.offered.tools)

    @property
    def moved(self) -> bool:
        """Tell whether it was accepted at another address."""
        return self.accepted is not None and self.accepted.fact.address != self.server.address

    @property
    def changes(self) -> tuple[Change, ...]:
        """Say what differs from what was accepted; everything is new where nothing was."""
        before = self.accepted.fact.tools if self.accepted is not None else ()
        return changes(before, self.offered.tools)

    @property
    def same(self) -> bool:
        """Tell whether what is offered is what was accepted."""
        return self.accepted is not None and not self.moved and not self.changes


async def check_server(door: Door, name: str) -> Checked:
    """Ask a server what it offers; raises what the worker's side says is wrong with it."""
    server = find_server(read_file(door.settings.home), name)
    offered = await _ask(door.settings, name)
    return Checked(server, offered, await read_accepted(door.ledger, name))


async def accept_server(door: Door, checked: Checked) -> McpAccepted:
    """Accept what a server offers; what stands already is not appended again."""
    n = checked.accepted.fact.n if checked.accepted is not None else 0
    fact = McpAccepted(
        n=n + 1,
        server=checked.server.name,
        address=checked.server.address,
        tools=checked.offered.tools,
        digest=checked.digest,
    )
    if checked.same and checked.accepted is not None:
        return checked.accepted.fact
    await accept(door.ledger, door.author("", fact.key()), fact)
    return fact


async def _ask(settings: Settings, name: str) -> Offered:
    """Ask the worker's side, which alone knows the secrets, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "workers.mcp_offer",
        name,
        cwd=CODE_ROOT,
        env=child_environment(LEGATO_HOME=str(settings.home)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _LONGEST)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise LegatoError(
            "server_unavailable",
            f"the server {name} did not answer within {_LONGEST:.0f} s",
            next="look whether it is up, then ask again",
        ) from None
    return _read(name, out)


def _read(name: str, out: bytes) -> Offered:
    try:
        said = decode_object(out)
    except ValueError:
        raise bug("mcp_offer_broke", f"asking {name} broke: it gave no document") from None
    if "error" in said:
        raise _error(cast("Mapping[str, str]", said["error"]))
    tools = tuple(OfferedTool.model_validate(one) for one in cast("list[Json]", said["tools"]))
    unfit = cast("Mapping[str, list[str]]", said["unfit"])
    return Offered(tools, {tool: tuple(why) for tool, why in unfit.items()})


def _error(said: Mapping[str, str]) -> LegatoError:
    return LegatoError(
        said["code"],
        said["message"],
        kind=Kind(said["kind"]),
        cause=said["cause"],
        next=said["next"],
    )
