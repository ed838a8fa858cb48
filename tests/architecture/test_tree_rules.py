"""Small rules of the tree: the lock, the names, the exceptions and where settings are read."""

import ast
import re
import stat
from collections.abc import Iterator

import pytest

from tests.architecture.tree import CODE, PRODUCT, ROOT, Source, sources

VAGUE = {"base", "common", "core", "helper", "helpers", "manager", "service", "util", "utils"}
BARE_TYPE_IGNORE = re.compile(r"#\s*(type|pyright):\s*ignore(?!\[)")
BARE_NOQA = re.compile(r"#\s*noqa(?!: [A-Z]+\d+(, ?[A-Z]+\d+)* (- |\()\w)", re.IGNORECASE)
SETTINGS = "legato/settings.py"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-uv.lock"])
def test_a_lock_pins_by_hash_and_names_no_host(name: str) -> None:
    """Whoever installs chooses the index; what is installed is fixed."""
    text = (ROOT / name).read_text(encoding="utf-8")
    pins = re.findall(r"^[a-zA-Z0-9_.-]+(?:\[[^]]*\])?==\S+", text, re.MULTILINE)
    entries = re.findall(r"^[a-zA-Z0-9_.-]+", text, re.MULTILINE)

    assert pins
    assert len(pins) == len(entries)
    assert len(re.findall(r"\\\n    --hash=sha256:", text)) >= len(pins)
    assert re.search(r"://|index-url|find-links|@ ", text) is None


def test_there_is_one_lock_only() -> None:
    """A `uv.lock` would hold the addresses of an index."""
    assert not (ROOT / "uv.lock").exists()


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", ".gitignore"])
def test_the_tree_explains_itself(name: str) -> None:
    """The files a newcomer looks for are there and say something."""
    assert (ROOT / name).read_text(encoding="utf-8").strip()


def test_the_gate_can_be_started() -> None:
    """`.ci/run` is a program."""
    assert (ROOT / ".ci/run").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize("source", sources(*PRODUCT), ids=str)
def test_a_module_says_why_it_exists_and_has_a_telling_name(source: Source) -> None:
    """A docstring first, and no name that could hold anything."""
    assert ast.get_docstring(source.tree)
    assert VAGUE.isdisjoint(part.removesuffix(".py") for part in source.path.parts)


@pytest.mark.parametrize("source", sources(*CODE), ids=str)
def test_an_exception_from_a_rule_names_the_rule_and_the_reason(source: Source) -> None:
    """`type: ignore` has its code; `noqa` has its code and then ` - why`."""
    lines = [line for line in source.text.splitlines() if "BARE_" not in line]
    bare = [line for line in lines if BARE_TYPE_IGNORE.search(line) or BARE_NOQA.search(line)]

    assert bare == []


def environment_reads(tree: ast.AST) -> Iterator[int]:
    """The lines that read the process's environment."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "getenv" | "environb"):
                yield node.lineno
            case ast.ImportFrom(module="os", names=names):
                yield from (node.lineno for n in names if n.name in {"environ", "getenv"})
            case _:
                pass


@pytest.mark.parametrize("source", sources(*PRODUCT), ids=str)
def test_the_environment_is_read_in_settings_only(source: Source) -> None:
    """One file answers where a setting comes from."""
    assert str(source) == SETTINGS or list(environment_reads(source.tree)) == []


@pytest.mark.parametrize(
    "line", ["import os; os.environ['A']", "import os; os.getenv('A')", "from os import environ"]
)
def test_a_read_of_the_environment_is_seen(line: str) -> None:
    """The check is seen to fail."""
    assert list(environment_reads(ast.parse(line))) == [1]


def test_a_bare_exception_is_seen() -> None:
    """The check is seen to fail, and a reasoned one passes."""
    hash_sign = "#"

    assert BARE_TYPE_IGNORE.search(f"x = 1  {hash_sign} type: ignore")
    assert not BARE_TYPE_IGNORE.search(f"x = 1  {hash_sign} type: ignore[arg-type]")
    assert BARE_NOQA.search(f"x = 1  {hash_sign} noqa")
    assert BARE_NOQA.search(f"x = 1  {hash_sign} noqa: S101")
    assert not BARE_NOQA.search(f"x = 1  {hash_sign} noqa: S101 - pytest's way")
