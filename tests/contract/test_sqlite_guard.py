"""Whatever SQL is written, the guard keeps it inside its database and off the receipts."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from activities.tools.sqlite_child import Answer, Request, answer

CODES = {
    "",
    "bad_parameters",
    "constraint_failed",
    "one_statement_only",
    "sql_error",
    "sql_not_allowed",
    "time_limit",
    "too_large",
}
NAMES = ["note", "a", "v", "_legato_call", "_LEGATO_CALL", "sqlite_master", "sqlite_sequence"]
HOSTILE = """
    attach|'OUTSIDE'|as|detach|vacuum|vacuum into|pragma|writable_schema|= 1|= 0|journal_mode|
    = delete|begin|commit|rollback|end|savepoint|release|create|table|temp|view|index|trigger|
    virtual table|using|fts5|if not exists|drop|alter|rename to|rename column|to|add column|on|
    (a)|(a unique)|(a primary key)|select|*|count(*)|from|where|insert|or replace|or rollback|
    into|values|(1)|(null)|update|set|a = 1|result = 'x'|sql = ''|delete|returning|union all|
    with|recursive|join|load_extension('OUTSIDE')|zeroblob(99999999)|hex(zeroblob(9))|
    pragma_table_info('note')|json_each('[1]')|writefile('OUTSIDE', 'x')|;|--|/*|(|)|,|?|:a|
    explain|analyze|reindex|references|deferrable initially deferred|'|\x00|é
"""
WORDS = [word.strip() for word in HOSTILE.strip().split("|")]
FORMS = [
    "create table {} as select * from {}",
    "create view {} as select * from {}",
    "create index {} on {} (result)",
    "create trigger {} after insert on {} begin delete from _legato_call; end",
    "create temp view {} as select * from {}",
    "create table {} (a references {} (result) deferrable initially deferred)",
    "alter table {} rename to {}",
    "insert into {} select * from {}",
    "insert or replace into {} select call_id, 'x', at from {}",
    "update {} set result = (select 'x' from {})",
    "delete from {} where a in (select a from {})",
    "with x as (select * from {}) delete from {}",
    "attach '{}' as {}",
]

words = st.lists(st.sampled_from(WORDS + NAMES), min_size=1, max_size=12).map(" ".join)
forms = st.builds(str.format, st.sampled_from(FORMS), *[st.sampled_from(NAMES)] * 2)
statements = st.one_of(words, forms, st.text(max_size=30))
values = st.one_of(st.none(), st.text(max_size=5), st.integers(), st.floats(), st.booleans())


def ask(folder: Path, op: str, call_id: str, *sql: str, params: object = None) -> Answer:
    listed = tuple({"sql": text, "params": params} for text in sql)
    database = str(folder / "stores" / "workflow.db")
    return answer(Request(op, database, limit=2.0, call_id=call_id, statements=listed))


def receipts(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "stores" / "workflow.db")) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        schema = connection.execute("select type, lower(sql) from sqlite_schema").fetchall()
        assert not [row for row in schema if row[0] == "trigger" or "create virtual" in str(row[1])]
        return connection.execute("select call_id, result from _legato_call").fetchall()


@settings(max_examples=60, deadline=None)
@given(st.lists(statements, min_size=1, max_size=6), st.lists(values, max_size=2))
def test_no_statement_reaches_outside_or_touches_a_receipt(sql: list[str], given: object) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stores").mkdir()
        first = ask(
            folder, "mutate", "first", "create table note (a)", "insert into note values(1)"
        )
        assert first.code == ""
        applied = [("first", first.text)]
        for place, text in enumerate(sql):
            written = text.replace("OUTSIDE", str(folder / "outside"))
            done = ask(folder, "mutate", f"call-{place}", written, params=given)
            read = ask(folder, "query", "", written, params=given)
            assert {done.code, read.code} <= CODES
            if not done.code:
                applied.append((f"call-{place}", done.text))
        assert receipts(folder) == applied
        assert [path.name for path in folder.iterdir()] == ["stores"]
        assert {path.name for path in (folder / "stores").iterdir()} <= {
            "workflow.db",
            "workflow.db-wal",
            "workflow.db-shm",
        }
        assert ask(folder, "mutate", "last", "create table zz (a)", "drop table zz").code == ""
