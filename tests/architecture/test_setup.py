"""`make setup` works from nothing: a path with a space, an empty home; a second time is a no-op."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, ROOT

FILES = ("Makefile", "README.md", "pyproject.toml", "requirements.lock", "requirements-uv.lock")


def checkout(into: Path) -> Path:
    """Copy what an installation needs into a folder whose name has a space."""
    tree = into / "a check out"
    for name in PRODUCT:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree)
    return tree


def make(target: str, tree: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run one target in a tree as somebody with this home."""
    environment = {**os.environ, "HOME": str(home)}
    return subprocess.run(
        ["make", target],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_setup_from_nothing_then_nothing_to_do(tmp_path: Path) -> None:
    """The environment runs this tree's packages, and a second call installs nothing."""
    tree = checkout(tmp_path)
    home = tmp_path / "home"
    home.mkdir()

    first = make("setup", tree, home)
    second = make("setup", tree, home)
    where = subprocess.run(
        [str(tree / ".venv/bin/python"), "-c", "import domain; print(domain.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert first.returncode == 0, first.stdout + first.stderr
    assert second.returncode == 0
    assert "installing" in first.stdout
    assert "installing" not in second.stdout
    assert Path(where.stdout.strip()) == tree / "domain/__init__.py"


def test_help_lists_the_targets_with_what_they_do() -> None:
    """`make` alone explains itself."""
    helped = make("help", ROOT, ROOT)

    assert helped.returncode == 0
    for target in ("setup", "demo", "check", "test", "slow", "soak", "bench", "lock", "clean"):
        assert f"make {target} " in helped.stdout
