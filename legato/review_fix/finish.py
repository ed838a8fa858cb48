"""What is done after a Review+Fix run: its changes committed to its branch and told."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.agents.roles import REVIEW_FIX
from domain.errors import refused
from domain.review.findings import Finding, State, fold_findings
from domain.runs.recorded import facts_of
from domain.runs.run import OPEN, fold
from legato.readings import read_run
from legato.worktrees import (
    RUN_TRAILER,
    Change,
    Tree,
    commit_changes,
    remove_worktree,
    show_changes,
    tree_after,
)

if TYPE_CHECKING:
    from pathlib import Path

    from domain.events import Fact, RunAccepted
    from legato.door import Door

_SUBJECT = 72


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended and what it changed; `change` None where it has no tree to look at."""

    run_id: str
    status: str
    change: Change | None
    findings: tuple[Finding, ...]


async def finish(door: Door, run_id: str, *, trust_config: bool = False) -> Finished:
    """Commit what an ended run changed and tell of it; a second time changes nothing.

    A run that goes on from another changed that one's tree: its commit stands on that one's.

    A worktree in which nothing was changed is removed with its branch.

    Raises:
        LegatoError: `run_not_found`, `run_not_ended`, `not_review_fix`, `git_failed`,
            `git_config_changed`, `worktree_gone`.

    """
    facts = facts_of(await read_run(door.ledger, run_id))
    run = fold(facts)
    if run.accepted is None or run.accepted.agent != REVIEW_FIX:
        raise refused(
            "not_review_fix",
            f"the run {run_id} is not a run of {REVIEW_FIX}",
            next="look at it with `legato show`",
        )
    if run.status in OPEN:
        raise refused(
            "run_not_ended",
            f"the run {run_id} is still {run.status.value}",
            next=f"follow it with `legato log {run_id} --follow`, or end it with `legato stop`",
        )
    before, told = await _before(door, run.accepted)
    findings = tuple(fold_findings((*told, *facts)).values())
    finished = Finished(run_id, run.status.value, None, findings)
    home = door.settings.home
    tree = await asyncio.to_thread(tree_after, home, run_id, before)
    if tree is None:
        return finished
    change = await asyncio.to_thread(_settle, home, tree, finished, trust_config=trust_config)
    return replace(finished, change=change)


async def _before(door: Door, accepted: RunAccepted) -> tuple[list[str], list[Fact]]:
    """Read the runs that a run goes on from: their ids, the newest first, and all their facts."""
    runs: list[str] = []
    told: list[Fact] = []
    at: RunAccepted | None = accepted
    while at is not None and at.resumes:
        runs.append(at.resumes)
        facts = facts_of(await read_run(door.ledger, at.resumes))
        told = [*facts, *told]
        at = fold(facts).accepted
    return runs, told


def _settle(home: Path, tree: Tree, finished: Finished, *, trust_config: bool) -> Change:
    if not tree.branch:
        return show_changes(home, tree)
    trailers = (f"{RUN_TRAILER}: {tree.run_id}", f"Legato-Status: {finished.status}")
    change = commit_changes(
        home, tree, commit_message(finished), trailers, trust_config=trust_config
    )
    if not change.commit:
        remove_worktree(home, tree)
    return change


def commit_message(finished: Finished) -> str:
    """Write what the commit says: how the run ended and what became of each finding."""
    changed = [one for one in finished.findings if one.state is State.CHANGED]
    what = _flat(changed[0].title) if len(changed) == 1 else f"{len(changed)} findings repaired"
    if finished.status != "completed":
        what = f"run {finished.status}, work as it stood"
    subject = f"Legato review-fix: {what}"
    lines = [subject if len(subject) <= _SUBJECT else f"{subject[: _SUBJECT - 3].rstrip()}..."]
    if finished.findings:
        lines.append("")
    for one in finished.findings:
        lines.append(f"- {one.state.value}: {_flat(one.module)}: {_flat(one.title)}")
        if one.path:
            lines[-1] += f" ({_flat(one.path)})"
    return "\n".join(lines)


def _flat(text: str) -> str:
    return " ".join(text.split())


def finish_command(run_id: str) -> str:
    """Write the command that finishes a run later."""
    return shlex.join(("legato", "review-fix", "--finish", run_id))


def finished_json(finished: Finished) -> dict[str, object]:
    """Give it as programs read it."""
    change = finished.change
    body: dict[str, object] = {
        "run_id": finished.run_id,
        "status": finished.status,
        "in_place": change is not None and not change.tree.branch,
        "finding_rows": [
            {"module": one.module, "title": one.title, "path": one.path, "state": one.state.value}
            for one in finished.findings
        ],
    }
    if change is None:
        return {**body, "change": None}
    return {
        **body,
        "change": {
            "branch": change.tree.branch,
            "base": change.tree.base,
            "commit": change.commit,
            "repository": change.tree.repository,
            "worktree": change.tree.top if change.tree.branch else "",
            "files": [
                {"path": file.path, "added": file.added, "removed": file.removed}
                for file in change.files
            ],
            "merge": change.merge,
            "drop": change.drop if change.commit else "",
        },
    }
