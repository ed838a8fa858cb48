"""The run's engine knows no product word: no role, no workflow of a role, no tool family."""

import re
from collections.abc import Iterator

import pytest

from tests.architecture.tree import ROOT, Source, parse, sources

ENGINE_FOLDERS = ("domain/tools", "domain/runs")
ENGINE_FILES = ("workflows/agent_run", "activities/take_step", "activities/run_tool")
# `manifest` alone is the list of a run's tools; the governed documents are the plural.
WORDS = {
    "bubblewrap", "builder", "bwrap", "manifests", "review", "reviewer", "reviews",
    "role", "roles", "shell", "sqlite", "sqlite3",
}  # fmt: skip
NAMES = {
    "check_and_fix", "edit_file", "find_files", "git_diff", "list_files", "move_file",
    "mutate_workflow_db", "query_workflow_db", "read_file", "review_fix", "run_command",
    "search_files", "workflow_db", "write_file",
}  # fmt: skip
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
PIECE = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def engine() -> tuple[Source, ...]:
    """The files that must stay free of product words; those not yet written are none."""
    files = (path for stem in ENGINE_FILES for path in ROOT.glob(f"{stem}.py"))
    packages = sources(*(stem for stem in ENGINE_FILES if (ROOT / stem).is_dir()))
    return (*sources(*ENGINE_FOLDERS), *packages, *(parse(path) for path in sorted(files)))


def product_words(text: str) -> Iterator[tuple[int, str]]:
    """Line and word of each product word, in code, text and comments alike."""
    for number, line in enumerate(text.splitlines(), start=1):
        for name in IDENTIFIER.findall(line):
            pieces = [piece.lower() for piece in PIECE.findall(name)]
            snake = "_".join(pieces)
            if WORDS.intersection(pieces) or any(known in snake for known in NAMES):
                yield number, name


@pytest.mark.parametrize("source", engine(), ids=str)
def test_an_engine_file_holds_no_product_word(source: Source) -> None:
    """What is one product's stays in its definition, data and tool files."""
    assert list(product_words(source.text)) == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("# the role decides", "role"),
        ("if agent.role_name:", "role_name"),
        ("class ReviewFix:", "ReviewFix"),
        ('steps = ("review",)', "review"),
        ("import sqlite3", "sqlite3"),
        ('tool == "read_file"', "read_file"),
        ("manifests = ()", "manifests"),
    ],
)
def test_a_product_word_is_seen(line: str, word: str) -> None:
    """The check is seen to fail."""
    assert list(product_words(line)) == [(1, word)]


@pytest.mark.parametrize("line", ["the tool manifest", "a controlled roll", "shelled, reviewing"])
def test_other_words_pass(line: str) -> None:
    """Only whole words count."""
    assert list(product_words(line)) == []
