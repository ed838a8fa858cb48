"""The workflow database's tools answer with rows, receipts and stable codes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from activities.tools.workflow_db import WORKFLOW_DB_TOOLS
from domain.agents.profile import Profile
from domain.errors import LegatoError
from domain.ports import Absent, Executed
from domain.tools.registry import build_registry
from domain.tools.results import Tag
from domain.tools.schema import argument_problems
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from domain.codec import Json
    from domain.tools.results import Outcome

TOOLS = by_name(WORKFLOW_DB_TOOLS)
ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c"
ENDLESS_SUM = ENDLESS.replace("select x from", "select sum(x) from")
ENDLESS_WIDE = ENDLESS.replace("select x from", "select hex(zeroblob(20000)) from")
LONG_SEARCH = "select instr(zeroblob(3000000), zeroblob(1500000) || x'01')"
DOUBLING = ", ".join(f"t{i} as (table t{i - 1} union all table t{i - 1})" for i in range(1, 31))
SWELLING = "with t0 as (select 1 x), DOUBLING select 1 from t30".replace(
    "DOUBLING", DOUBLING.replace("table", "select * from")
)


def query(tmp_path: Path, sql: str, limit: float = 5.0, **more: Json) -> Outcome:
    context = tool_context(tmp_path, profile=Profile.READER, limit=limit)
    arguments: dict[str, Json] = {"sql": sql, **more}
    tool = TOOLS["query_workflow_db"]
    assert argument_problems(tool.spec.schema, arguments) == []
    return outcome_of(tool, context, **arguments)


def mutate(tmp_path: Path, *sql: str, call_id: str = "call-1", params: Json = None) -> Outcome:
    statements: list[Json] = [{"sql": text, "params": params or []} for text in sql]
    tool = TOOLS["mutate_workflow_db"]
    assert argument_problems(tool.spec.schema, {"statements": statements}) == []
    return outcome_of(tool, tool_context(tmp_path, call_id=call_id), statements=statements)


def rows(outcome: Outcome) -> Any:  # noqa: ANN401 - decoded JSON
    assert outcome.tag is Tag.OK, outcome
    return json.loads(outcome.text)["rows"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose database holds two tables and a view on the receipts."""
    folder = tmp_path_factory.mktemp("filled")
    mutate(
        folder,
        "create table note (a integer primary key autoincrement)",
        "create table child (a references note (a))",
        "insert into note values (1)",
        "create view hidden as select result from _legato_call",
    )
    return folder


def dump(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "home" / "stores" / "workflow.db")) as connection:
        return list(connection.iterdump())


def test_the_tools_can_be_registered() -> None:
    registry = build_registry([tool.spec for tool in WORKFLOW_DB_TOOLS])
    assert len(registry.specs) == 3


def test_what_is_written_in_one_transaction_is_read_back(tmp_path: Path) -> None:
    written = mutate(
        tmp_path,
        "create table note (id integer primary key, body text)",
        "insert into note (body) values ('a'), ('b') returning id",
    )
    assert json.loads(written.text)["statements"][1]["returned"]["rows"] == [[1], [2]]
    assert json.loads(written.text)["statements"][1]["rows_changed"] == 2
    assert rows(query(tmp_path, "select * from note order by id")) == [[1, "a"], [2, "b"]]


def test_a_missing_database_answers_empty_and_stays_missing(tmp_path: Path) -> None:
    assert rows(query(tmp_path, "select * from note")) == []
    described = outcome_of(TOOLS["describe_workflow_db"], tool_context(tmp_path))
    assert json.loads(described.text)["schema"] == []
    assert list((tmp_path / "home" / "stores").iterdir()) == []


def test_describe_shows_definitions_and_counts_but_not_the_receipts(tmp_path: Path) -> None:
    mutate(tmp_path, 'create table "odd "" name" (a)', 'insert into "odd "" name" values (1)')
    mutate(tmp_path, 'create view v as select a from "odd "" name"', call_id="call-2")
    described = outcome_of(TOOLS["describe_workflow_db"], tool_context(tmp_path))
    schema = {row["name"]: row for row in json.loads(described.text)["schema"]}
    assert schema['odd " name']["rows"] == 1
    assert schema["v"]["sql"].startswith("CREATE VIEW v")
    assert set(schema) == {'odd " name', "v"}


