"""Names this build by all that decides its replays, and remembers which build a home knows."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

CODE = Path(__file__).resolve().parents[1]
_DECIDES = ("workflows", "domain")


@dataclass(frozen=True)
class Tried:
    """The build that last proved itself on a home's open runs.

    `replayed` counts the runs that it replayed, `left` are those for which there was no time.
    """

    build: str
    replayed: int = 0
    left: tuple[str, ...] = ()


def this_build() -> str:
    """Digest the sources of the workflow and of the domain that it runs on, and the SDK's version.

    The rest of the program may change without touching a replay.
    """
    digest = hashlib.sha256(version("temporalio").encode())
    for folder in _DECIDES:
        for path in sorted((CODE / folder).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(CODE)} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def last_tried(home: Path) -> Tried | None:
    """Read which build last proved itself here; None where none did."""
    try:
        written = json.loads(_mark(home).read_text(encoding="utf-8"))
        left = tuple(str(run_id) for run_id in written["left"])
        return Tried(str(written["build"]), int(written["replayed"]), left)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_tried(home: Path) -> bool:
    """Tell whether this build proved itself here, or was let in all the same."""
    known = last_tried(home)
    return known is not None and known.build == this_build()


def remember(home: Path, tried: Tried) -> None:
    """Write down that a build proved itself here."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    value = {"build": tried.build, "replayed": tried.replayed, "left": list(tried.left)}
    draft = home / f".build-{os.getpid()}"
    draft.write_text(json.dumps(value), encoding="utf-8")
    draft.replace(_mark(home))


def _mark(home: Path) -> Path:
    return home / "build.json"
