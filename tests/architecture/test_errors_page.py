"""The page of error codes lists exactly the codes that the code can give, with true statuses."""

import importlib.util
import re
import sys
from types import ModuleType

from domain.errors import Kind, rule_of
from tests.architecture.tree import ROOT

PAGE = ROOT / "docs" / "errors.md"
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| (\d+) \| (\d+) \| (yes|no) \|", re.MULTILINE)
AGAIN = "run `.venv/bin/python docs/make_errors.py`"


def maker() -> ModuleType:
    """Load the program that writes the page."""
    spec = importlib.util.spec_from_file_location("make_errors", ROOT / "docs/make_errors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def test_the_page_lists_every_code_and_no_other() -> None:
    """Whoever adds a code writes the page anew."""
    listed = [row[0] for row in ROW.findall(PAGE.read_text(encoding="utf-8"))]

    assert listed == sorted(maker().raised()), AGAIN


def test_the_page_gives_the_statuses_of_the_table() -> None:
    """The page and the program agree on what a code means."""
    for code, kind, exit_status, http, retry in ROW.findall(PAGE.read_text(encoding="utf-8")):
        rule = rule_of(code, Kind(kind))
        given = (int(exit_status), int(http), retry == "yes")
        assert given == (rule.exit, rule.http, rule.retry), f"{code}: {AGAIN}"
