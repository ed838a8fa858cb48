"""The page on imports lists the codes that a report can hold, and no other."""

from __future__ import annotations

import ast
import re

from domain.agents.files.codes import CODES
from tests.architecture.tree import ROOT, parse

SOURCES = (
    *sorted((ROOT / "domain" / "agents" / "imported").glob("*.py")),
    ROOT / "legato" / "drafts.py",
)
MAKERS = {
    "FieldReport", "_bad", "_changed", "_dropped", "_kept", "_lost", "_none", "_not_here", "_open",
    "_refused", "row", "_unclear",
}  # fmt: skip
CODE = re.compile(r"[a-z]+(_[a-z]+)+|kept|renamed")
FIELDS = {"execution_max_turns", "agent_configs"}


def listed() -> set[str]:
    """The codes in the page's table of them."""
    page = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
    table = page.partition("| code | |\n")[2]
    return {
        code
        for line in table.splitlines()
        for code in re.findall(r"`(\w+)`", line[: line.find("| ", 2)])
    }


def told() -> set[str]:
    """The codes that reports are made with: texts given where a row is made."""
    found: set[str] = set()
    for path in SOURCES:
        for node in ast.walk(parse(path).tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in MAKERS:
                given = [*node.args, *(one.value for one in node.keywords if one.arg == "code")]
                found |= {code for one in given for code in _codes(one)}
    return found - FIELDS


def _codes(node: ast.expr) -> set[str]:
    texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return {text for text in texts if isinstance(text, str) and CODE.fullmatch(text)}


def test_every_code_of_a_report_is_on_the_page() -> None:
    assert len(told()) > 40
    assert told() - listed() - set(CODES) == set()


def test_every_code_on_the_page_is_in_the_code() -> None:
    whole = "".join(path.read_text(encoding="utf-8") for path in SOURCES)

    assert {code for code in listed() if f'"{code}"' not in whole} == set()
