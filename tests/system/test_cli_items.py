"""A sequence of one's own: read from a file, worked through, refused with all that is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.stack import calls, text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stack import LiveStack

WRITTEN = {"path": "plan.json", "content": '{"release": {"version": "1.2"}}'}
ITEMS = [
    {"kind": "message", "name": "plan", "text": "Write the plan."},
    {"kind": "reflection", "name": "doubts", "text": "What could be wrong with it?"},
    {
        "kind": "prevalidation",
        "name": "proof",
        "checks": [
            {"kind": "command", "command": "test -f plan.json"},
            {"kind": "file", "path": "plan.json", "json_path": "release.version", "equals": "1.2"},
            {"kind": "rows", "sql": "select 1", "at_least": 1},
        ],
    },
]


def items_file(stack: LiveStack, name: str, content: object) -> Path:
    file = stack.files / f"{name}.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


@pytest.mark.slow
def test_items_of_a_file_are_worked_through_and_checked(stack: LiveStack) -> None:
    folder = stack.workspace("itemised", note__txt="x\n")
    wrong = {**WRITTEN, "content": '{"release": {"version": "1.1"}}'}
    model = stack.script(
        "itemised",
        calls(("write_file", wrong)),
        text("planned"),
        text("all is well"),
        calls(("write_file", {**WRITTEN, "expected_revision": "{{result.0.revision}}"})),
        text("mended"),
    )
    given = ("-w", str(folder), "-m", model, "--items", str(items_file(stack, "good", ITEMS)))

    ran = stack.cli("--json", "run", "generic", *given)

    assert (ran.code, ran.json["status"]) == (0, "completed"), ran.out + ran.err
    assert ran.json["items_done"] == 3
    shown = stack.inside("show", ran.json["run_id"]).out
    assert all(name in shown for name in ("plan", "doubts", "proof"))
    assert json.loads((folder / "plan.json").read_text())["release"]["version"] == "1.2"


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("- {kind: message", "items_invalid", ["it is not YAML"]),
        ([], "items_invalid", ["no items"]),
        ({"kind": "message"}, "items_invalid", ["it is no list of items"]),
        (
            [{"kind": "poem", "name": "a"}, {"kind": "message", "name": "b", "wrong": 1}],
            "items_invalid",
            ["item 1.kind", "item 2.wrong"],
        ),
        (
            [{"kind": "message", "name": ""}, {"kind": "prevalidation", "name": "p"}],
            "items_invalid",
            ["item 1 (unnamed) has no name", "item 1 (unnamed) says nothing", "without checks"],
        ),
    ],
)
def test_a_file_of_items_is_refused_with_all_that_is_wrong(
    stack: LiveStack, content: object, code: str, said: list[str]
) -> None:
    file = items_file(stack, "bad", content)

    refused = stack.inside("--json", "run", "generic", "--items", str(file))

    assert (refused.code, refused.error["code"]) == (3, code)
    assert all(one in refused.error["message"] for one in said), refused.error["message"]


def test_items_come_from_a_file_that_is_there_and_without_a_message(stack: LiveStack) -> None:
    gone = stack.inside("--json", "run", "generic", "--items", "/nowhere/items.yaml")
    both = stack.inside("--json", "run", "generic", "do it", "--items", "/nowhere/items.yaml")

    assert (gone.code, gone.error["code"]) == (3, "items_unreadable")
    assert (both.code, both.error["code"]) == (2, "usage")
    assert "not both" in both.error["message"]
