"""The work in Pydantic AI on Temporal; runs in the rivals' own environment.

Called with HOST:PORT NAMESPACE TURNS RUNS; prints one JSON line.
"""

import asyncio
import json
import os
import sys
import time
import uuid
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")

from temporalio import workflow  # noqa: E402 - after the warnings are off
from temporalio.client import Client  # noqa: E402 - the same
from temporalio.worker import Worker  # noqa: E402 - the same

with workflow.unsafe.imports_passed_through():
    from pydantic_ai import Agent
    from pydantic_ai.durable_exec.temporal import AgentPlugin, PydanticAIPlugin, TemporalDurability
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.messages import ToolReturnPart as Result
    from pydantic_ai.models.function import AgentInfo, FunctionModel

PAD = "x" * 2000
QUEUE = "peer-pydantic-ai"
LIMIT = 900


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer at once: with text after a result, else with a call."""
    del info
    if isinstance(messages[-1].parts[-1], Result):
        return ModelResponse(parts=[TextPart(PAD)])
    return ModelResponse(parts=[ToolCallPart("lookup", {"q": "a"})])


agent = Agent(
    FunctionModel(answer, model_name="fake"),
    name="bench",
    instructions="be helpful",
    capabilities=[TemporalDurability()],
)


@agent.tool_plain
async def lookup(q: str) -> str:
    """Look something up."""
    del q
    return PAD


@workflow.defn
class Conversation:
    """A conversation of so many turns."""

    @workflow.run
    async def run(self, turns: int) -> int:
        """Take all turns."""
        history: list[ModelMessage] = []
        for turn in range(turns):
            said = f"turn {turn} {PAD}"[: len(PAD)]
            result = await agent.run(said, message_history=history)
            history = result.all_messages()
        return len(history)


async def main() -> None:
    """Do the work and print what it took."""
    address, namespace, turns, runs = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
    client = await Client.connect(address, namespace=namespace, plugins=[PydanticAIPlugin()])
    worker = Worker(
        client, task_queue=QUEUE, workflows=[Conversation], plugins=[AgentPlugin(agent)]
    )
    async with worker:
        error, began = None, time.monotonic()
        handles = [
            await client.start_workflow(
                Conversation.run, turns, id=f"pydantic-ai/{uuid.uuid4()}", task_queue=QUEUE
            )
            for _ in range(runs)
        ]
        try:
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(*(handle.result() for handle in handles))
        except Exception as exc:  # noqa: BLE001 - the limit that it meets is the figure
            error = f"{exc!r}: {getattr(exc, 'cause', None)!r}"[:300]
        seconds = time.monotonic() - began
        histories = [await handle.fetch_history() for handle in handles]
    events = [event for history in histories for event in history.events]
    size = sum(event.ByteSize() for event in events) / 1024
    line = {"seconds": seconds, "events": len(events), "kib": size, "error": error}
    print(json.dumps({**line, "version": version("pydantic-ai-slim")}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
