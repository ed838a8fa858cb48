"""Older fields about a store change nothing; what the profile gives more or less is told."""

from __future__ import annotations

import pytest

from domain.agents.imported.step_config import Asked, translate
from domain.agents.imported.step_file import read_steps
from domain.agents.profile import Profile
from tests.support.saved_steps import a_file, row_of, translated

KB = "knowledgebase"


@pytest.mark.parametrize(
    ("config", "field", "widens", "narrows"),
    [
        ({"db_access": "read"}, "db_access", ("database:write",), ()),
        ({"db_access": "none"}, "db_access", ("database:read", "database:write"), ()),
        ({"db_access": "read-write"}, "db_access", (), ()),
        ({"db_access": "Read_Write "}, "db_access", (), ()),
        ({"db_access": "read", "profile": "reader"}, "db_access", (), ()),
        ({"db_access": "read-write", "profile": "reader"}, "db_access", (), ("database:write",)),
        (
            {"knowledgebase_access": "read"},
            "knowledgebase_access",
            (f"{KB}:write",),
            (),
        ),
        (
            {"knowledgebase_access": "write", "knowledgebase_contribution": "what we learn"},
            "knowledgebase_access",
            (f"{KB}:read",),
            (),
        ),
        (
            {"knowledgebase_access": "write", "knowledgebase_contribution": " "},
            "knowledgebase_access",
            (f"{KB}:read", f"{KB}:write"),
            (),
        ),
        (
            {
                "knowledgebase_access": "write",
                "knowledgebase_contribution": "x",
                "profile": "reader",
            },
            "knowledgebase_access",
            (f"{KB}:read",),
            (f"{KB}:write",),
        ),
        ({"learnings_access": "read-write"}, "learnings_access", ("learnings:write",), ()),
        (
            {"learnings_access": "read-write", "learning_objective": "x"},
            "learnings_access",
            (),
            (),
        ),
        (
            {"learnings_access": "none"},
            "learnings_access",
            ("learnings:read", "learnings:write"),
            (),
        ),
        ({"lock_learnings": True}, "lock_learnings", ("learnings:write",), ()),
        ({"lock_learnings": False}, "lock_learnings", (), ()),
        ({"lock_learnings": True, "profile": "reader"}, "lock_learnings", (), ()),
        ({"disable_learning": True}, "disable_learning", ("learnings:write",), ()),
        ({"learning_detail_level": "none"}, "learning_detail_level", ("learnings:write",), ()),
        ({"learning_detail_level": "exact"}, "learning_detail_level", (), ()),
        ({"write_access": {"db": False}}, "write_access.db", ("database:write",), ()),
        ({"write_access": {"kb": True}}, "write_access.kb", (), ()),
        ({"write_access": {"kb": "none"}}, "write_access.kb", (f"{KB}:write",), ()),
    ],
)
def test_a_field_is_compared_with_what_the_profile_gives(
    config: dict[str, object], field: str, widens: tuple[str, ...], narrows: tuple[str, ...]
) -> None:
    row = row_of(translated(config).rows, field)

    assert (row.widens, row.narrows) == (widens, narrows)


@pytest.mark.parametrize(
    "config",
    [
        {"db_access": "none", "knowledgebase_access": "none", "learnings_access": "none"},
        {"db_access": "read-write", "lock_learnings": True, "write_access": True},
        {"learning_detail_level": "none", "disable_learning": True},
    ],
)
def test_no_such_field_changes_the_step(config: dict[str, object]) -> None:
    assert translated(config).step == translated({}).step


def test_a_disagreement_is_for_a_person_until_a_profile_is_stored() -> None:
    open_ = row_of(translated({"db_access": "read"}).rows, "db_access")
    chosen = row_of(translated({"db_access": "read", "profile": "writer"}).rows, "db_access")

    assert (open_.person, chosen.person) == (True, False)
    assert open_.widens == chosen.widens == ("database:write",)
    assert "profile" in open_.next


def test_what_an_unsaid_field_had_meant_is_told_and_is_nobodys_case() -> None:
    for config in ({}, {"knowledgebase_access": None}, {"knowledgebase_access": " "}):
        row = row_of(translated(config).rows, "knowledgebase_access")
        assert (row.became, row.person) == ("defaulted", False)
        assert row.widens == (f"{KB}:read", f"{KB}:write")
    stood = [
        row_of(translated(config).rows, "learnings_access").given
        for config in ({}, {"learnings_access": None}, {"learnings_access": ""})
    ]
    assert stood == ["absent", "null", "empty"]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"db_access": "admin"}, "db_access"),
        ({"db_access": 1}, "db_access"),
        ({"lock_learnings": "yes"}, "lock_learnings"),
        ({"learning_detail_level": "some"}, "learning_detail_level"),
        ({"write_access": {"billing": True}}, "write_access"),
        ({"write_access": {"db": 3}}, "write_access.db"),
    ],
)
def test_what_nobody_can_read_is_for_a_person(config: dict[str, object], field: str) -> None:
    row = row_of(translated(config).rows, field)

    assert (row.became, row.code, row.person) == ("dropped", "store_unclear", True)


def test_a_reader_asked_for_by_the_call_is_what_the_fields_are_compared_with() -> None:
    file = read_steps(a_file(one={"db_access": "read"}))
    found = translate(file.entries[0], file.form, Asked(profile=Profile.READER))

    assert row_of(found.rows, "db_access").code == "store_same"
