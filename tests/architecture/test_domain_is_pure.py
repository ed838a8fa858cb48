"""The domain uses an allow-list of modules and calls nothing that asks the world."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.tree import Source, sources

WHOLE = {
    "__future__", "abc", "base64", "binascii", "bisect", "collections", "copy", "dataclasses",
    "datetime", "decimal", "difflib", "enum", "fnmatch", "fractions", "functools", "graphlib",
    "hashlib", "heapq", "hmac", "itertools", "json", "keyword", "math", "operator", "re", "shlex",
    "statistics", "string", "struct", "textwrap", "tomllib", "types", "typing", "unicodedata",
    "zlib", "domain", "jsonschema", "orjson", "pydantic", "referencing", "typing_extensions",
}  # fmt: skip
IN_PART = {
    "contextlib": {"AbstractAsyncContextManager", "AbstractContextManager"},
    "pathlib": {"PurePath", "PurePosixPath"},
    "urllib.parse": {"quote", "unquote", "urlsplit", "urlunsplit"},
    "uuid": {"UUID", "uuid5"},
}
CLOCKS = {"fromtimestamp", "now", "today", "utcnow"}
EFFECTS = {"__import__", "breakpoint", "eval", "exec", "input", "open", "print"}


def impurities(tree: ast.AST) -> Iterator[str]:
    """Whatever in a module reaches beyond its arguments."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if root(name.name) not in WHOLE)
            case ast.ImportFrom(module=str(module), names=names) if root(module) not in WHOLE:
                part = IN_PART.get(module, set[str]())
                yield from (f"{module}.{name.name}" for name in names if name.name not in part)
            case ast.Call(func=ast.Name(id=name)) if name in EFFECTS:
                yield f"{name}()"
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name(id="date" | "datetime"))):
                yield from (f"datetime.{clock}()" for clock in CLOCKS if clock == name)
            case _:
                pass


def root(module: str) -> str:
    """The first part of a dotted name."""
    return module.partition(".")[0]


@pytest.mark.parametrize("source", sources("domain"), ids=str)
def test_a_domain_module_is_pure(source: Source) -> None:
    """It imports from the allow-list only and has no effect of its own."""
    assert list(impurities(source.tree)) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import os", "os"),
        ("import os.path", "os"),
        ("from time import time", "time.time"),
        ("from pathlib import Path", "pathlib.Path"),
        ("from uuid import uuid4", "uuid.uuid4"),
        ("datetime.now(UTC)", "datetime.now()"),
        ("open('x')", "open()"),
    ],
)
def test_an_impurity_is_seen(line: str, found: str) -> None:
    """The check is seen to fail."""
    assert [seen.removesuffix(".path") for seen in impurities(ast.parse(line))] == [found]
