"""Facts with everything filled in that a test does not care about."""

from __future__ import annotations

from domain.agents.definition import RuntimeConfig
from domain.agents.request import AgentRequest
from domain.events import (
    CallIntended,
    CallSettled,
    CallUnknown,
    Entry,
    Fact,
    InputAsked,
    InputSettled,
    MessageAccepted,
    ModelRequested,
    ModelResponded,
    RunAccepted,
    RunAttached,
    RunDefined,
    RunEnded,
    StopRequested,
    SummaryRequested,
    TurnCompleted,
    TurnStarted,
)
from domain.runs.conversation import CallRequest, Usage
from domain.runs.inputs import OWNER, How, InputKind, Question
from domain.runs.sequence import Item
from domain.tools.results import Outcome, ok

USED = Usage(input_tokens=100, output_tokens=20, cost="0.01", prices="test")
RESERVED = Usage(input_tokens=300, output_tokens=200, cost="0.05", prices="test")


def accepted(run_id: str, **more: object) -> RunAccepted:
    """Accept a run by hand, alone in its slot and session."""
    fields: dict[str, object] = {
        "run_id": run_id,
        "workflow_id": f"run/ws-0000/generic/{run_id}/1",
        "agent": "generic",
        "entry": Entry.HAND,
        "workspace": "ws-0000",
        "session": run_id,
        "slot": f"ws-0000/generic/{run_id}",
        "n": 1,
        "queue": "home/test",
        "request": AgentRequest(role="generic", message="look after it"),
    }
    return RunAccepted.model_validate({**fields, **more})


def attached(epoch: int = 1) -> RunAttached:
    """Attach a Temporal run."""
    return RunAttached(epoch=epoch, temporal_run=f"temporal-{epoch}")


def defined(bundle: bytes = bytes(32)) -> RunDefined:
    """Define the run: one item, no checks."""
    return RunDefined(
        fingerprint="f" * 64,
        bundle=bundle.hex(),
        runtime=RuntimeConfig(model="script:play.yaml"),
        items=(Item(kind="message", name="work", text="look after it"),),
        confinement="none",
    )


def turn_started(turn: int = 1, text: str = "look after it") -> TurnStarted:
    """Begin a turn of the first item."""
    return TurnStarted(turn=turn, item=0, origin="item", text=text)


def requested(turn: int = 1, step: int = 1, n: int = 1, **more: object) -> ModelRequested:
    """Pin one request."""
    fields: dict[str, object] = {
        "turn": turn,
        "step": step,
        "n": n,
        "owner": "owner",
        "model": "script:play.yaml",
        "view": ("read_file",),
        "view_digest": "v",
        "request_digest": "r",
        "incoming": 0,
        "delivered": (),
        "reserved": RESERVED,
        "ordinal": 0,
    }
    return ModelRequested.model_validate({**fields, **more})


def summary_requested(
    turn: int = 1, step: int = 1, n: int = 1, *, reserved: Usage = RESERVED
) -> SummaryRequested:
    """Reserve for one summary."""
    return SummaryRequested(
        turn=turn, step=step, n=n, owner="owner", model="script:play.yaml", reserved=reserved
    )


def call_request(position: int, name: str = "read_file") -> CallRequest:
    """Ask for one call, as a model does."""
    return CallRequest(position=position, provider_id=f"p{position}", name=name, arguments="{}")


def responded(
    turn: int = 1, step: int = 1, n: int = 1, *, calls: int = 0, text: str = "done"
) -> ModelResponded:
    """Answer a request with a number of calls."""
    return ModelResponded(
        turn=turn,
        step=step,
        n=n,
        text=text,
        calls=tuple(call_request(position) for position in range(calls)),
        usage=USED,
        finish="tool_calls" if calls else "stop",
    )


def intended(turn: int = 1, step: int = 1, position: int = 0, round_: int = 1) -> CallIntended:
    """Mean to run a call."""
    return CallIntended(
        turn=turn, step=step, position=position, round=round_, owner="owner",
        name="read_file", binding="files", limit=10.0,
    )  # fmt: skip


def unknown(turn: int = 1, step: int = 1, position: int = 0, round_: int = 1) -> CallUnknown:
    """Nobody can tell what became of a call."""
    return CallUnknown(
        turn=turn, step=step, position=position, round=round_, name="deploy", reason="worker lost"
    )


def settled(
    turn: int = 1, step: int = 1, position: int = 0, outcome: Outcome | None = None
) -> CallSettled:
    """Settle a call."""
    return CallSettled(
        turn=turn, step=step, position=position, name="read_file",
        outcome=outcome or ok(f"result {turn}.{step}.{position}"),
    )  # fmt: skip


def asked(input_id: str = "q1", **question: object) -> InputAsked:
    """Ask the owner something; `question` replaces the question's fields."""
    fields: dict[str, object] = {"text": "Which?", "kind": InputKind.QUESTION, "who": (OWNER,)}
    return InputAsked(
        input_id=input_id, turn=1, step=1, position=0,
        question=Question.model_validate({**fields, **question}),
    )  # fmt: skip


def answered(
    input_id: str = "q1", answer: str = "this", by: str = "person:a", submission: str = ""
) -> InputSettled:
    """Answer a question."""
    return InputSettled(
        input_id=input_id, how=How.ANSWERED, answer=answer, by=by, submission=submission
    )


def stopped(submission: str = "s1", reason: str = "enough") -> StopRequested:
    """Ask a run to stop."""
    return StopRequested(submission=submission, reason=reason, by="person:a")


def message(submission: str, text: str = "hello", run_id: str = "r") -> MessageAccepted:
    """Accept a message."""
    return MessageAccepted(submission=submission, text=text, later=False, run_id=run_id)


def turn_completed(turn: int = 1) -> TurnCompleted:
    """End a turn."""
    return TurnCompleted(turn=turn, incoming=0)


def run_ended(status: str = "completed") -> RunEnded:
    """End a run."""
    return RunEnded(status=status, reason="done", by="system", message="", items_done=1)


def short_run(run_id: str, *, calls: int = 2, bundle: bytes = bytes(32)) -> tuple[Fact, ...]:
    """A run's facts from beginning to end: one turn of two steps, calls in the first."""
    return (
        accepted(run_id),
        attached(),
        defined(bundle),
        turn_started(),
        requested(),
        responded(calls=calls),
        *(settled(position=position) for position in range(calls)),
        requested(step=2),
        responded(step=2),
        turn_completed(),
        run_ended(),
    )
