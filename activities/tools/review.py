"""The tools that keep findings, claims and receipts in the run's own ledger."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, cast

from activities.tools.arguments import object_schema, text
from domain.codec import clean_text
from domain.errors import problems
from domain.events import FindingRecorded, FindingsClaimed, ReceiptWritten
from domain.ids import CallAt
from domain.ports import Absent, Executed, Tool
from domain.review.closing import MOST_CLAIMED, claim_problems, closable, receipt_problems
from domain.review.findings import (
    Finding,
    State,
    claimed,
    fingerprint_of,
    fold_findings,
    same_module,
)
from domain.tools.registry import Effect, ToolSpec, Writes, tool_spec
from domain.tools.results import ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import Execute, Probed, ToolContext, ToolReturn

_FINGERPRINT: dict[str, object] = {"type": "string", "pattern": "^[0-9a-f]{12}$"}
_BATCH: dict[str, object] = {
    "type": "array",
    "items": _FINGERPRINT,
    "minItems": 1,
    "maxItems": 100,
    "description": "Fingerprints, as list_findings gives them.",
}


def _text_of(limit: int, description: str, *, required: bool = True) -> dict[str, object]:
    schema: dict[str, object] = {
        "type": "string",
        "maxLength": limit,
        "description": description,
    }
    return {**schema, "minLength": 1, "pattern": r"\S"} if required else schema


def call_place(call_id: str) -> CallAt:
    """Read turn, step and position off a call id (`<run>:<turn>.<step>.<position>`)."""
    turn, step, position = call_id.rpartition(":")[2].split(".")
    return CallAt(int(turn), int(step), int(position))


def _given(arguments: Mapping[str, Json], name: str) -> str:
    return clean_text(text(arguments, name) or "").strip()


def _list_of(arguments: Mapping[str, Json], name: str) -> list[str] | None:
    value = arguments.get(name)
    return [str(one) for one in value] if isinstance(value, list) else None


def record_finding(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """File a finding, or update the one of the same module, title and path."""
    at = call_place(context.call_id)
    module, title, path = (_given(arguments, name) for name in ("module", "title", "path"))
    fingerprint = fingerprint_of(module, title, path)
    before = fold_findings(context.facts).get(fingerprint)
    fact = FindingRecorded(
        turn=at.turn,
        step=at.step,
        position=at.position,
        fingerprint=fingerprint,
        title=title,
        detail=_given(arguments, "detail"),
        severity=cast('Literal["low", "medium", "high"]', arguments["severity"]),
        module=module,
        path=path,
    )
    said = f"Filed finding {fingerprint}."
    if before is not None:
        said = f"Updated finding {fingerprint}, filed {before.filed + 1} times, was {before.state}."
    return Executed(ok(said), facts=(fact,))


def list_findings(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """List the findings of the run, all or those of one state or module."""
    state, module = _given(arguments, "state"), _given(arguments, "module")
    findings = fold_findings(context.facts)
    rows = [
        _row(one)
        for one in findings.values()
        if (not state or one.state == state) and (not module or same_module(one.module, module))
    ]
    body = {"findings": rows, "total": len(findings), "claimed": len(claimed(findings))}
    return Executed(ok(json.dumps(body, ensure_ascii=False, indent=1)))


def _row(one: Finding) -> dict[str, Json]:
    row: dict[str, Json] = {
        "fingerprint": one.fingerprint,
        "state": one.state.value,
        "severity": one.severity,
        "module": one.module,
        "title": one.title,
        "path": one.path,
        "detail": one.detail,
        "filed": one.filed,
    }
    if one.touched:
        row["changed_since_claim"] = list(one.touched)
    return row


def claim_findings(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Take on a bounded batch of open findings; raises `claim_refused`."""
    wanted = _list_of(arguments, "fingerprints") or []
    found = claim_problems(fold_findings(context.facts), wanted)
    if found:
        raise problems(
            "claim_refused",
            "nothing was claimed",
            found,
            next=f"look at list_findings and claim at most {MOST_CLAIMED} that are open",
        )
    at = call_place(context.call_id)
    fact = FindingsClaimed(
        turn=at.turn, step=at.step, position=at.position, fingerprints=tuple(wanted)
    )
    return Executed(ok(f"Claimed {', '.join(wanted)}."), facts=(fact,))


