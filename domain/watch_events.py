"""The facts that a watcher records of a run: it stands still, it goes on, it was compared."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from domain.event import Event

StuckCode: TypeAlias = Literal[
    "workflow_task_failing", "activity_failing", "start_refused", "ledger_behind"
]


class RunStuck(Event):
    """The run cannot go on by itself; `n` counts how often that was found.

    `code` names what keeps it, `where` the place (a workflow task, an activity), `why` the
    cause as Temporal gives it, `attempts` how often it was tried in vain.
    """

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["run.stuck"] = "run.stuck"
    n: int
    code: StuckCode
    where: str
    why: str
    attempts: int
    temporal_run: str = ""


class RunHealed(Event):
    """What kept the run the n-th time keeps it no longer."""

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["run.healed"] = "run.healed"
    n: int


class RunReconciled(Event):
    """What Temporal's histories said of an ended run was compared with its stream.

    `digest` is over what every activity result said (stream, version, head hash), in order;
    `links` and `results` count the histories and results that were there. `where` names the
    first place that differs, or what of the histories is gone.
    """

    after_end: ClassVar[bool] = True
    type: Literal["run.reconciled"] = "run.reconciled"
    result: Literal["checked", "mismatch", "history_gone"]
    digest: str
    links: int
    results: int
    where: str = ""
