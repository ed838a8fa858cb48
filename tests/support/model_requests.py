"""Requests for models as tests make them, and what came of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.ports import ModelAnswer, ModelFailure, ModelRequest
from domain.runs.conversation import AssistantMessage, ToolMessage, UserMessage
from domain.tools.registry import Effect, Writes, tool_spec

if TYPE_CHECKING:
    from domain.ports import Model
    from domain.runs.conversation import Message
    from domain.tools.registry import ToolSpec

HELLO = UserMessage(text="Hello")


def tool(name: str) -> ToolSpec:
    """A read tool with one required text argument."""
    properties = {"path": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    return tool_spec(name, f"Does {name}.", schema, effect=Effect.READ, writes=Writes.NOTHING)


def request_of(
    *messages: Message,
    ordinal: int = 0,
    tools: tuple[str, ...] = (),
    temperature: float | None = None,
) -> ModelRequest:
    """A request that says the messages, or Hello where there are none."""
    return ModelRequest(
        model="any",
        instructions="Be brief.",
        messages=messages or (HELLO,),
        tools=tuple(tool(name) for name in tools),
        max_tokens=100,
        temperature=temperature,
        ordinal=ordinal,
    )


def said(answer: ModelAnswer) -> AssistantMessage:
    """The message that an answer becomes."""
    return AssistantMessage(text=answer.text, calls=answer.calls, native=answer.native)


def result_of(answer: ModelAnswer, index: int, text: str, *, failed: bool = False) -> ToolMessage:
    """The result of one of an answer's calls."""
    call = answer.calls[index]
    return ToolMessage(provider_id=call.provider_id, name=call.name, text=text, failed=failed)


@dataclass
class Heard:
    """The pieces of text that arrived."""

    pieces: list[str] = field(default_factory=list[str])

    def __call__(self, piece: str) -> None:
        """Take one piece."""
        self.pieces.append(piece)


async def answer_to(model: Model, request: ModelRequest | None = None) -> ModelAnswer:
    """Ask and give the answer."""
    return await model(request or request_of(), Heard())


async def failure_to(model: Model, request: ModelRequest | None = None) -> ModelFailure:
    """Ask and give the failure; an answer is an error of the test."""
    try:
        answer = await answer_to(model, request)
    except ModelFailure as failure:
        return failure
    message = f"an answer came: {answer.text!r}"
    raise AssertionError(message)
