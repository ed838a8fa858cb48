"""SQLite's values as JSON and back: no number loses digits, no byte is guessed at.

This module is loaded by a bare interpreter: it imports the standard library only.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    import sqlite3

ROWS_BYTES: Final = 256 * 1024
_CELL: Final = 32 * 1024
_EXACT: Final = 2**53 - 1
_INT64: Final = 2**63


def json_value(value: object) -> object:
    """Render one SQLite value.

    NULL is null, text a string, a number a number; what JSON would bend is an object with
    one mark: `{"int": "9007199254740993"}`, `{"real": "inf"}`, `{"blob": "00ff",
    "bytes": 2}`; long text is `{"cut": "...", "characters": 70000}`. Bytes that are not
    UTF-8 in a text become U+FFFD.
    """
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else {"int": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"real": str(value)}
    if isinstance(value, str):
        if len(value) <= _CELL:
            return value
        return {"cut": value[:_CELL], "characters": len(value)}
    if isinstance(value, bytes):
        return {"blob": value[: _CELL // 2].hex(), "bytes": len(value)}
    return None


def sql_value(value: object) -> object:
    """Read one parameter: JSON's scalars, or a marked object as `json_value` writes it.

    Raises ValueError for anything else.
    """
    if isinstance(value, str):
        value.encode()  # a lone surrogate is a ValueError
        return value
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return _int64(value)
    if isinstance(value, dict):
        marked = cast("dict[str, object]", value)
        for mark, read in (("blob", bytes.fromhex), ("int", _int64), ("real", float)):
            if isinstance(marked.get(mark), str):
                return read(cast("str", marked[mark]))
    message = 'a parameter is null, a number, a string, {"blob": "hex"} or {"int": "digits"}'
    raise ValueError(message)


def _int64(value: int | str) -> int:
    number = int(value)
    if not -_INT64 <= number < _INT64:
        message = f"the integer {value} does not fit 64 bits"
        raise ValueError(message)
    return number


def sql_parameters(given: object) -> list[object] | dict[str, object]:
    """Read the parameters of one statement, by place or by name; raises ValueError."""
    if given is None:
        return []
    if isinstance(given, dict):
        return {k: sql_value(v) for k, v in cast("dict[str, object]", given).items()}
    return [sql_value(v) for v in cast("list[object]", given)]


@dataclass
class Rows:
    """The rows of one statement that are handed over, and the count of those that are not."""

    columns: list[str]
    lines: list[str] = field(default_factory=list[str])
    left_out: int = 0

    def render(self) -> str:
        """Write the rows as one JSON object, a row a line."""
        head: dict[str, object] = {"columns": self.columns, "left_out": self.left_out}
        if self.left_out:
            head["note"] = (
                f"{self.left_out} rows left out: narrow it with WHERE or LIMIT and OFFSET, "
                "select fewer columns, or raise max_rows (at most 1000)"
            )
        body = ",\n".join(self.lines)
        return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "rows": [\n{body}\n]}}'


def read_rows(cursor: sqlite3.Cursor, max_rows: int) -> Rows | None:
    """Step a statement to its end, keeping the first rows; None where it gives no rows."""
    if cursor.description is None:
        return None
    rows = Rows(columns=[str(column[0]) for column in cursor.description])
    room = ROWS_BYTES
    for row in cast("list[tuple[object, ...]]", cursor):
        if room > 0 and len(rows.lines) < max_rows:
            line = json.dumps([json_value(value) for value in row], ensure_ascii=False)
            room -= len(line.encode())
            if room > 0:
                rows.lines.append(line)
                continue
        rows.left_out += 1
    return rows
