"""What travels through Temporal: ids, counters, version ranges and short codes, no content.

Fields that hold their default are left out on the way; a default stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.runs.sequence import MOST_REPAIRS

SignalKind = Literal["answer", "message", "stop"]
WaitOn = Literal["input", "approval", "capacity", "pause", "child", "unknown_effect", "home"]


@dataclass(frozen=True)
class Written:
    """What an activity found or made of the run's stream: versions after `first`, up to `last`.

    `head` is the stream's head hash (hexadecimal) at `last`: `ledger verify` compares it.
    """

    first: int = 0
    last: int = 0
    head: str = ""


@dataclass(frozen=True)
class CallRef:
    """One call that is left to run: its place, and its name for the people who watch."""

    turn: int
    step: int
    position: int
    name: str
    limit: float


@dataclass(frozen=True)
class ItemShape:
    """What the workflow must know of an item, or of `times` items in a row that are alike.

    `name` is "" where there are too many to name them.
    """

    name: str
    has_turn: bool = True
    has_checks: bool = False
    repairs: int = MOST_REPAIRS
    times: int = 1


@dataclass(frozen=True)
class BuildInput:
    """Ask for the run's definition."""

    run_id: str


@dataclass(frozen=True)
class BuildResult:
    """The definition is stored; `code` is "ok" or why there is none."""

    code: str
    items: tuple[ItemShape, ...] = ()
    message: str = ""
    written: Written = Written()


@dataclass(frozen=True)
class StepInput:
    """Ask for one step; `version` is where the workflow last saw the run's stream.

    `head` is the beginning of the head's hash (hexadecimal) there, "" where it is not known.
    """

    run_id: str
    item: int
    turn: int
    step: int
    version: int
    head: str = ""


@dataclass(frozen=True)
class StepResult:
    """How a step ended.

    `calls`: groups are left to run. `again`: all calls have outcomes, take the next step.
    `turn_completed`: the turn ended. `capacity`: wait `retry_after` seconds, which is `until`
    (ISO 8601 in UTC), then take the same step again. `overflow`: compact the conversation,
    then take the same step again. `stopped`, `over_budget`, `failed`: the run must end, `code`
    says why.
    `budget` says in a few figures what is spent of each limit, "" for a run without any.
    `servers_named` counts calls that also named a server for a tool, which is ignored.
    """

    outcome: Literal[
        "calls",
        "again",
        "turn_completed",
        "capacity",
        "overflow",
        "stopped",
        "over_budget",
        "failed",
    ]
    code: str = ""
    groups: tuple[tuple[CallRef, ...], ...] = ()
    retry_after: float = 0.0
    until: str = ""
    tools: tuple[str, ...] = ()
    tokens: int = 0
    spent_tokens: int = 0
    spent_cost: str = "0"
    budget: str = ""
    servers_named: int = 0
    written: Written = Written()


@dataclass(frozen=True)
class CompactInput:
    """Ask for the conversation to be compacted, since the step's request was too long."""

    run_id: str
    turn: int
    step: int
    version: int
    head: str = ""


@dataclass(frozen=True)
class CompactResult:
    """Whether a summary stands in the place of the conversation's beginning now.

    `stopped`, `over_budget`: the run must end, and `code` says which limit.
    """

    outcome: Literal["compacted", "too_large", "stopped", "over_budget"]
    code: str = ""
    spent_tokens: int = 0
    spent_cost: str = "0"
    written: Written = Written()


@dataclass(frozen=True)
class CallInput:
    """Ask for one call to be run, or to be settled if it can be."""

    run_id: str
    call: CallRef
    version: int
    head: str = ""


@dataclass(frozen=True)
class CallResult:
    """How a call stands: settled with `tag`, or waiting for `ref`.

    `stopped`, `over_budget`: the run must end, and `code` says which limit.
    """

    outcome: Literal["settled", "waiting", "stopped", "over_budget"]
    tag: str = ""
    code: str = ""
    wait_on: WaitOn = "input"
    ref: str = ""
    written: Written = Written()


@dataclass(frozen=True)
class CheckInput:
    """Ask for an item's checks to be run; `attempt` counts from 0."""

    run_id: str
    item: int
    attempt: int
    version: int
    head: str = ""


@dataclass(frozen=True)
class CheckResult:
    """How the checks ended; `terminal`: a check could not be run at all."""

    outcome: Literal["passed", "failed", "terminal", "stopped", "over_budget"]
    failures: int = 0
    code: str = ""
    written: Written = Written()


@dataclass(frozen=True)
class LookInput:
    """Ask what the ledger says: of a stop, and of the wait for `ref` where there is one.

    `begin` records the wait unless it is over already; `due` tells that the workflow's
    timer for it has fired. `why` is the code of what is waited out, `until` when that is.
    """

    run_id: str
    n: int = 0
    on: WaitOn = "input"
    ref: str = ""
    begin: bool = False
    due: bool = False
    seconds: float = 0.0
    why: str = ""
    until: str = ""


@dataclass(frozen=True)
class LookResult:
    """What the ledger says; `expires_in` is in seconds from now, below 0 for never.

    `stop` is that the run must end, of which `reason` says why.
    """

    stop: bool = False
    reason: str = ""
    resolved: bool = True
    expires_in: float = -1.0
    written: Written = Written()


@dataclass(frozen=True)
class SignalInput:
    """Hand on what an operator sent as a plain Temporal signal; `n` counts them."""

    run_id: str
    n: int
    kind: SignalKind
    text: str
    ref: str = ""


@dataclass(frozen=True)
class SignalResult:
    """Whether it was accepted, and the code where it was refused."""

    accepted: bool
    code: str = ""
    written: Written = Written()


@dataclass(frozen=True)
class Ending:
    """How a run is to end: the terminal state, a short code, and one sentence."""

    status: str
    reason: str
    message: str = ""
    by: str = "system"


@dataclass(frozen=True)
class CloseInput:
    """Ask for the terminal event."""

    run_id: str
    ending: Ending


@dataclass(frozen=True)
class CloseResult:
    """The terminal state that stands, and the short card for the people who watch."""

    status: str
    card: str
    written: Written = Written()
