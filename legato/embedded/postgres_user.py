"""As whom Postgres runs: it refuses root, so root needs another way."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
from dataclasses import dataclass
from pathlib import Path

from domain.errors import LegatoError

from .parts import output_of

_NOBODY = "nobody"
_SYSTEM_DATA = Path("/var/lib/legato")


@dataclass(frozen=True, slots=True)
class PostgresUser:
    """How a Postgres program is started, and where its files may lie.

    `prefix` precedes each command; `owner` (uid, gid) is who must own the files, None
    where that is this process's own user; `data` is the folder for all of them.
    """

    prefix: tuple[str, ...]
    owner: tuple[int, int] | None
    data: Path

    def give(self, path: Path) -> None:
        """Make Postgres's user the owner of a file or folder."""
        if self.owner is not None:
            os.chown(path, *self.owner)

    def make_folder(self, path: Path) -> None:
        """Make a folder that only Postgres's user, and root, can enter."""
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
        self.give(path)


async def postgres_user(home: Path, binaries: Path) -> PostgresUser:
    """Find out how Postgres can run here.

    An ordinary user runs it directly. For root it runs in a user namespace, in which
    root's own files belong to `nobody`: nothing changes hands and the home stays closed.
    Where namespaces are refused (many containers), it runs as the real `nobody`, with
    its data under /var/lib.

    Raises:
        LegatoError: `postgres_refuses_root` where none of it works.

    """
    if os.geteuid() != 0:
        return PostgresUser((), None, home)
    nobody = _nobody()
    mapped = ("unshare", "--user", f"--map-user={nobody.pw_uid}")
    tried = {"user namespace": await _why_not(mapped, binaries)}
    if not tried["user namespace"]:
        return PostgresUser(mapped, None, home)
    switched = (
        "setpriv",
        f"--reuid={nobody.pw_uid}",
        f"--regid={nobody.pw_gid}",
        "--clear-groups",
        "--pdeathsig=INT",  # changing the user has undone the supervisor's own wish
    )
    tried["user nobody"] = await _why_not(switched, binaries)
    if not tried["user nobody"]:
        owner = (nobody.pw_uid, nobody.pw_gid)
        return PostgresUser(switched, owner, _made(system_data(home), owner))
    raise LegatoError(
        "postgres_refuses_root",
        "Postgres does not run as root, and no other way to run it works here.",
        cause="; ".join(f"{way}: {why}" for way, why in tried.items()),
        next="run Legato as an ordinary user, allow user namespaces, or set DATABASE_URL"
        " and TEMPORAL_ADDRESS to servers of your own",
    )


async def _why_not(prefix: tuple[str, ...], binaries: Path) -> str:
    """Say why a way to start Postgres fails; empty where it works."""
    if shutil.which(prefix[0]) is None:
        return f"there is no program {prefix[0]}"
    status, output = await output_of((*prefix, str(binaries / "postgres"), "--version"))
    return "" if status == 0 else (output or f"status {status}")


def _nobody() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_NOBODY)
    except KeyError as error:
        raise LegatoError(
            "postgres_refuses_root",
            "Postgres does not run as root, and there is no user `nobody` to run it as.",
            next="run Legato as an ordinary user",
        ) from error


def system_data(home: Path) -> Path:
    """Name the folder for a home's data that `nobody` can reach, however closed the home."""
    return _SYSTEM_DATA / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]


def _made(folder: Path, owner: tuple[int, int]) -> Path:
    folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    os.chown(folder, *owner)
    return folder
