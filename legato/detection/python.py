"""Finds the commands of a Python workspace: pytest or unittest, ruff, black."""

from __future__ import annotations

import configparser
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from .found import Found, joined, program_on, reason, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENTS = (".venv", "venv")
"""Where a project keeps its own environment."""

_TEST_FOLDERS = ("tests", "test")
_REQUIREMENTS = ("requirements*.txt", "requirements/*.txt", "pyproject.toml", "setup.cfg")
_REQUIRED = re.compile(r"""^\s*pytest(?![\w-])|["']pytest(?![\w-])""", re.MULTILINE)
_OUTSIDE = "the pytest of your PATH, for the project has none of its own"
_MOST_LOOKED_AT = 500


@dataclass(frozen=True, slots=True)
class _Place:
    folder: Path
    search_path: str
    project: dict[str, object]

    def tool(self, name: str) -> dict[str, object] | None:
        """Give a tool's table of pyproject.toml, None where there is none."""
        tools = self.project.get("tool")
        table = cast("dict[str, object]", tools).get(name) if isinstance(tools, dict) else None
        return cast("dict[str, object]", table) if isinstance(table, dict) else None

    def program(self, name: str) -> str:
        """Say how to start a program: the project's own, else the one on the path, else ""."""
        for environment in ENVIRONMENTS:
            if (self.folder / environment / "bin" / name).exists():
                return f"{environment}/bin/{name}"
        return program_on(self.search_path, name)


def find_in_python(folder: Path, search_path: str) -> Found:
    """Take the test runner that the tests are written for, and the formatters configured."""
    place = _Place(folder, search_path, _project(folder))
    return joined(_tests(place), _ruff(place), _black(place))


def _project(folder: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text_of(folder / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return {}


def _tests(place: _Place) -> Found:
    tests = list(_test_files(place.folder))
    configured = _pytest_configured(place)
    if not tests and not configured:
        return Found()
    why = configured or f"tests in {tests[0].parent.relative_to(place.folder)}/"
    command, whose = _pytest(place)
    if command:
        said = reason(command, "; ".join(filter(None, (why, whose))))
        return Found(tests=(command,), why=(said,), guessed=not configured)
    if not configured and any("import unittest" in text_of(file) for file in tests):
        return _unittest(place, tests)
    return Found(missing=(f"{why}, but pytest is not installed",))


def _pytest_configured(place: _Place) -> str:
    if (place.folder / "pytest.ini").exists() or (place.folder / ".pytest.ini").exists():
        return "pytest.ini"
    if place.tool("pytest") is not None:
        return "[tool.pytest] in pyproject.toml"
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if _has_section(text_of(place.folder / name), section):
            return f"[{section}] in {name}"
    for file in ("conftest.py", *(f"{folder}/conftest.py" for folder in _TEST_FOLDERS)):
        if (place.folder / file).exists():
            return file
    files = (file for name in _REQUIREMENTS for file in sorted(place.folder.glob(name)))
    named = next((file for file in files if _REQUIRED.search(text_of(file))), None)
    return f"pytest in {named.relative_to(place.folder)}" if named else ""


def _has_section(text: str, section: str) -> bool:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return False
    return parser.has_section(section)


def _test_files(folder: Path) -> Iterator[Path]:
    """Find tests by name: beneath a folder for tests, or in the workspace itself."""
    for name in _TEST_FOLDERS:
        for number, file in enumerate((folder / name).rglob("*.py")):
            if number >= _MOST_LOOKED_AT:
                break
            if _named_as_test(file):
                yield file
    yield from filter(_named_as_test, folder.glob("*.py"))


def _named_as_test(file: Path) -> bool:
    return file.name.startswith("test_") or file.stem.endswith("_test")


def _pytest(place: _Place) -> tuple[str, str]:
    """Say how to start pytest, and whose it is where it is not the project's.

    Packages under src/ are those of this tree, not installed ones.
    """
    sources = "PYTHONPATH=src " if any(place.folder.glob("src/*/__init__.py")) else ""
    for environment in ENVIRONMENTS:
        own = place.folder / environment
        if (own / "bin" / "python").exists() and _has_package(own, "pytest"):
            return f"{sources}{environment}/bin/python -m pytest", ""
    for lock, name in (("uv.lock", "uv"), ("poetry.lock", "poetry")):
        program = program_on(place.search_path, name) if (place.folder / lock).exists() else ""
        if program:
            return f"{program} run pytest", ""
    pytest = place.program("pytest")  # beside the package under test, as `python -m pytest` is
    if not pytest:
        return "", ""
    whose = "" if pytest.startswith(ENVIRONMENTS) else _OUTSIDE
    return f"PYTHONPATH={'src' if sources else '.'} {pytest}", whose


def _has_package(environment: Path, name: str) -> bool:
    return any(environment.glob(f"lib*/python*/site-packages/{name}"))


def _unittest(place: _Place, tests: list[Path]) -> Found:
    programs = (program_on(place.search_path, name) for name in ("python3", "python"))
    python = next((program for program in programs if program), "")
    if not python:
        return Found(missing=("tests of unittest, but no python3 on the path",))
    folder = tests[0].parent.relative_to(place.folder)
    packaged = folder == Path() or (place.folder / folder / "__init__.py").exists()
    command = f"{python} -m unittest"
    if not packaged:
        command += f" discover -s {folder}"
    why = reason(command, f"tests of unittest in {folder}/")
    return Found(tests=(command,), why=(why,), guessed=True)


def _ruff(place: _Place) -> Found:
    """Take ruff's rules where it is configured, its formatter only where that is too."""
    files = ("ruff.toml", ".ruff.toml")
    own = next((text for text in (text_of(place.folder / name) for name in files) if text), "")
    table = place.tool("ruff")
    if table is None and not own:
        return Found()
    ruff = place.program("ruff")
    if not ruff:
        return Found(missing=("ruff is configured, but is not installed",))
    style, fixers = [f"{ruff} check ."], [f"{ruff} check --fix ."]
    if "format" in (table or {}) or "[format]" in own or _formats_by_ruff(place.folder):
        style.insert(0, f"{ruff} format --check .")
        fixers.append(f"{ruff} format .")
    why = tuple(reason(command, "ruff is configured") for command in (*style, *fixers))
    return Found(style=tuple(style), fixers=tuple(fixers), why=why)


def _formats_by_ruff(folder: Path) -> bool:
    places = (".pre-commit-config.yaml", "Makefile", "tox.ini", "noxfile.py", "justfile")
    texts = [text_of(folder / name) for name in places]
    return any("ruff-format" in text or "ruff format" in text for text in texts)


def _black(place: _Place) -> Found:
    if place.tool("black") is None:
        return Found()
    black = place.program("black")
    if not black:
        return Found(missing=("black is configured, but is not installed",))
    check, fix = f"{black} --check .", f"{black} ."
    why = tuple(reason(command, "black is configured") for command in (check, fix))
    return Found(style=(check,), fixers=(fix,), why=why)
