"""The work in the OpenAI Agents SDK on Temporal; runs in the rivals' own environment.

Called with HOST:PORT NAMESPACE TURNS RUNS; prints one JSON line.
"""

import asyncio
import json
import os
import sys
import time
import uuid
import warnings
from datetime import timedelta
from importlib.metadata import version
from typing import Any

warnings.simplefilter("ignore")

from temporalio import activity, workflow  # noqa: E402 - after the warnings are off
from temporalio.client import Client  # noqa: E402 - the same
from temporalio.worker import Worker  # noqa: E402 - the same

with workflow.unsafe.imports_passed_through():
    from agents import Agent, Model, ModelProvider, ModelResponse, Runner, Usage
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )
    from temporalio import openai_agents
    from temporalio.openai_agents import ModelActivityParameters, OpenAIAgentsPlugin

PAD = "x" * 2000
QUEUE = "peer-openai-agents"
LIMIT = 900
SHORT = timedelta(seconds=30)


class FakeModel(Model):
    """Answers at once: with text after a result, else with a call."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002, ANN401 - the SDK's
        """Answer a request."""
        del system_instructions
        last = input[-1] if isinstance(input, list) else {}
        if isinstance(last, dict) and last.get("type") == "function_call_output":
            text = ResponseOutputText(text=PAD, type="output_text", annotations=[])
            out = ResponseOutputMessage(
                id="m", role="assistant", status="completed", type="message", content=[text]
            )
        else:
            out = ResponseFunctionToolCall(
                arguments='{"q":"a"}', call_id=str(uuid.uuid4()), name="lookup",
                type="function_call",
            )  # fmt: skip
        return ModelResponse(output=[out], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - the SDK's
        """Refuse: this work is measured with whole answers, as the Temporal plug-in asks."""
        raise RuntimeError("the bench's model answers whole: ask it without streaming")


class FakeProvider(ModelProvider):
    """Gives the one model."""

    def get_model(self, model_name: str | None) -> Model:
        """Give it by any name."""
        del model_name
        return FakeModel()


@activity.defn
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
        tool = openai_agents.workflow.activity_as_tool(lookup, start_to_close_timeout=SHORT)
        agent = Agent(name="bench", instructions="be helpful", model="fake", tools=[tool])
        items: list[Any] = []
        for turn in range(turns):
            said = {"role": "user", "content": f"turn {turn} {PAD}"[: len(PAD)]}
            result = await Runner.run(agent, [*items, said])
            items = result.to_input_list()
        return len(items)


async def main() -> None:
    """Do the work and print what it took."""
    address, namespace, turns, runs = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
    plugin = OpenAIAgentsPlugin(
        model_params=ModelActivityParameters(start_to_close_timeout=SHORT),
        model_provider=FakeProvider(),
    )
    client = await Client.connect(address, namespace=namespace, plugins=[plugin])
    worker = Worker(client, task_queue=QUEUE, workflows=[Conversation], activities=[lookup])
    async with worker:
        error, began = None, time.monotonic()
        handles = [
            await client.start_workflow(
                Conversation.run, turns, id=f"openai-agents/{uuid.uuid4()}", task_queue=QUEUE
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
    print(json.dumps({**line, "version": version("openai-agents")}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
