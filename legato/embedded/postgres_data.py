"""The embedded Postgres's files: its data folder, its password, its socket's folder."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import LegatoError

from .parts import output_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .postgres_user import PostgresUser

MAJOR = "18"
ROLE = "legato"

# The kernel allows 107 bytes for a socket's path, 103 on macOS, its own name included.
_LONGEST_SOCKET_FOLDER = 80
_INIT_OPTIONS = (
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)


PASSWORD = "postgres.password"  # noqa: S105 - the file's name, written before the first start


@dataclass(frozen=True, slots=True)
class PostgresFiles:
    """Where the files of one home's Postgres lie."""

    data: Path
    password: Path
    sockets: Path


def postgres_files(home: Path, user: PostgresUser) -> PostgresFiles:
    """Tell where the files lie, making the socket's folder.

    Raises:
        LegatoError: `socket_folder_taken` where somebody else owns that folder.

    """
    return PostgresFiles(
        data=user.data / "postgres",
        password=home / PASSWORD,
        sockets=_socket_folder(home, user),
    )


async def initialise(
    files: PostgresFiles, binaries: Path, user: PostgresUser, environment: Mapping[str, str]
) -> None:
    """Make the data folder beside its place, so that a killed start leaves none half made.

    Raises:
        LegatoError: `postgres_init_failed`.

    """
    place = files.data.parent
    for left in place.glob("postgres.new-*"):
        shutil.rmtree(left, ignore_errors=True)
    draft = place / f"postgres.new-{os.getpid()}"
    user.make_folder(draft)
    password_file = place / "postgres.new.password"
    password = secrets.token_urlsafe(24)
    _write_private(files.password, password)
    _write_private(password_file, password)
    user.give(password_file)
    command = (*user.prefix, str(binaries / "initdb"), "-D", str(draft), "-U", ROLE)
    try:
        status, output = await output_of(
            (*command, *_INIT_OPTIONS, f"--pwfile={password_file}"), **environment
        )
    finally:
        password_file.unlink()
    if status != 0:
        raise LegatoError(
            "postgres_init_failed",
            f"Postgres could not make its data folder in {place}.",
            cause=output[-1500:],
            next="mend the cause (often the disk's space or rights), then run `legato up`",
        )
    draft.rename(files.data)


def read_password(files: PostgresFiles) -> str:
    """Read the password that the data folder was made with.

    Raises:
        LegatoError: `postgres_data_unusable` where it is missing, or the data is another
            major version's.

    """
    found = _first_line(files.data / "PG_VERSION")
    password = _first_line(files.password)
    if password and found == MAJOR:
        return password
    version = f"version {found}" if found else "no version"
    raise LegatoError(
        "postgres_data_unusable",
        f"The data in {files.data} cannot be used with Postgres {MAJOR}.",
        cause=f"it has {version} and {'a' if password else 'no'} password file",
        next=f"restore {files.data} and {files.password} from a backup, or move both away"
        " to begin with an empty ledger",
    )


def _socket_folder(home: Path, user: PostgresUser) -> Path:
    """Choose a private folder for the socket, short and plain enough for its path."""
    inside = user.data / "run"
    plain = str(inside).isascii() and all(c.isalnum() or c in "/._-" for c in str(inside))
    if plain and len(str(inside)) <= _LONGEST_SOCKET_FOLDER:
        user.make_folder(inside)
        return inside
    name = f"legato-{os.geteuid()}-{hashlib.sha256(os.fsencode(home)).hexdigest()[:16]}"
    folder = Path(tempfile.gettempdir()) / name
    if len(str(folder)) > _LONGEST_SOCKET_FOLDER:
        folder = Path("/tmp") / name  # noqa: S108 - its owner is checked, its mode 0700
    _refuse_foreign(folder, user)
    user.make_folder(folder)
    return folder


def _refuse_foreign(folder: Path, user: PostgresUser) -> None:
    """Refuse a folder in a shared place that someone else made first."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    owners = {os.geteuid()} if user.owner is None else {os.geteuid(), user.owner[0]}
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in owners:
        raise LegatoError(
            "socket_folder_taken",
            f"{folder} is not a folder of this user's own.",
            cause="somebody else made it in a place that all users share",
            next="set LEGATO_HOME to a shorter path without spaces: the socket then lies in it",
        )


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
