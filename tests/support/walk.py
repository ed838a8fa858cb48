"""One run walked at random from a seed: a workflow, its zombies, people, and plain nonsense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from domain.events import CheckCompleted, Fact
from domain.runs.legal import History
from domain.runs.position import Position
from domain.runs.run import Run
from ledger.append import Part
from tests.support import facts
from tests.support.plain_ledger import Done, PlainLedger, Result
from tests.support.plain_run import PlainRun
from tests.support.walk_activities import Activity, Parts, activity
from tests.support.walk_outside import from_outside

MOST_ZOMBIES = 3
MOST_TO_END = 300


@dataclass(eq=False)
class Execution:
    """One execution of an activity: what it appends next, or where it led once it is over."""

    doing: Activity
    parts: Parts = ()
    over: bool = False
    to: Position | None = None

    def go_on(self, result: Result | None) -> None:
        """Tell it what came of its append."""
        try:
            self.parts = next(self.doing) if result is None else self.doing.send(result)
        except StopIteration as end:
            self.over, self.to = True, end.value


@dataclass(eq=False)
class Pending:
    """An append that is about to be made; `execution` is told what comes of it."""

    parts: Parts
    execution: Execution | None = None


@dataclass
class Walk:
    """A run under way: its ledger, what that folds to, and who is at work.

    `run_id` names its streams; `each` is shown every fact of the run, with the run before it.
    """

    seed: int
    run_id: str
    each: Callable[[Walk, Run, Fact], None]
    ledger: PlainLedger = field(default_factory=PlainLedger)
    at: Position = field(default_factory=Position)
    live: Execution | None = None
    zombies: list[Execution] = field(default_factory=list[Execution])
    chance: Random = field(init=False)
    history: History = field(init=False)
    plain: PlainRun = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the chance that the seed gives."""
        self.chance = Random(self.seed)  # noqa: S311 - a repeatable walk, no secret
        self.history, self.plain = History(self.stream), PlainRun(self.run_id)

    @property
    def stream(self) -> str:
        """The run's own stream."""
        return f"run/{self.run_id}"

    @property
    def incoming(self) -> str:
        """The stream of its session's messages."""
        return f"incoming/{self.run_id}"

    @property
    def run(self) -> Run:
        """The run as it is folded so far."""
        return self.history.run

    def begin(self) -> Pending:
        """Give the first append of all."""
        return Pending((Part(self.stream, (facts.accepted(self.run_id),), 0),))

    def some(self, most: int) -> list[Pending]:
        """Choose up to so many writers that append at the same time, each without the others."""
        chosen: list[Pending] = []
        for _ in range(self.chance.randint(1, most)):
            pending = self._one()
            taken = [one.execution for one in chosen if one.execution is not None]
            if pending.parts and pending.execution not in taken:
                chosen.append(pending)
        return chosen

    def _one(self) -> Pending:
        """Choose one: mostly the workflow's, else a zombie or somebody outside."""
        roll = self.chance.random()
        if roll < 0.12 and self.zombies:
            zombie = self.chance.choice(self.zombies)
            return Pending(zombie.parts, zombie)
        if roll < 0.18 and self.live is not None and len(self.zombies) < MOST_ZOMBIES:
            self.zombies.append(self.live)
            self.live = None
        if roll < 0.72:
            return self.working()
        return Pending(from_outside(self))

    def working(self) -> Pending:
        """Give what the workflow's activity appends next; activities without appends pass."""
        for _ in range(MOST_TO_END):
            if self.live is None:
                self.live = Execution(activity(self, self.at))
                self.live.go_on(None)
            if not self.live.over and not self.live.parts:
                self.live.go_on(Done({}))
            if not self.live.over:
                return Pending(self.live.parts, self.live)
            self.at, self.live = self.live.to or self.at, None
            if self.at.phase == "close" and self.run.ended is not None:
                return Pending(())
        message = f"seed {self.seed}: the workflow goes in circles at {self.at}"
        raise AssertionError(message)

    def take(self, pending: Pending, result: Result) -> None:
        """Take what came of an append that the ledger has made or refused."""
        stored = self.ledger.of(self.stream)
        for fact in stored[self.run.version :]:
            before = self.run
            assert self.plain.admits(fact), f"seed {self.seed}: {fact} is not legal"
            assert self.history.tell(fact) is None, f"seed {self.seed}: {fact} is refused"
            self.plain.tell(fact)
            self.each(self, before, fact)
        execution = pending.execution
        if execution is not None and not execution.over:
            execution.go_on(result)
        self.zombies = [zombie for zombie in self.zombies if not zombie.over]

    def check(self, item: int, attempt: int) -> CheckCompleted | None:
        """Read how checks ended that somebody has run."""
        told = self.ledger.of(self.stream)
        checks = (fact for fact in told if isinstance(fact, CheckCompleted))
        return next((one for one in checks if (one.item, one.attempt) == (item, attempt)), None)

    def wake(self) -> None:
        """Let zombies that wait for something look again."""
        for zombie in self.zombies:
            if not zombie.parts:
                zombie.go_on(Done({}))
        self.zombies = [zombie for zombie in self.zombies if not zombie.over]