def test_no_value_is_bent_on_its_way_out_and_back_in(tmp_path: Path) -> None:
    values: list[Json] = [None, "é\x00", 1.5, 2**53 - 1, {"int": str(2**62)}, {"blob": "00ff"}]
    back = rows(query(tmp_path, "select ?, ?, ?, ?, ?, ?", params=values))[0]
    assert back[:5] == values[:5]
    assert back[5] == {"blob": "00ff", "bytes": 2}
    assert rows(query(tmp_path, "select 9e999, cast(x'ff41' as text)")) == [
        [{"real": "inf"}, "\ufffdA"]
    ]
    assert rows(query(tmp_path, "select :a + :b", params={"a": 1, "b": 2})) == [[3]]


def test_rows_beyond_the_bound_are_counted(tmp_path: Path) -> None:
    many = json.loads(query(tmp_path, ENDLESS + " limit 5000", max_rows=3).text)
    assert (many["rows"], many["left_out"]) == ([[1], [2], [3]], 4997)
    wide = json.loads(query(tmp_path, ENDLESS_WIDE + " limit 90", max_rows=90).text)
    assert len(wide["rows"]) + wide["left_out"] == 90
    assert 0 < len(json.dumps(wide)) < 300_000


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("select 1; select 2", "one_statement_only"),
        ("-- nothing", "one_statement_only"),
        ("attach '{outside}' as o", "sql_not_allowed"),
        ("vacuum", "sql_not_allowed"),
        ("vacuum into '{outside}'", "sql_not_allowed"),
        ("pragma query_only = 0", "sql_not_allowed"),
        ("pragma writable_schema = 1", "sql_not_allowed"),
        ("select * from pragma_table_info('note')", "sql_not_allowed"),
        ("select load_extension('{outside}')", "sql_not_allowed"),
        ("insert into note values (1)", "sql_not_allowed"),
        ("drop table note", "sql_not_allowed"),
        ("begin", "sql_not_allowed"),
        ("select * from _LEGATO_call", "sql_not_allowed"),
        ("select * from hidden", "sql_not_allowed"),
        ("select zeroblob(1000000000)", "too_large"),
        ("select replace(hex(zeroblob(90000)), '0', hex(zeroblob(90000)))", "too_large"),
        ("select 'a' like '" + "%a" * 600 + "'", "sql_error"),
        ("selec", "sql_error"),
        ("select 'a\x00'", "sql_error"),
        ("select ?", "bad_parameters"),
    ],
)
def test_a_query_that_does_more_than_read_is_refused(filled: Path, sql: str, code: str) -> None:
    outside = filled / "outside.db"
    before = (filled / "home" / "stores" / "workflow.db").read_bytes()
    outcome = query(filled, sql.format(outside=outside))
    assert (outcome.tag, outcome.code) == (Tag.ERROR, code)
    assert "; " in outcome.text
    assert not outside.exists()
    assert (filled / "home" / "stores" / "workflow.db").read_bytes() == before


@pytest.mark.parametrize("sql", [ENDLESS, ENDLESS_SUM, LONG_SEARCH])
def test_an_endless_query_ends_at_its_limit(tmp_path: Path, sql: str) -> None:
    outcome = query(tmp_path, sql, limit=0.3)
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "time_limit")


