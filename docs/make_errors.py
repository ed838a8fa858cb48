"""Writes docs/errors.md from the code: every error code, what it says and what it means.

Run it from the checkout: `.venv/bin/python docs/make_errors.py`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from domain.errors import Kind, rule_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "errors.md"
PRODUCT = ("domain", "ledger", "workflows", "activities", "workers", "legato")
MAKERS = {
    "LegatoError": Kind.WORLD,
    "VersionConflictError": Kind.WORLD,
    "TakenError": Kind.WORLD,
    "refused": Kind.REFUSED,
    "problems": Kind.REFUSED,
    "bug": Kind.BUG,
}
SHOWN = 150
HEAD = """# Error codes

Every error has a stable code, a sentence, its cause and a next step. With `--json` it is the one
document on stdout: `{"ok": false, "error": {"code", "message", "cause", "next", "details"}}`;
several problems at once stand in `details.problems`. Without it the same is on stderr.

*Kind* says whose turn it is: `refused` is the caller's to mend, `world` is the surroundings'
(trying again can help), `bug` is ours. *Retry* says whether the workflow tries the activity
again by itself. This page is made from the code by `docs/make_errors.py`; `...` stands for a
value. What a tool call can come to is in the outcome's own codes, see `docs/agents.md`.

| code | kind | exit | HTTP | retry | says | next step |
| --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Raised:
    """One place in the code that makes an error."""

    code: str
    kind: Kind
    message: str
    next: str


def raised() -> dict[str, Raised]:
    """Find every code with the first place that makes it."""
    found: dict[str, Raised] = {}
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                one = _raised(node)
                if one is not None:
                    found.setdefault(one.code, one)
    return dict(sorted(found.items()))


def _raised(node: ast.AST) -> Raised | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    kind = MAKERS.get(node.func.id)
    code = _text(node.args[0]) if node.args else ""
    if kind is None or not code.isidentifier():
        return None
    named = {one.arg: one.value for one in node.keywords if one.arg}
    given = named.get("kind")
    if isinstance(given, ast.Attribute):
        kind = Kind[given.attr]
    message = _text(node.args[1]) if len(node.args) > 1 else ""
    step = _text(named["next"]) if "next" in named else ""
    if kind is Kind.BUG and not step:
        step = "report this with the output of `legato doctor`"
    return Raised(code, kind, message, step)


def _text(node: ast.AST) -> str:
    """Read a text; a value within it becomes `...`."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(_text(value) for value in values)
        case ast.IfExp(body=body):
            return _text(body)
        case _:
            return "..."


def _cell(text: str) -> str:
    flat = " ".join(text.split()).replace("|", "\\|")
    return flat if len(flat) <= SHOWN else f"{flat[:SHOWN].rstrip()}..."


def page() -> str:
    """Write the page."""
    rows: list[str] = []
    for one in raised().values():
        rule = rule_of(one.code, one.kind)
        retry = "yes" if rule.retry else "no"
        rows.append(
            f"| `{one.code}` | {one.kind.value} | {rule.exit} | {rule.http} | {retry} "
            f"| {_cell(one.message)} | {_cell(one.next)} |"
        )
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
