"""Whatever the program tells people to run is there: each command, flag and module it names."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from legato.cli.program import legato
from tests.architecture.tree import PRODUCT, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.architecture.tree import Source

COMMAND = re.compile(r"`legato( [^`]*)?`")
MODULE = re.compile(r"python -m ([A-Za-z_.]+)")
FLAG = re.compile(r"--[a-z][a-z-]*")


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text in code, the values in it written as `X`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def wrong(text: str) -> list[str]:
    """What a text tells people to run, and is not there."""
    modules = [said for said in MODULE.findall(text) if not _runs(said)]
    commands = [f"legato{said}" for said in COMMAND.findall(text) if not _exists(said.split())]
    return [*modules, *commands]


def _runs(module: str) -> bool:
    """Tell whether `python -m` has something to run in a module."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return False
    path = Path(spec.origin)
    if path.name == "__init__.py":
        return path.with_name("__main__.py").exists()
    return "__main__" in path.read_text()


def _exists(words: list[str]) -> bool:
    command: click.Command = legato
    context = click.Context(legato)
    while words and isinstance(command, click.Group):
        if words[0].startswith("-"):
            break
        under = command.get_command(context, words[0])
        if under is None:
            return False
        command, words = under, words[1:]
    known = {name for option in command.get_params(context) for name in option.opts}
    return all(flag in known for flag in FLAG.findall(" ".join(words)))


@pytest.mark.parametrize("source", sources(*PRODUCT), ids=str)
def test_what_a_text_tells_people_to_run_is_there(source: Source) -> None:
    """In errors, findings, screens and help alike."""
    assert [one for text in texts(source.tree) for one in wrong(text)] == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("see `legato fork X`", ["legato fork X"]),
        ("see `legato show X --everything`", ["legato show X --everything"]),
        ("run `legato ledger mend`", ["legato ledger mend"]),
        ("run `python -m ledger.nothing`", ["ledger.nothing"]),
        ("run `python -m ledger.reads`", ["ledger.reads"]),
        ("`legato log X --follow`, `legato ledger verify`, `legato up`, `legato`", []),
    ],
)
def test_what_is_not_there_is_seen(text: str, missing: list[str]) -> None:
    """The check is seen to fail."""
    assert wrong(text) == missing
