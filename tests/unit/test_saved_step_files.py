"""A file of saved steps is read in every form there was, and never with a value in its report."""

from __future__ import annotations

import json

import pytest

from domain.agents.imported.step_file import (
    MOST_BYTES,
    MOST_STEPS,
    find_entry,
    read_bytes,
    read_steps,
)
from tests.support.saved_steps import a_file, real_file, refused_codes


@pytest.mark.parametrize("form", ["object", "array"])
def test_the_root_may_be_an_object_or_the_older_list(form: str) -> None:
    file = read_steps(a_file(form=form, fetch={}, store={}))

    assert (file.form, [entry.id for entry in file.entries], file.rows) == (
        form,
        ["fetch", "store"],
        (),
    )


def test_a_byte_order_mark_and_odd_indentation_do_not_matter() -> None:
    file = read_steps('\ufeff{ "steps":\n\n[{"id":\t"a"}]}')

    assert [entry.id for entry in file.entries] == ["a"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "json_invalid"),
        ("{", "json_invalid"),
        ('{"steps": [NaN]}', "json_invalid"),
        ("[" * 100_000, "json_invalid"),
        ('{"steps": [{"id": ' + "9" * 5000 + "}]}", "json_invalid"),
        ('"a"', "root_invalid"),
        ("null", "root_invalid"),
        ("{}", "steps_missing"),
        ('{"steps": {"a": {}}}', "steps_invalid"),
        ('{"steps": [' + ",".join(["{}"] * (MOST_STEPS + 1)) + "]}", "steps_invalid"),
        ('{"steps": [], "steps": []}', "key_repeated"),
        ('{"steps": [{"id": "a", "agent_configs": {"x": 1, "x": 2}}]}', "key_repeated"),
        ('{"legato_steps": 2, "steps": []}', "version_unknown"),
        ('{"legato_steps": true, "steps": []}', "version_unknown"),
        ('{"legato_steps": 1, "steps": [], "more": 1}', "field_unknown"),
        ("[" + " " * MOST_BYTES + "]", "file_too_large"),
        ('{"steps": [1]}', "step_invalid"),
        ('{"steps": [{"agent_configs": {}}]}', "step_id_missing"),
        ('{"steps": [{"id": " "}]}', "step_id_missing"),
        ('{"steps": [{"id": 7}]}', "step_id_missing"),
        ('{"steps": [{"id": "a"}, {"id": "a", "title": "other"}]}', "step_repeated"),
    ],
)
def test_what_is_wrong_with_a_file_has_a_code(text: str, code: str) -> None:
    assert code in refused_codes(read_steps(text))


def test_no_steps_are_no_mistake() -> None:
    for text in ('{"steps": []}', '{"steps": null}', "[]"):
        assert (read_steps(text).entries, read_steps(text).rows) == ((), ())


def test_fields_beside_the_steps_are_told_and_keep_nobody_from_launching() -> None:
    file = read_steps('{"steps": [{"id": "a"}], "owner": "secret-owner"}')
    entry, rows = find_entry(file, "a")

    assert entry is not None
    assert [row.code for row in rows] == ["field_unknown"]
    assert "secret-owner" not in repr(rows)


def test_one_broken_step_does_not_keep_the_others_back() -> None:
    file = read_steps('{"steps": [3, {"title": "x"}, {"id": "good"}]}')

    assert find_entry(file, "good")[0] is not None
    assert refused_codes(file) == {"step_invalid", "step_id_missing"}


def test_the_only_step_needs_no_name_and_one_of_several_does() -> None:
    only, several = read_steps(a_file(fetch={})), read_steps(a_file(fetch={}, store={}))

    found, _ = find_entry(only, "")
    none, rows = find_entry(several, "")
    assert found is not None
    assert found.id == "fetch"
    assert none is None
    assert (rows[0].code, rows[0].next) == (
        "step_ambiguous",
        "name one of them after #: fetch, store",
    )


def test_an_unknown_step_is_told_which_there_are() -> None:
    entry, rows = find_entry(read_steps(real_file()), "nobody")

    assert entry is None
    assert rows[0].code == "step_missing"
    assert "read-ledger, sign-in, one-time-code" in rows[0].next


def test_the_same_step_twice_is_one_and_two_that_differ_are_none() -> None:
    same: dict[str, object] = {"id": "a", "agent_configs": {}}
    other = {"id": "a", "agent_configs": {"lock_learnings": True}}

    assert find_entry(read_steps(json.dumps([same, same])), "a")[0] is not None
    entry, rows = find_entry(read_steps(json.dumps([same, other])), "a")
    assert entry is None
    assert rows[-1].code == "step_ambiguous"


def test_an_id_that_is_no_plain_name_is_not_repeated_in_a_report() -> None:
    file = read_steps('{"steps": [{"id": "Bearer abc/def"}, {"id": "a"}]}')

    assert file.names == ("a",)
    assert [entry.name for entry in file.entries] == ["step 1", "a"]


def test_bytes_that_are_no_text_or_too_many_are_told_apart() -> None:
    assert refused_codes(read_bytes(b"\xff\xfe")) == {"not_text"}
    assert refused_codes(read_bytes(b" " * MOST_BYTES + "\u00e9".encode())) == {"file_too_large"}
    assert read_bytes(a_file(one={}).encode()).names == ("one",)
