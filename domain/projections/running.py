"""What a run's own events do to its row and to those of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.codec import canonical
from domain.runs.run import SLOT

if TYPE_CHECKING:
    from domain.projections.rows import RunRow
    from domain.projections.tables import Sequenced, Tables


def queued(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell what was asked for, and that it waits in line for its slot."""
    _asked(run, event)
    run.waiting_on, run.waiting_ref = SLOT, event.body["slot"]


def accepted(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell what was asked for, and that it holds its slot."""
    _asked(run, event)
    run.workflow_id, run.slot_n = event.body["workflow_id"], event.body["n"]
    if run.waiting_on == SLOT:
        run.waiting_on = run.waiting_ref = None


def _asked(run: RunRow, event: Sequenced) -> None:
    """Tell what was asked for; `workspace` stays unknown in a run without one."""
    body, request = event.body, event.body["request"]
    run.agent = body["agent"]
    run.entry = body["entry"]
    run.workspace_path = request["workspace"] or None
    run.workspace = body["workspace"] if request["workspace"] else None
    run.session = body["session"]
    run.slot = body["slot"]
    run.resumes = body.get("resumes") or None
    run.principal = body.get("principal") or None
    run.profile = request["profile"]
    run.attended = request["attended"]
    run.model = request["model"]
    run.budget = canonical(request.get("budget") or {}).decode()
    run.accepted_at = run.accepted_at or event.at


def attached(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell which Temporal run has it now."""
    run.epoch += 1
    run.temporal_run = event.body["temporal_run"]
    run.started_at = run.started_at or event.at


def defined(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell what the agent was built to, and name its items."""
    body = event.body
    run.model = body["runtime"]["model"]
    run.fingerprint = body["fingerprint"]
    run.confinement = body["confinement"]
    run.items = len(body["items"])
    for n, item in enumerate(body["items"], start=1):
        row = tables.item(run.run_id, n)
        row.name, row.kind = item["name"], item["kind"]


def refused(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell that the agent cannot be built."""
    run.refusal = event.body["code"]


def turn_started(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Go to a turn, before its first step."""
    body = event.body
    run.turn, run.step, run.item = body["turn"], 0, body["item"] + 1
    item = tables.item(run.run_id, run.item)
    item.turns += 1
    item.repairs += body["origin"] == "repair"
    item.started_at = item.started_at or event.at


def turn_completed(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count a turn."""
    run.turns_done = event.body["turn"]


def check_completed(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell how an item's checks went."""
    item = tables.item(run.run_id, event.body["item"] + 1)
    item.checks += 1
    item.check_ok = event.body["ok"]


def item_completed(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count an item."""
    done = event.body["item"] + 1
    run.items_done = max(run.items_done, done)
    item = tables.item(run.run_id, done)
    item.done_at = item.done_at or event.at


def waiting(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell what it waits for."""
    body = event.body
    run.waits = body["n"]
    run.waiting_on, run.waiting_ref = body["on"], body["ref"]
    run.waiting_until = body.get("until") or None


def resumed(_tables: Tables, run: RunRow, _event: Sequenced) -> None:
    """Tell that it waits no more."""
    run.waiting_on = run.waiting_ref = run.waiting_until = None


def stuck(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell what keeps it from going on; the next sign that it goes on takes it back."""
    run.stuck = event.body["code"]


def stop_requested(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell who was the first to want it stopped, and why."""
    if run.stop_by is None:
        run.stop_by, run.stop_reason = event.body["by"], event.body["reason"]
    if run.ended_at is None:
        run.end_reason = None


def budget_spent(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell which limit ends it, until it has ended."""
    if run.stop_by is None and run.end_reason is None:
        run.end_reason = event.body["reason"]


def ended(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Tell how it ended: its own questions are withdrawn, those about an effect stay."""
    body = event.body
    run.end_reason, run.end_by, run.end_message = body["reason"], body["by"], body["message"]
    run.waiting_on = run.waiting_ref = run.waiting_until = None
    run.open_questions = run.open_unknown
    run.ended_at = run.ended_at or event.at
