"""Starts the bench of the ledger by its path, on this checkout's own code and environment.

See `python bench/ledger.py --help`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Run the bench; another interpreter than the checkout's is replaced by that one."""
    own = ROOT / ".venv" / "bin" / "python"
    if importlib.util.find_spec("asyncpg") is None and own.exists():
        os.execv(own, [str(own), *sys.argv])  # noqa: S606 - our own arguments, unchanged
    sys.path[0] = str(ROOT)
    from bench.ledger_program import main as run  # noqa: PLC0415 - once the checkout is on the path

    run()


if __name__ == "__main__":
    main()
