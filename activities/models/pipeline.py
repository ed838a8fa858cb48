"""Cognition without a model: a declared pipeline behind the model's port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.runs.pipeline import parse_pipeline, play_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.ports import Model, ModelAnswer, ModelRequest


def pipeline_model(spec_json: str) -> Model:
    """Give the model that plays a pipeline (JSON); raises `pipeline_invalid`."""
    steps = parse_pipeline(spec_json)

    async def ask(request: ModelRequest, on_text: Callable[[str], None]) -> ModelAnswer:
        answer = play_pipeline(steps, request)
        if answer.text:
            on_text(answer.text)
        return answer

    return ask
