"""A file of items that is anything else is refused in words, and no line of it is repeated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from legato.items import read_items

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = "{kind: command, command: x, limit: %s}"


def refusal(path: Path | str) -> LegatoError:
    with pytest.raises(LegatoError) as caught:
        read_items(str(path))
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "- 2024-99-99",
        "- " + "9" * 5000,
        "[" * 3000 + "]" * 3000,
        '- !!int ""',
        "- !!float x",
        "- !!bool x",
        "- !!timestamp x",
    ],
    ids=["date", "number", "depth", "int", "float", "bool", "timestamp"],
)
def test_a_value_that_cannot_be_made_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "items.yaml"
    file.write_text(text)

    assert refusal(file).code == "items_invalid"


def test_a_line_that_is_no_yaml_is_named_by_its_place_and_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "items.yaml"
    file.write_text("- {kind: message}\nTOKEN: [planted-secret\n")

    said = str(refusal(file))

    assert "line 2" in said
    assert "planted" not in said


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    assert "more than" in refusal("/dev/zero").message
    assert refusal("a\0b").code == "items_unreadable"


@pytest.mark.parametrize(
    "check",
    [
        *(COMMAND % limit for limit in (".nan", ".inf", "-1", "0", "1e300")),
        "{kind: file, path: x, equals: .nan}",
        "{kind: rows, sql: select 1, at_least: -1}",
        f"{{kind: rows, sql: select 1, at_least: {10**30}}}",
    ],
)
def test_a_number_that_no_check_can_keep_to_is_refused(tmp_path: Path, check: str) -> None:
    file = tmp_path / "items.yaml"
    file.write_text(f"- {{kind: prevalidation, name: p, checks: [{check}]}}")

    error = refusal(file)

    assert error.code == "items_invalid"
    assert "item 1 (p): " in json.dumps(error.details)
