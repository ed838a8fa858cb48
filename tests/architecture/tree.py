"""The checkout as the architecture tests see it: its folders, files and parsed sources."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("domain", "ledger", "workflows", "activities", "workers", "legato")
CODE = (*PRODUCT, "tests", "bench")


@dataclass(frozen=True)
class Source:
    """One Python file: its path relative to the checkout, its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    def __str__(self) -> str:
        """Give the path, as pytest and messages show it."""
        return str(self.path)


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Each Python file under the folders, in order of path; a missing folder holds none."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(parse(path) for path in sorted(found))


def parse(path: Path) -> Source:
    """Read one file of the checkout."""
    text = path.read_text(encoding="utf-8")
    return Source(path.relative_to(ROOT), text, ast.parse(text, str(path)))


def module_name(path: Path) -> str:
    """The dotted import name of a relative path such as `domain/runs/run.py`."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
