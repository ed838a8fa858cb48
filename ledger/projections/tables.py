"""The projections' tables as SQL: what loads rows by key, and what writes a batch at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import orjson

from domain.projections.rows import (
    CallRow,
    InputRow,
    ItemRow,
    RunRow,
    SessionRow,
    StepRow,
    UsageRow,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SCHEMA = "projection"
PROJECTOR = "rows"

_TYPES = {
    "str": "text",
    "str | None": "text",
    "JsonText": "text",
    "int": "bigint",
    "int | None": "bigint",
    "bool | None": "boolean",
    "Decimal": "numeric",
    "Decimal | None": "numeric",
    "date": "date",
    "datetime | None": "timestamptz",
}
_JSON = "JsonText"


@dataclass(frozen=True)
class Table:
    """One table: its name, the class of its rows, and how many of its columns are the key.

    `adds` tells that written rows are added to those that are there.
    """

    name: str
    row: type[Any]
    keys: int
    adds: bool = False

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Name the columns in order."""
        return tuple(one.name for one in fields(self.row))

    @property
    def key(self) -> tuple[str, ...]:
        """Name the columns of the key, which stand first."""
        return self.columns[: self.keys]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Give the type in which each column travels."""
        return tuple(_TYPES[str(one.type)] for one in fields(self.row))

    @cached_property
    def values(self) -> Callable[[Any], tuple[Any, ...]]:
        """Give what takes a row's columns out of it."""
        return attrgetter(*self.columns)

    def selected(self, alias: str) -> str:
        """Select the columns as a row takes them."""
        return ", ".join(
            f"{alias}.{one.name}::text" if one.type == _JSON else f"{alias}.{one.name}"
            for one in fields(self.row)
        )

    def loading(self, schema: str) -> str:
        """Write what reads rows by arrays of their keys."""
        arrays = ", ".join(f"${n}::{kind}[]" for n, kind in enumerate(self.types[: self.keys], 1))
        names = ", ".join(self.key)
        return (
            f"select {self.selected('t')} from unnest({arrays}) as k({names})"
            f" join {schema}.{self.name} t using ({names})"
        )

    def writing(self, schema: str, parameter: int) -> str:
        """Write what puts in the rows that one parameter carries, as `json_of` writes them."""
        columns = zip(self.columns, self.types, strict=True)
        known = ", ".join(f"{name} {kind}" for name, kind in columns)
        given = ", ".join(
            f"u.{one.name}::jsonb" if one.type == _JSON else f"u.{one.name}"
            for one in fields(self.row)
        )
        return (
            f"insert into {schema}.{self.name} as t ({', '.join(self.columns)})"
            f" select {given} from json_to_recordset(${parameter}::json) as u({known})"
            f" where exists (select from mine)"
            f" on conflict ({', '.join(self.key)}) do update set {', '.join(self._settings())}"
        )

    def _settings(self) -> Iterable[str]:
        for one in fields(self.row)[self.keys :]:
            name = one.name
            if not self.adds:
                yield f"{name} = excluded.{name}"
            elif "None" in str(one.type):
                yield (
                    f"{name} = case when excluded.{name} is null then t.{name}"
                    f" else coalesce(t.{name}, 0) + excluded.{name} end"
                )
            else:
                yield f"{name} = t.{name} + excluded.{name}"


RUN = Table("run", RunRow, 1)
ITEM = Table("item", ItemRow, 2)
STEP = Table("step", StepRow, 3)
CALL = Table("call", CallRow, 4)
INPUT = Table("input", InputRow, 2)
SESSION = Table("session", SessionRow, 1)
USAGE = Table("usage", UsageRow, 4, adds=True)
TABLES = (RUN, ITEM, STEP, CALL, INPUT, SESSION, USAGE)


def writing_all(schema: str, tables: Iterable[Table]) -> str:
    """Write the one statement that puts a batch in and moves the checkpoint, or does nothing.

    $1 is where the checkpoint is moved to, $2 where it must stand: with another projector
    at it, or past it, nothing is written and 0 is given instead of 1.
    """
    parts = [
        (
            f"mine as (select from {schema}.checkpoint where projector = '{PROJECTOR}'"
            " and global_seq = $2 for update skip locked)"
        ),
        (
            f"at as (update {schema}.checkpoint set global_seq = $1"
            f" where projector = '{PROJECTOR}' and exists (select from mine))"
        ),
    ]
    for parameter, table in enumerate(tables, start=3):
        parts.append(f"w_{table.name} as ({table.writing(schema, parameter)})")
    return f"with {', '.join(parts)} select count(*) from mine"


def json_of(rows: Iterable[Any]) -> str:
    """Write rows as a JSON array of objects; raises TypeError where a value has no such form.

    An array for each column would cost twice as much: its driver looks at every value thrice.
    """
    return orjson.dumps(list(rows), default=str).decode()
