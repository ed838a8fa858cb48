"""Finds commands in a workspace's package.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from .found import Found, joined, program_on, reason, text_of

if TYPE_CHECKING:
    from pathlib import Path

_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_NO_TEST = "no test specified"
_STYLE = ("lint", "format:check", "check:format")
_FIXERS = ("fix", "lint:fix", "format")
_PRETTIER = "node_modules/.bin/prettier"


def find_in_node(folder: Path, search_path: str) -> Found:
    """Take the scripts that test, lint and format, and prettier where it is set up."""
    package = _object(text_of(folder / "package.json"))
    if not package:
        return Found()
    scripts = {
        name: command
        for name, command in _member(package, "scripts").items()
        if isinstance(command, str) and _NO_TEST not in command
    }
    runner = _runner(folder, search_path)
    tests = _run(runner, ("test",), scripts)
    style, fixers = _run(runner, _STYLE, scripts), _run(runner, _FIXERS, scripts)
    commands = (*tests, *style, *fixers)
    if commands and not runner:
        return Found(missing=("package.json has scripts, but npm is not installed",))
    why = tuple(reason(command, "a script of package.json") for command in commands)
    found = Found(tests, style, fixers, why)
    return found if style and fixers else joined(found, _prettier(folder, package))


def _runner(folder: Path, search_path: str) -> str:
    wanted = next((name for lock, name in _LOCKS.items() if (folder / lock).exists()), "npm")
    programs = (program_on(search_path, name) for name in (wanted, "npm"))
    return next((program for program in programs if program), "")


def _run(runner: str, names: tuple[str, ...], scripts: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{runner} run {name}" for name in names if name in scripts)


def _prettier(folder: Path, package: dict[str, object]) -> Found:
    configured = "prettier" in package or any(folder.glob(".prettierrc*"))
    configured = configured or any(folder.glob("prettier.config.*"))
    if not configured:
        return Found()
    if not (folder / _PRETTIER).exists():
        return Found(missing=("prettier is configured, but is not in node_modules",))
    check, write = f"{_PRETTIER} --check .", f"{_PRETTIER} --write ."
    why = tuple(reason(command, "prettier is configured") for command in (check, write))
    return Found(style=(check,), fixers=(write,), why=why)


def _object(text: str) -> dict[str, object]:
    try:
        value: object = json.loads(text) if text else {}
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _member(package: dict[str, object], name: str) -> dict[str, object]:
    value = package.get(name)
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
