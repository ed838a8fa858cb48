"""Sends one streamed request over pydantic-ai's model layer and reads its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from activities.models.convert import answer_of, history_of
from activities.models.failures import (
    CUT_EMPTY,
    EMPTY,
    FILTERED,
    HALF_STREAM,
    TABLE,
    failed,
    failure_of,
)
from activities.models.prices import priced
from domain.ports import ModelFailure
from domain.runs.conversation import ToolMessage, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    import pydantic_ai.models as pai
    from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent

    from activities.models.failures import Row
    from domain.ports import Model, ModelAnswer, ModelRequest
    from domain.runs.model_name import ModelName

CONNECT = 10.0
"""Seconds until a provider must have taken the connection."""


def asking(model: pai.Model, name: ModelName) -> Model:
    """Put a pydantic-ai model behind our port."""

    async def ask(request: ModelRequest, on_text: Callable[[str], None]) -> ModelAnswer:
        return await _ask(model, name, request, on_text)

    return ask


async def _ask(
    model: pai.Model, name: ModelName, request: ModelRequest, on_text: Callable[[str], None]
) -> ModelAnswer:
    got = await _send(model, name, request, on_text)
    if isinstance(got, ModelFailure):
        # Raised here, not where it was caught: the error it came from holds the provider's words.
        raise got
    return answer_of(got, name, _used(got, name))


async def _send(
    model: pai.Model, name: ModelName, request: ModelRequest, on_text: Callable[[str], None]
) -> ModelResponse | ModelFailure:
    pieces: list[str] = []
    begun = False
    try:
        history = history_of(request, name)
    except Exception as error:  # noqa: BLE001 - the port raises ModelFailure and nothing else
        return failed(TABLE[-1], name, detail=f" ({type(error).__name__})")
    try:
        async with model_request_stream(
            model,
            history,
            model_settings=_settings(request),
            model_request_parameters=_offered(request),
            instrument=False,
        ) as stream:
            async for event in stream:
                begun = True
                piece = _text_in(event)
                if piece:
                    pieces.append(piece)
                    on_text(piece)
            response = stream.get()
    except Exception as error:  # noqa: BLE001 - the port raises ModelFailure and nothing else
        return failure_of(error, name, partial="".join(pieces), begun=begun)
    row = _no_answer(response, request)
    return response if row is None else failed(row, name, "".join(pieces))


def _settings(request: ModelRequest) -> ModelSettings:
    settings = ModelSettings(max_tokens=request.max_tokens)
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    return settings


def _offered(request: ModelRequest) -> ModelRequestParameters:
    """Offer the tools sorted by name: a provider's cache reads the request as bytes."""
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.input_schema,
                strict=False,
            )
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    )


def _text_in(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _no_answer(response: ModelResponse, request: ModelRequest) -> Row | None:
    """Tell why a response is no answer; None where it is one."""
    if not _ended(response):
        return HALF_STREAM
    if response.finish_reason == "content_filter":
        return FILTERED
    said = any(
        isinstance(part, ToolCallPart) or (isinstance(part, TextPart) and part.content.strip())
        for part in response.parts
    )
    if said:
        return None
    if response.finish_reason == "length":
        return CUT_EMPTY
    after_result = bool(request.messages) and isinstance(request.messages[-1], ToolMessage)
    return None if after_result else EMPTY


def _ended(response: ModelResponse) -> bool:
    """Tell whether the provider itself said why it ended: a cut stream looks complete else."""
    said = (response.provider_details or {}).get("finish_reason")
    return bool(said) or response.finish_reason == "content_filter"


def _used(response: ModelResponse, name: ModelName) -> Usage:
    usage = response.usage
    if usage.unmeasured_requests:
        return Usage()
    counted = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
    )
    served = response.model_name or name.model
    return priced(name, served, counted, cache_write_tokens=usage.cache_write_tokens)
