"""The same turns in plain Temporal: a loop of two activities, and nothing recorded."""

from __future__ import annotations

from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows.calls import HEARTBEAT, MODEL_LIMIT, RETRY

ACTIVITY = "step"


@dataclass(frozen=True)
class Work:
    """What starts a conversation: its length, and the file that its tool reads."""

    turns: int
    file: str


@dataclass(frozen=True)
class Step:
    """Ask for one step of a turn: 1 calls the tool, 2 answers."""

    run_id: str
    file: str
    turn: int
    step: int


@dataclass(frozen=True)
class Reference:
    """What a step came to: no content, only its digest and length."""

    digest: str
    characters: int


@workflow.defn(name="BareConversation")
class BareConversation:
    """Two activities a turn, with the limits and retries that Legato's have."""

    @workflow.run
    async def run(self, work: Work) -> int:
        """Take all turns; gives how many activities there were."""
        done = 0
        for turn in range(1, work.turns + 1):
            for step in (1, 2):
                await workflow.execute_activity(
                    ACTIVITY,
                    Step(workflow.info().workflow_id, work.file, turn, step),
                    result_type=Reference,
                    start_to_close_timeout=MODEL_LIMIT,
                    heartbeat_timeout=HEARTBEAT,
                    retry_policy=RETRY,
                    cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                )
                done += 1
        return done
