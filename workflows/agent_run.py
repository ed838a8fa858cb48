"""AgentRun: receive, decide the next step, call it, move on, repeat."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from domain.runs.card import Shown, card, waiting_on
    from domain.runs.position import (
        Position,
        RunGroup,
        Waiting,
        after_build,
        after_check,
        after_compact,
        after_group,
        after_step,
        after_wait,
        ended,
        next_step,
    )
    from domain.runs.shapes import name_at
    from domain.runs.steps import (
        BuildInput,
        CheckInput,
        CloseInput,
        CompactInput,
        Ending,
        LookInput,
        LookResult,
        SignalInput,
        SignalKind,
        StepInput,
    )
    from workflows import calls
    from workflows.attributes import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.workflow import ActivityHandle

T = TypeVar("T")

MOST_BYTES = 2 * 1024 * 1024
MOST_TEXT = 60 * 1024
MOST_REASON = 1000
AGAIN = timedelta(seconds=5)


@dataclass(frozen=True)
class RunStart:
    """What starts or continues a run: its id, how it is shown, and where it stands.

    Once a history has `most_events` events the run continues as new at a step boundary.
    """

    run_id: str
    shown: Shown
    most_events: int = 2000
    position: Position = Position()


@workflow.defn(name="AgentRun")
class AgentRun:
    """One durable execution of an agent; all it knows is its position."""

    @workflow.init
    def __init__(self, start: RunStart) -> None:
        self._run = start.run_id
        self._start = start
        self._at = start.position
        self._looks = 0
        self._stop_hint = False
        self._operator: deque[tuple[SignalKind, str, str]] = deque()

    @workflow.signal
    def look(self, kind: object = "", *_event: object) -> None:
        """Tell that the ledger has something new; carries no facts.

        Like every signal it takes whatever is sent: one that its handler refused would be
        handed to the workflow again for ever, and the run would stand still.
        """
        self._looks += 1
        if kind == "stop.requested":
            self._stop_hint = True

    @workflow.signal
    def answer(self, input_id: object = "", text: object = "", *_more: object) -> None:
        """Take an operator's answer to a question that names `temporal-operator`."""
        self._submit("answer", _words(text), _words(input_id))

    @workflow.signal
    def message(self, text: object = "", *_more: object) -> None:
        """Take an operator's message for the run."""
        self._submit("message", _words(text), "")

    @workflow.signal
    def stop(self, reason: object = "", *_more: object) -> None:
        """Take an operator's stop."""
        self._operator.append(("stop", _words(reason)[:MOST_REASON], ""))

    def _submit(self, kind: SignalKind, text: str, ref: str) -> None:
        """Take an operator's text; one that is too large is left where it is, in the history."""
        if len(json.dumps([text, ref])) > MOST_TEXT:
            workflow.logger.warning("a signal of over %d bytes was not taken", MOST_TEXT)
            return
        self._operator.append((kind, text, ref))

    @workflow.run
    async def run(self, start: RunStart) -> str:  # noqa: ARG002 - taken by __init__
        """Run to the terminal event; returns the card that describes it."""
        while self._at.phase != "close":
            self._show()
            try:
                await self._advance()
            except ActivityError as exc:
                self._at = ended(self._at, _failed(exc))
            except ApplicationError as exc:
                self._at = ended(self._at, Ending("failed", exc.type or "workflow_failed"))
            except asyncio.CancelledError:
                self._operator.append(("stop", "cancelled in Temporal", ""))
                self._stop_hint = True
            if self._may_continue_as_new():
                workflow.continue_as_new(replace(self._start, position=self._at))
        return await self._close()

    async def _advance(self) -> None:
        """Do the one next thing; a stop turns to the end instead."""
        if (self._operator or self._stop_hint) and await self._stopped():
            return
        step = next_step(self._run, self._at)
        match step:
            case BuildInput():
                for built in await self._watched([calls.build_definition(step)]):
                    self._at = after_build(self._at, built)
            case StepInput() | CompactInput():
                await self._ask(step)
            case RunGroup():
                if ran := await self._watched([calls.run_tool(call) for call in step.calls]):
                    self._at = after_group(self._at, tuple(ran))
            case CheckInput():
                for checked in await self._watched([calls.check_output(step, self._item_name())]):
                    self._at = after_check(self._at, checked)
            case Waiting():
                await self._wait(step)
            case CloseInput():
                pass

    async def _ask(self, step: StepInput | CompactInput) -> None:
        """Have the model asked: for the step, or for a summary that makes room for it."""
        named = (self._item_name(), self._start.shown.model)
        if isinstance(step, StepInput):
            for took in await self._watched([calls.take_step(step, *named)]):
                self._at = after_step(self._at, took)
        else:
            for compacted in await self._watched([calls.compact_context(step, *named)]):
                self._at = after_compact(self._at, compacted)

    async def _watched(self, handles: Sequence[ActivityHandle[T]]) -> list[T]:
        """Await activities and give their results, in order.

        A stop that arrives meanwhile cancels them, awaits their end and gives none: what
        they came to is in the ledger.
        """
        try:
            while not all(handle.done() for handle in handles):
                await workflow.wait_condition(
                    lambda: (
                        all(handle.done() for handle in handles)
                        or bool(self._operator)
                        or self._stop_hint
                    )
                )
                if (self._operator or self._stop_hint) and await self._stopped():
                    return []
        finally:
            await _cancel(handles)
        return [handle.result() for handle in handles]

    async def _stopped(self) -> bool:
        """Hand on what operators sent, then ask the ledger whether the run must stop."""
        while self._operator:
            kind, text, ref = self._operator.popleft()
            self._at = replace(self._at, signals=self._at.signals + 1)
            signal = SignalInput(self._run, self._at.signals, kind, text, ref)
            accepted = await asyncio.shield(calls.accept_signal(signal))
            self._stop_hint = self._stop_hint or (kind == "stop" and accepted.accepted)
            self._looks += 1
        if not self._stop_hint:
            return False
        seen = await asyncio.shield(calls.look(LookInput(self._run)))
        self._stop_hint = False
        if seen.stop:
            self._at = ended(self._at, Ending("stopped", seen.reason))
        return seen.stop

    async def _wait(self, waiting: Waiting) -> None:
        """Wait until the ledger says that the wait is over; looks once before it begins."""
        begin, due = True, False
        while True:
            looked = self._looks
            seen = await self._look(waiting, begin=begin, due=due)
            if seen.stop:
                self._at = ended(self._at, Ending("stopped", seen.reason))
                return
            if seen.resolved:
                self._at = after_wait(self._at)
                return
            begin, due = False, await self._quiet(waiting, looked, seen.expires_in)
            if (self._operator or self._stop_hint) and await self._stopped():
                return

    async def _look(self, waiting: Waiting, *, begin: bool, due: bool) -> LookResult:
        wait = waiting.wait
        return await calls.look(
            LookInput(
                self._run,
                waiting.n,
                wait.on,
                wait.ref,
                begin,
                due,
                wait.seconds,
                wait.why,
                wait.until,
            )
        )

    async def _quiet(self, waiting: Waiting, looked: int, expires_in: float) -> bool:
        """Hold until somebody says to look, or the wait is due; tells whether it is due."""
        limit = None if expires_in < 0 else timedelta(seconds=max(1.0, expires_in))
        try:
            await workflow.wait_condition(
                lambda: self._looks > looked or bool(self._operator) or self._stop_hint,
                timeout=limit,
                timeout_summary=f"waits for {waiting.wait.on} {waiting.wait.ref}"[:100],
            )
        except TimeoutError:
            return True
        return False

    async def _close(self) -> str:
        """Record the end whatever is cancelled meanwhile; the card is the result."""
        ending = self._at.ending or Ending("failed", "no_ending")
        handle = calls.close_run(CloseInput(self._run, ending))
        while True:
            try:
                closed = await asyncio.shield(handle)
            except asyncio.CancelledError:
                continue
            except ActivityError:
                workflow.logger.exception("close_run failed and is tried again")
                with suppress(asyncio.CancelledError):
                    await workflow.sleep(AGAIN)
                handle = calls.close_run(CloseInput(self._run, ending))
                continue
            show(closed.status, "")
            return closed.card

    def _may_continue_as_new(self) -> bool:
        """Tell whether this is a step boundary at which the history has grown enough."""
        info = workflow.info()
        grown = (
            info.get_current_history_length() > self._start.most_events
            or info.get_current_history_size() > MOST_BYTES
            or info.is_continue_as_new_suggested()
        )
        return grown and self._at.phase == "step" and not self._operator

    def _item_name(self) -> str:
        return name_at(self._at.items, self._at.item) if self._at.items else ""

    def _show(self) -> None:
        """Keep the card and the search attributes true; costs events only when they change."""
        workflow.set_current_details(card(self._start.shown, self._at))
        status = "waiting" if self._at.phase == "wait" else "running"
        show(status, waiting_on(self._at))


def _words(given: object) -> str:
    """Take what somebody sent as text; what is no text says nothing."""
    return given if isinstance(given, str) else ""


async def _cancel(handles: Sequence[ActivityHandle[T]]) -> None:
    """Cancel what still runs and await its end."""
    for handle in handles:
        if not handle.done():
            handle.cancel()
    while not all(handle.done() for handle in handles):
        try:
            await workflow.wait_condition(lambda: all(handle.done() for handle in handles))
        except asyncio.CancelledError:
            continue


def _failed(exc: ActivityError) -> Ending:
    """Turn an activity's final failure into the run's end; its text is in the ledger."""
    if is_cancelled_exception(exc):
        return Ending("stopped", "cancelled")
    cause = exc.cause
    code = cause.type if isinstance(cause, ApplicationError) and cause.type else "activity_failed"
    return Ending("failed", code)
