"""One run on one screen, as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from domain.runs.budget_view import limits_text
from domain.runs.home import status_at_home
from domain.runs.recorded import short
from domain.words import counted
from legato.cli.screens.loss import report_text
from legato.cli.screens.tables import facts
from legato.cli.screens.timeline import timeline_screen
from legato.cli.spelling import spelled
from legato.readings import answer_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from domain.runs.home import Absent
    from domain.runs.overview import AskedView, Overview, Place
    from domain.runs.timeline import Line

LOST = (
    "what it had done stays, and the timeline tells it; `legato inbox` asks of effects that "
    "nobody can tell; then start it anew"
)

STYLES = {
    "completed": "bold green",
    "running": "bold cyan",
    "queued": "bold cyan",
    "waiting": "bold yellow",
    "stopping": "bold yellow",
}


def status_text(status: str) -> Text:
    """Write a status in its colour."""
    return Text().append(status, style=STYLES.get(status, "bold red"))


def run_screen(
    seen: Overview, profile: str, told: Sequence[Line], ui: str, *, absent: Absent | None = None
) -> RenderableType:
    """Show a run whole: status, place, waits, changes, cost, identity, timeline.

    `absent` is its home where no worker serves that now.
    """
    shown: list[RenderableType] = [headline(seen, absent), facts(_present(seen, absent))]
    shown += [question_screen(seen.identity.run_id, one) for one in seen.waits.open_questions]
    shown += [facts([*_work(seen), *_identity(seen, profile), ("Temporal UI", ui)])]
    shown += [Text("timeline (UTC)", style="bold"), timeline_screen(told)]
    return Group(*shown)


def headline(seen: Overview, absent: Absent | None = None) -> Text:
    """Say which run it is and how it stands."""
    state = seen.state
    text = status_text(_standing(seen, absent)[0])
    where = f" in {seen.identity.workspace}" if seen.identity.workspace else ""
    text.append(f"  {seen.identity.agent}{where}", style="bold")
    text.append(f"  {seen.identity.run_id}", style="dim")
    if state.reason and state.status != "completed":
        by = f" by {state.by}" if state.by else ""
        text.append(f"\nwhy: {state.reason}{by}", style="")
        text.append(f": {short(state.message, 400)}" if state.message else "")
    return text.append(_trouble(seen))


def _trouble(seen: Overview) -> Text:
    """Say of a run that is stuck or lost what keeps it, and what is true to do."""
    text, stuck = Text(), seen.stuck
    if stuck.stuck:
        text.append(f"\nstuck: {stuck.stuck} at {stuck.stuck_where}", style="bold red")
        text.append(f": {short(stuck.stuck_why, 400)}" if stuck.stuck_why else "")
        text.append(f"\nnext: {spelled(stuck.stuck_next)}")
    elif seen.state.status == "lost":
        text.append(f"\nnext: {spelled(LOST)}")
    return text


def _standing(seen: Overview, absent: Absent | None) -> tuple[str, str]:
    """Give status and wait as they are at this moment."""
    status, waiting_on = seen.state.status, seen.waits.waiting_on
    return (status, waiting_on) if absent is None else status_at_home(status, waiting_on)


def _present(seen: Overview, absent: Absent | None) -> list[tuple[str, str]]:
    place, waits = seen.place, seen.waits
    marks = {"done": "done", "now": "now", "todo": "to do", "not_done": "not done"}
    items = "  ".join(f"{item.name} [{marks[item.state]}]" for item in place.items)
    until = f"until {waits.waiting_until[:19].replace('T', ' ')}" if waits.waiting_until else ""
    why = f"({waits.waiting_why})" if waits.waiting_why else ""
    parts = (_standing(seen, absent)[1], waits.waiting_ref, why, until)
    now = seen.state.doing if absent is None else f"nothing: {absent.message}"
    return [
        ("now", "" if seen.state.ended_at else now),
        ("why", absent.cause if absent is not None else ""),
        ("next", absent.next if absent is not None else ""),
        ("where", where_text(place)),
        ("sequence", items),
        ("waits for", " ".join(part for part in parts if part)),
        ("unknown", "\n".join(f"{u.name} ({u.call}): {u.reason}" for u in waits.unknown_effects)),
    ]


def where_text(place: Place) -> str:
    """Name the item that a run is in or ended in, and how far it is; "" before its first turn."""
    if not place.items or not place.turn:
        return ""
    name = place.items[place.item - 1].name
    where = f"item {place.item} of {len(place.items)} ({name})"
    where += f", turn {place.turn}, step {place.step}"
    return where + (f", repair {place.repair}" if place.repair else "")


def question_screen(run_id: str, asked: AskedView) -> RenderableType:
    """Show an open question and the command that answers it."""
    text = Text("question ", style="bold yellow").append(f"{asked.input_id}: ", style="bold")
    text.append(asked.text, style="")
    rows = [
        ("  choices", " | ".join(asked.choices)),
        ("  who", ", ".join(asked.who)),
        ("  since", asked.since),
        ("  expires", asked.expires_at or "never"),
        ("  answer with", answer_command(run_id, asked.input_id, asked.choices)),
    ]
    return Group(text, facts(rows))


def _work(seen: Overview) -> list[tuple[str, str]]:
    work = seen.work
    receipts = [f"{one.module or '.'}: {one.result}, {short(one.text)}" for one in work.receipts]
    return [
        ("changed", changed_text(seen)),
        ("findings", str(work.findings or "")),
        ("receipts", "\n".join(receipts)),
        ("spent", spent_text(seen)),
        ("budget", limits_text(seen.cost.budget)),
    ]


def changed_text(seen: Overview, files: Sequence[str] | None = None) -> str:
    """Say what a run changed: all `files` that differ, else what its calls are known to have."""
    if files is not None:
        return "\n".join(files) or "nothing"
    return "\n".join(seen.work.changed) or "nothing known"


def spent_text(seen: Overview) -> str:
    """Say what a run has used."""
    cost = seen.cost
    money = f"${cost.cost}"
    if cost.cost_unknown:
        money += f" and {counted(cost.cost_unknown, 'model call')} of unknown price"
    steps, calls = counted(cost.steps, "model call"), counted(cost.calls, "tool call")
    worked = f"{cost.seconds:.1f} s of work"
    return f"{steps}, {calls}, {counted(cost.tokens, 'token')}, {money}, {worked}"


def _identity(seen: Overview, profile: str) -> list[tuple[str, str]]:
    what, state = seen.identity, seen.state
    return [
        ("agent", f"{what.agent} ({profile})"),
        ("model", what.model or "none"),
        ("fingerprint", what.fingerprint),
        ("workspace", what.workspace_path),
        ("confinement", what.confinement),
        ("accepted", state.accepted_at),
        ("ended", state.ended_at),
        (
            "goes on from",
            f"{what.resumes}, whose finished items are left out" if what.resumes else "",
        ),
        ("notes", "\n".join(what.notes)),
        ("saved step", f"{what.step_file}#{what.step_id}" if what.step_file else ""),
        ("", report_text(what.step_report)),
    ]
