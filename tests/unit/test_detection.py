"""Which checks and fixers a workspace is found to be set up for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from legato.detection import detect

if TYPE_CHECKING:
    from pathlib import Path

    from legato.detection import Found

UNITTEST = "import unittest\n"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH with the programs that a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def put(folder: Path, *names: str) -> None:
    for name in names:
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)


def workspace(tmp_path: Path, **files: str) -> Path:
    """A workspace with files; `__` in a name stands for a dot, `_in_` for a slash."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name, text in files.items():
        file = folder / name.replace("_in_", "/").replace("__", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def found(folder: Path, programs: Path) -> Found:
    return detect(folder, str(programs))


def test_nothing_is_found_where_nothing_is_set_up(tmp_path: Path, programs: Path) -> None:
    put(programs, "pytest", "npm", "make", "ruff")
    seen = found(workspace(tmp_path, notes__txt="hello\n"), programs)

    assert (seen.tests, seen.style, seen.fixers, seen.missing) == ((), (), (), ())


@pytest.mark.parametrize(
    "file",
    [
        {"pytest__ini": "[pytest]\n"},
        {"pyproject__toml": "[tool.pytest.ini_options]\n"},
        {"setup__cfg": "[tool:pytest]\n"},
        {"tox__ini": "[pytest]\n"},
        {"conftest__py": ""},
        {"tests_in_test_app__py": "def test(): ...\n"},
        {"app_test__py": "def test(): ...\n"},
    ],
    ids=lambda file: next(iter(file)),
)
def test_pytest_is_found_by_its_configuration_or_its_tests(
    file: dict[str, str], tmp_path: Path, programs: Path
) -> None:
    put(programs, "pytest")
    seen = found(workspace(tmp_path, **file), programs)

    assert seen.tests == (f"PYTHONPATH=. {programs}/pytest",)
    assert len(seen.why) == 1


def test_the_environment_of_the_project_comes_before_the_path(
    tmp_path: Path, programs: Path
) -> None:
    put(programs, "pytest", "ruff")
    folder = workspace(tmp_path, pytest__ini="[pytest]\n", ruff__toml="line-length = 90\n")
    put(folder / ".venv" / "bin", "python", "ruff")
    (folder / ".venv/lib/python3.11/site-packages/pytest").mkdir(parents=True)

    seen = found(folder, programs)

    assert seen.tests == (".venv/bin/python -m pytest",)
    assert seen.style == (".venv/bin/ruff check .",)


def test_packages_under_src_are_tested_as_they_stand_in_this_tree(
    tmp_path: Path, programs: Path
) -> None:
    put(programs, "pytest")
    folder = workspace(tmp_path, pytest__ini="[pytest]\n")
    (folder / "src/app").mkdir(parents=True)
    (folder / "src/app/__init__.py").touch()

    assert found(folder, programs).tests == (f"PYTHONPATH=src {programs}/pytest",)


def test_tests_of_unittest_need_no_pytest(tmp_path: Path, programs: Path) -> None:
    put(programs, "python3")
    seen = found(workspace(tmp_path, tests_in_test_app__py=UNITTEST), programs)

    assert seen.tests == (f"{programs}/python3 -m unittest discover -s tests",)


def test_configured_pytest_that_is_not_installed_is_told(tmp_path: Path, programs: Path) -> None:
    seen = found(workspace(tmp_path, pytest__ini="[pytest]\n"), programs)

    assert seen.tests == ()
    assert seen.missing == ("pytest.ini, but pytest is not installed",)


def test_scripts_of_a_package_are_run_by_the_manager_that_locked_it(
    tmp_path: Path, programs: Path
) -> None:
    put(programs, "npm", "pnpm")
    scripts = {"test": "vitest run", "lint": "eslint .", "format": "prettier --write ."}
    folder = workspace(
        tmp_path, package__json=json.dumps({"scripts": scripts}), **{"pnpm-lock__yaml": ""}
    )

    seen = found(folder, programs)

    assert seen.tests == (f"{programs}/pnpm run test",)
    assert seen.style == (f"{programs}/pnpm run lint",)
    assert seen.fixers == (f"{programs}/pnpm run format",)


def test_the_test_script_that_npm_init_writes_is_no_test(tmp_path: Path, programs: Path) -> None:
    put(programs, "npm")
    scripts = {"test": 'echo "Error: no test specified" && exit 1'}
    seen = found(workspace(tmp_path, package__json=json.dumps({"scripts": scripts})), programs)

    assert seen.tests == ()


def test_a_makefile_counts_where_nothing_else_tests(tmp_path: Path, programs: Path) -> None:
    put(programs, "make", "pytest")
    makefile = "X := test\n.PHONY: check\ncheck: build ## all\n\tgo test\nfmt:\n\tgofmt -w .\n"
    folder = workspace(tmp_path, Makefile=makefile)

    alone = found(folder, programs)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    beside = found(folder, programs)

    assert (alone.tests, alone.fixers) == ((f"{programs}/make check",), (f"{programs}/make fmt",))
    assert beside.tests == (f"PYTHONPATH=. {programs}/pytest",)
    assert not any("make check" in line for line in beside.why)


GUESSED = {"tests_in_test_app__py": "def test(): ...\n"}


@pytest.mark.parametrize("tests", [GUESSED, {"tests_in_test_app__py": UNITTEST}])
def test_a_target_of_the_makefile_comes_before_a_guess(
    tests: dict[str, str], tmp_path: Path, programs: Path
) -> None:
    put(programs, "make", *(("pytest",) if tests is GUESSED else ("python3",)))
    folder = workspace(tmp_path, Makefile="test:\n\tpython3 -m app.test\n", **tests)

    seen = found(folder, programs)

    assert seen.tests == (f"{programs}/make test",)
    assert seen.why == (f"{programs}/make test: a target of the Makefile",)


def test_a_guess_beside_tests_of_node_gives_way_to_the_makefile_alone(
    tmp_path: Path, programs: Path
) -> None:
    put(programs, "make", "pytest", "npm")
    package = json.dumps({"scripts": {"test": "vitest run"}})
    folder = workspace(tmp_path, Makefile="test:\n\ttrue\n", package__json=package, **GUESSED)

    assert found(folder, programs).tests == (f"{programs}/npm run test", f"{programs}/make test")


@pytest.mark.parametrize(
    "file",
    [
        {"tests_in_conftest__py": ""},
        {"requirements-dev__txt": "attrs\npytest>=8\n"},
        {"requirements_in_test__txt": "pytest\n"},
        {"pyproject__toml": '[dependency-groups]\ndev = ["attrs", "pytest~=8.0"]\n'},
        {"pyproject__toml": '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n'},
    ],
    ids=str,
)
def test_pytest_that_the_project_asks_for_is_no_guess(
    file: dict[str, str], tmp_path: Path, programs: Path
) -> None:
    put(programs, "make", "pytest")
    folder = workspace(tmp_path, Makefile="test:\n\ttrue\n", **GUESSED, **file)

    assert found(folder, programs).tests == (f"PYTHONPATH=. {programs}/pytest",)


def test_a_plugin_of_pytest_among_the_requirements_is_not_pytest(
    tmp_path: Path, programs: Path
) -> None:
    put(programs, "make", "pytest")
    text = "pytest-cov\nflake8-pytest\n"
    folder = workspace(tmp_path, Makefile="test:\n\ttrue\n", requirements__txt=text, **GUESSED)

    assert found(folder, programs).tests == (f"{programs}/make test",)


def test_a_pytest_that_is_not_the_projects_own_is_said_to_be_so(
    tmp_path: Path, programs: Path
) -> None:
    put(programs, "pytest")
    folder = workspace(tmp_path, **GUESSED)
    outside = found(folder, programs)
    put(folder / ".venv" / "bin", "pytest")
    own = found(folder, programs)

    whose = "the pytest of your PATH, for the project has none of its own"
    assert outside.why == (f"PYTHONPATH=. {programs}/pytest: tests in tests/; {whose}",)
    assert own.why == ("PYTHONPATH=. .venv/bin/pytest: tests in tests/",)


def test_a_formatter_counts_only_where_it_is_configured(tmp_path: Path, programs: Path) -> None:
    put(programs, "ruff", "black")
    folder = workspace(tmp_path, pyproject__toml="[tool.ruff]\nline-length = 90\n")

    rules = found(folder, programs)
    (folder / "pyproject.toml").write_text("[tool.ruff.format]\n[tool.black]\n", encoding="utf-8")
    formats = found(folder, programs)

    ruff, black = f"{programs}/ruff", f"{programs}/black"
    assert (rules.style, rules.fixers) == ((f"{ruff} check .",), (f"{ruff} check --fix .",))
    assert formats.style == (f"{ruff} format --check .", f"{ruff} check .", f"{black} --check .")
    assert formats.fixers == (f"{ruff} check --fix .", f"{ruff} format .", f"{black} .")


def test_a_program_that_every_path_has_is_named_without_its_folder(tmp_path: Path) -> None:
    folder = workspace(tmp_path, Makefile="test:\n\ttrue\n")

    assert detect(folder, "/usr/bin:/bin").tests == ("make test",)


def test_broken_files_are_as_if_they_were_not_there(tmp_path: Path, programs: Path) -> None:
    put(programs, "npm", "pytest", "make")
    folder = workspace(tmp_path, pyproject__toml="[", package__json="{", setup__cfg="x\n[")
    (folder / "Makefile").write_bytes(b"\xff\xfe")

    assert found(folder, programs).tests == ()