def test_a_query_that_swells_while_it_is_prepared_ends(tmp_path: Path) -> None:
    outcome = query(tmp_path, SWELLING, limit=3.0)
    assert outcome.tag is Tag.ERROR
    assert outcome.code in {"too_large", "time_limit"}


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("insert into note values (2); drop table note", "one_statement_only"),
        ("attach ':memory:' as o", "sql_not_allowed"),
        ("detach main", "sql_not_allowed"),
        ("vacuum into 'x'", "sql_not_allowed"),
        ("pragma journal_mode = delete", "sql_not_allowed"),
        ("commit", "sql_not_allowed"),
        ("savepoint s", "sql_not_allowed"),
        ("create trigger t after insert on note begin select 1; end", "sql_not_allowed"),
        ("create temp table t (a)", "sql_not_allowed"),
        ("create virtual table f using fts5 (a)", "sql_not_allowed"),
        ("delete from _legato_call", "sql_not_allowed"),
        ("update _Legato_Call set result = ''", "sql_not_allowed"),
        ("drop table _legato_call", "sql_not_allowed"),
        ("alter table _legato_call rename to c", "sql_not_allowed"),
        ("create index i on _legato_call (at)", "sql_not_allowed"),
        ("create table _legato_more (a)", "sql_not_allowed"),
        ("create table c as select * from _legato_call", "sql_not_allowed"),
        ("update sqlite_master set sql = ''", "sql_not_allowed"),
        ("delete from sqlite_sequence", "sql_not_allowed"),
        (
            "create table f (a references _legato_call (at) deferrable initially deferred)",
            "sql_not_allowed",
        ),
        ("create table f (a references sqlite_master)", "sql_not_allowed"),
        ("insert or rollback into note values (1)", "constraint_failed"),
        ("insert into child values (7)", "constraint_failed"),
    ],
)
def test_a_refused_statement_undoes_those_before_it(filled: Path, sql: str, code: str) -> None:
    before = dump(filled)
    outcome = mutate(filled, "insert into note values (5)", sql, call_id="call-2")
    assert (outcome.tag, outcome.code) == (Tag.ERROR, code)
    assert dump(filled) == before
    probe = TOOLS["mutate_workflow_db"].probe
    assert probe is not None
    assert probe({}, tool_context(filled, call_id="call-2")) == Absent()


def test_every_kind_of_allowed_definition_is_carried_out(tmp_path: Path) -> None:
    outcome = mutate(
        tmp_path,
        "create table t (id integer primary key autoincrement, v text unique)",
        "insert into t (v) values ('a')",
        "alter table t add column n integer not null default 3 check (n > 0)",
        "alter table t rename column v to w",
        "alter table t rename to u",
        "create index i on u (w)",
        "create view v as select w, n from u",
        "create table copied as select * from v",
        "drop view v",
        "drop index i",
        "alter table u drop column n",
    )
    assert outcome.tag is Tag.OK, outcome
    assert rows(query(tmp_path, "select w, n from copied")) == [["a", 3]]
    assert mutate(tmp_path, "drop table u", call_id="call-2").tag is Tag.OK


def test_the_same_call_is_applied_once_and_answers_the_same(tmp_path: Path) -> None:
    mutate(tmp_path, "create table note (a)", call_id="call-0")
    first = mutate(tmp_path, "insert into note values (1)")
    again = mutate(tmp_path, "insert into note values (1)")
    probe = TOOLS["mutate_workflow_db"].probe
    assert probe is not None
    probed = probe({}, tool_context(tmp_path))
    assert isinstance(probed, Executed)
    assert first == again == probed.outcome
    assert rows(query(tmp_path, "select count(*) from note")) == [[1]]


def test_a_call_that_never_ran_is_absent(tmp_path: Path) -> None:
    probe = TOOLS["mutate_workflow_db"].probe
    assert probe is not None
    assert probe({}, tool_context(tmp_path)) == Absent()
    mutate(tmp_path, "create table note (a)")
    assert probe({}, tool_context(tmp_path, call_id="call-9")) == Absent()


def test_a_reader_cannot_mutate(tmp_path: Path) -> None:
    context = tool_context(tmp_path, profile=Profile.READER)
    with pytest.raises(LegatoError) as raised:
        TOOLS["mutate_workflow_db"].execute({"statements": [{"sql": "select 1"}]}, context)
    assert raised.value.code == "not_a_writer"
    assert not Path(context.stores, "workflow.db").exists()


def test_a_file_that_is_no_database_is_said_to_be_unreadable(tmp_path: Path) -> None:
    stores = Path(tool_context(tmp_path).stores)
    (stores / "workflow.db").write_bytes(b"not a database at all" * 500)
    assert query(tmp_path, "select * from note").code == "database_unreadable"
    assert mutate(tmp_path, "create table t (a)").code == "database_unreadable"


def test_a_writer_that_waits_too_long_is_told_that_the_database_is_busy(tmp_path: Path) -> None:
    mutate(tmp_path, "create table note (a)")
    context = tool_context(tmp_path, call_id="call-2", limit=2.0)
    other = sqlite3.connect(Path(context.stores) / "workflow.db", isolation_level=None)
    other.execute("begin immediate")
    statements: Json = [{"sql": "insert into note values (1)"}]
    outcome = outcome_of(TOOLS["mutate_workflow_db"], context, statements=statements)
    other.close()
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "database_busy")
    assert rows(query(tmp_path, "select count(*) from note")) == [[0]]