def write_receipt(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Close a module's claimed findings; raises `receipt_refused`."""
    module, result = _given(arguments, "module"), _given(arguments, "result")
    proof = _given(arguments, "proof")
    findings = fold_findings(context.facts)
    closes = closable(findings, module, _list_of(arguments, "fingerprints"))
    found = receipt_problems(findings, module, result, closes, proof)
    if found:
        raise problems(
            "receipt_refused",
            f"no receipt was written for {module!r}",
            found,
            next="mend what is named and write it again; list_findings tells what is claimed",
        )
    at = call_place(context.call_id)
    fact = ReceiptWritten(
        turn=at.turn,
        step=at.step,
        position=at.position,
        module=module,
        result=cast('Literal["changed", "unchanged", "deferred"]', result),
        fingerprints=closes,
        proof=proof,
        text=_given(arguments, "text"),
    )
    left = len(claimed(findings)) - len(closes)
    return Executed(
        ok(f"Receipt for {module}: {result}, {len(closes)} closed, {left} left claimed."),
        facts=(fact,),
    )


def nothing_happened(arguments: Mapping[str, Json], context: ToolContext) -> Probed:
    """Tell that an earlier execution left nothing: its facts come with its outcome or never."""
    del arguments, context
    return Absent()


_RECORD = object_schema(
    ["module", "title", "detail", "severity"],
    module=_text_of(120, "The part of the code base it belongs to."),
    title=_text_of(200, "The defect in a few words; with module and path its identity."),
    detail=_text_of(8000, "What happens, why, and how you know: file and line, input, result."),
    severity={"enum": ["low", "medium", "high"]},
    path=_text_of(1024, "The file, relative to the workspace.", required=False),
)
_LIST = object_schema(
    [],
    state={"enum": [state.value for state in State]},
    module=_text_of(120, "Only findings of this module."),
)
_RECEIPT = object_schema(
    ["module", "result", "text"],
    module=_text_of(120, "The module whose claimed findings this closes."),
    result={"enum": ["changed", "unchanged", "deferred"]},
    text=_text_of(8000, "What was wrong and what was done, for a person."),
    proof=_text_of(
        8000,
        "For `changed`: which file changed how; what you ran or read afterwards, what it said.",
        required=False,
    ),
    fingerprints={**_BATCH, "description": "Which to close; all claimed of the module if absent."},
)


def _ledger_tool(execute: Execute, spec: ToolSpec) -> Tool:
    return Tool(spec=spec, execute=execute, probe=nothing_happened)


def _ledger_spec(name: str, description: str, schema: dict[str, object]) -> ToolSpec:
    return tool_spec(
        name,
        description,
        schema,
        effect=Effect.TRANSACTIONAL,
        writes=Writes.LEDGER,
        timeout=10.0,
        resource="findings",
    )


REVIEW_TOOLS: tuple[Tool, ...] = (
    _ledger_tool(
        record_finding,
        _ledger_spec(
            "record_finding",
            "File a defect; the same module, title and path again update it.",
            _RECORD,
        ),
    ),
    Tool(
        spec=tool_spec(
            "list_findings",
            "List what is filed in this run, with what became of it.",
            _LIST,
            effect=Effect.READ,
            writes=Writes.NOTHING,
            timeout=10.0,
            resource="findings",
        ),
        execute=list_findings,
    ),
    _ledger_tool(
        claim_findings,
        _ledger_spec(
            "claim_findings",
            f"Take on open findings before you fix them, at most {MOST_CLAIMED} at once.",
            object_schema(["fingerprints"], fingerprints=_BATCH),
        ),
    ),
    _ledger_tool(
        write_receipt,
        _ledger_spec(
            "write_receipt",
            "Close a module's claimed findings: changed (with proof), unchanged or deferred.",
            _RECEIPT,
        ),
    ),
)
"""Findings, claims and receipts."""
