"""Each import contract holds on the tree, and breaks when it is violated."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, ROOT

VIOLATIONS = [
    ("Imports point inward", "domain/injected.py", "import ledger"),
    ("Imports point inward", "ledger/injected.py", "import workflows"),
    ("Imports point inward", "activities/injected.py", "import legato"),
    ("Imports point inward", "legato/injected.py", "import activities"),
    ("Workflows know the domain only", "workflows/injected.py", "import ledger"),
    ("Workflows know the domain only", "workflows/injected.py", "import activities"),
    ("Workflows know the domain only", "workflows/injected.py", "import sqlalchemy"),
    ("Workflows know the domain only", "workflows/injected.py", "import pydantic_ai"),
    ("The operator's side never loads a model or a tool", "legato/injected.py", "import workers"),
    ("The operator's side never loads a model or a tool", "legato/injected.py", "import openai"),
    ("Activities never see workflows", "activities/injected.py", "import workflows"),
    ("The ledger knows nothing of Temporal or models", "ledger/injected.py", "import temporalio"),
    ("The domain is pure", "domain/injected.py", "import sqlalchemy"),
    ("The domain is pure", "domain/injected.py", "import temporalio"),
    ("The domain is pure", "domain/injected.py", "import os"),
    ("The domain is pure", "domain/injected.py", "def now():\n    import time"),
]


def copy_of_the_tree(into: Path) -> Path:
    """Copy the product packages and their rules, so that a violation touches nothing here."""
    for name in PRODUCT:
        shutil.copytree(ROOT / name, into / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", into)
    return into


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts over a tree."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def test_the_contracts_hold_on_this_tree(tmp_path: Path) -> None:
    """Without a violation all contracts are kept."""
    ran = lint(copy_of_the_tree(tmp_path))

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 broken" in ran.stdout


@pytest.mark.parametrize(("contract", "file", "line"), VIOLATIONS)
def test_a_contract_breaks_when_violated(
    contract: str, file: str, line: str, tmp_path: Path
) -> None:
    """One forbidden import breaks the contract that forbids it."""
    tree = copy_of_the_tree(tmp_path)
    (tree / file).write_text(f'"""A violation."""\n\n{line}\n', encoding="utf-8")

    ran = lint(tree)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"{contract} BROKEN" in ran.stdout
