"""The plain folder names resolve to this checkout, and the wheel holds all they need."""

import importlib.util
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.tree import PRODUCT, ROOT


def settings() -> dict[str, Any]:
    """The content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PRODUCT)
def test_each_root_name_resolves_to_this_checkout(name: str) -> None:
    """No installed package of the same plain name stands before ours."""
    spec = importlib.util.find_spec(name)

    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve() == ROOT / name / "__init__.py"


@pytest.mark.parametrize("name", PRODUCT)
def test_outside_the_checkout_the_environment_resolves_to_it_too(name: str, tmp_path: Path) -> None:
    """The console scripts, started from anywhere, run this checkout."""
    program = f"import {name}; print({name}.__file__)"

    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert Path(found.stdout.strip()).resolve() == ROOT / name / "__init__.py"


def test_it_can_not_be_published() -> None:
    """Package indexes refuse this classifier."""
    assert "Private :: Do Not Upload" in settings()["project"]["classifiers"]


def test_the_wheel_holds_each_module_and_each_sql_file(tmp_path: Path) -> None:
    """What runs from the checkout runs from the wheel."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        str(path.relative_to(ROOT))
        for name in PRODUCT
        for kind in ("*.py", "*.sql")
        for path in (ROOT / name).rglob(kind)
    }

    assert wanted
    assert wanted - held == set()


@pytest.mark.parametrize("top", [*PRODUCT, "tests"])
def test_every_folder_of_python_is_a_package(top: str) -> None:
    """A folder without `__init__.py` would be taken for another package of its name."""
    folders = {path.parent for path in (ROOT / top).rglob("*.py")}
    bare = {str(folder) for folder in folders if not (folder / "__init__.py").is_file()}

    assert bare == set()
