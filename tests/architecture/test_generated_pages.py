"""The pages made from the code are what the code makes of them today."""

import importlib.util
import re
import subprocess
import sys
from types import ModuleType
from typing import get_args

import pytest

from domain.events import Fact
from domain.runs.run import TRANSITIONS, Status
from tests.architecture.tree import ROOT


def maker() -> ModuleType:
    """Load the program that writes the pages."""
    spec = importlib.util.spec_from_file_location("make_events", ROOT / "docs/make_events.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["events.md", "states.md"])
def test_a_committed_page_is_what_the_code_makes_of_it(name: str) -> None:
    """Whoever changes an event or a state makes the pages anew."""
    committed = (ROOT / "docs" / name).read_text(encoding="utf-8")

    assert committed == maker().PAGES[name](), "run `make docs`"


def test_every_event_has_a_section_with_its_fields() -> None:
    """The page is complete, and nothing in it was left unnamed."""
    text = maker().events_page()
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))

    for fact in get_args(Fact):
        section = sections[str(fact.model_fields["type"].default)]
        fields = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
        assert fields == set(fact.model_fields) - {"type"}
    links = set(re.findall(r"\]\(#(\w+)\)", text))
    anchors = {h.replace(".", "").lower() for h in re.findall(r"^#+ (\S+)$", text, re.MULTILINE)}
    assert links <= anchors


def test_the_diagram_has_an_arrow_for_every_row_of_the_table() -> None:
    """And every state is in it."""
    text = maker().diagram()

    for (source, event), target in TRANSITIONS.items():
        if event != "run.ended":
            assert f"{source.value} --> {target.value} : {event}" in text
    assert all(re.search(rf"\b{status.value}\b", text) for status in Status)


def test_the_pages_are_written_by_running_the_program() -> None:
    """What `make docs` runs ends well."""
    done = subprocess.run(
        [sys.executable, "docs/make_events.py"], cwd=ROOT, check=False, capture_output=True
    )

    assert (done.returncode, done.stderr) == (0, b"")
