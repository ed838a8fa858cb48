"""Writes the table of failures in docs/models.md from the code.

Run it from the checkout: `.venv/bin/python docs/make_models.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from activities.models.failures import ODD, TABLE, Odd, Row  # noqa: E402 - from the checkout

PAGE = ROOT / "docs" / "models.md"
BEGIN = "<!-- made by docs/make_models.py -->\n"
END = "<!-- end of what is made -->\n"
HEAD = """
| what is seen | code | what is done | other model | the model |
| --- | --- | --- | --- | --- |
"""
HEAD_OF_ODD = """
| what is odd, and no failure | what is done |
| --- | --- |
"""


def _row(row: Row) -> str:
    seen = "; ".join(row.seen) or "an error that nobody foresaw"
    falls = "may be asked" if row.falls_back else "no"
    return f"| {seen} | `{row.code}` | {row.disposition.value} | {falls} | {row.says} |"


def _odd(row: Odd) -> str:
    told = f"{row.done}, as `{row.code}`" if row.code else row.done
    return f"| {'; '.join(row.seen)} | {told} |"


def tables() -> str:
    """Write both tables, the markers around them."""
    failures = "\n".join(map(_row, TABLE))
    odd = "\n".join(map(_odd, ODD))
    return f"{BEGIN}{HEAD}{failures}\n{HEAD_OF_ODD}{odd}\n\n{END}"


def page() -> str:
    """Write the page with the tables of today in their place."""
    written = PAGE.read_text(encoding="utf-8")
    before, _, rest = written.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{tables()}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
