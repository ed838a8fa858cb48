"""A pipeline: a declared list of tool calls, played as if a model had asked for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from pydantic import Field, TypeAdapter, ValidationError

from domain.codec import decode
from domain.errors import LegatoError, problems
from domain.ports import Disposition, ModelAnswer, ModelFailure, ModelRequest
from domain.runs.conversation import CallRequest, Frozen, ToolMessage, Usage
from domain.runs.earlier import Earlier, quote_problems, quoted, taken_steps

if TYPE_CHECKING:
    from domain.codec import Json
    from domain.runs.earlier import Taken

PRICES = "pipeline"
"""The price list of a run without a model."""

_USED = Usage(input_tokens=0, output_tokens=0, cached_tokens=0, cost="0", prices=PRICES)


class OnFailure(StrEnum):
    """What follows a step whose call failed."""

    STOP = "stop"
    CONTINUE = "continue"


class PipelineStep(Frozen):
    """One call; `arguments` may quote earlier results as a script's do.

    `after_failure` runs it only where an earlier call of the pass failed; a step that is
    passed over has no result, and quotes count the calls that were made.
    """

    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    on_failure: OnFailure = OnFailure.STOP
    after_failure: bool = False


@dataclass(frozen=True)
class Row:
    """What became of one step: its place, its tool, and the result as the model was shown it."""

    index: int
    tool: str
    result: ToolMessage


@dataclass(frozen=True)
class Progress:
    """How far the current pass is; `first` is the ordinal it began at."""

    first: int
    rows: tuple[Row, ...] = ()
    stopped: bool = False


_STEPS: TypeAdapter[tuple[PipelineStep, ...]] = TypeAdapter(tuple[PipelineStep, ...])


def parse_pipeline(spec: str) -> tuple[PipelineStep, ...]:
    """Read a pipeline from its JSON, a list of steps; raises `pipeline_invalid`, all at once."""
    try:
        document: object = decode(spec)
    except ValueError as error:
        raise _invalid([f"it is not JSON: {error}"]) from None
    try:
        steps = _STEPS.validate_python(document)
    except ValidationError as error:
        raise _invalid([_problem(dict(item)) for item in error.errors()]) from None
    found = [] if steps else ["it has no steps"]
    for number, step in enumerate(steps):
        wrong = quote_problems(cast("Json", step.arguments), number)
        found += [f"step {number}: {problem}" for problem in wrong]
    if found:
        raise _invalid(found)
    return steps


def _problem(item: dict[str, Any]) -> str:
    number, *rest = item["loc"] or ("",)
    place = f"step {number}" + "".join(f", {part}" for part in rest) if number != "" else "it"
    return f"{place}: {item['msg'][:1].lower()}{item['msg'][1:]}"


def _invalid(found: list[str]) -> LegatoError:
    return problems(
        "pipeline_invalid",
        "the pipeline cannot be played",
        found,
        next="declare each step as {tool, arguments, on_failure: stop | continue, after_failure}",
    )


def play_pipeline(steps: tuple[PipelineStep, ...], request: ModelRequest) -> ModelAnswer:
    """Ask for the next call, or report once the pass is over.

    A request after the report (another message in the conversation) begins a new pass.
    Raises ModelFailure `quote_unresolved` and `pipeline_out_of_view`.
    """
    earlier = taken_steps(request.messages, request.ordinal)
    progress = progress_of(steps, earlier)
    position = _position(steps, progress.rows)
    if progress.stopped or position == len(steps):
        return ModelAnswer(_report(steps, progress), (), _USED, "stop")
    step = steps[position]
    of_pass = taken_steps(request.messages, request.ordinal, progress.first)
    arguments = quoted(cast("Json", step.arguments), of_pass)
    call = CallRequest(
        position=0,
        provider_id=f"call_{request.ordinal}_0",
        name=step.tool,
        arguments=json.dumps(arguments, ensure_ascii=False),
    )
    return ModelAnswer("", (call,), _USED, "tool_calls")


def progress_of(steps: tuple[PipelineStep, ...], earlier: Earlier) -> Progress:
    """Read off the steps taken where the current pass stands.

    Raises ModelFailure `pipeline_out_of_view` where a step or its result is not shown.
    """
    shown = all(taken.results or not taken.calls for taken in earlier.steps.values())
    if not shown or len(earlier.steps) != earlier.ordinal:
        raise ModelFailure(
            "pipeline_out_of_view",
            "the earlier steps of the pipeline are not all in the conversation",
            Disposition.REFUSE,
            next="start a new run: a pipeline's conversation cannot be shortened",
        )
    progress = Progress(first=0)
    for ordinal, taken in sorted(earlier.steps.items()):
        progress = _after(steps, progress, ordinal, taken)
    return progress


def _after(
    steps: tuple[PipelineStep, ...], progress: Progress, ordinal: int, taken: Taken
) -> Progress:
    if not taken.calls:
        return Progress(first=ordinal + 1)
    index = _position(steps, progress.rows)
    step, result = steps[index], taken.results[0]
    return Progress(
        first=progress.first,
        rows=(*progress.rows, Row(index, step.tool, result)),
        stopped=result.failed and step.on_failure is OnFailure.STOP,
    )


def _position(steps: tuple[PipelineStep, ...], rows: tuple[Row, ...]) -> int:
    """Find the next step to run, past those that only a failure calls for."""
    position = rows[-1].index + 1 if rows else 0
    failed = any(row.result.failed for row in rows)
    while position < len(steps) and steps[position].after_failure and not failed:
        position += 1
    return position


def _report(steps: tuple[PipelineStep, ...], progress: Progress) -> str:
    ran = {row.index: row for row in progress.rows}
    reached = progress.rows[-1].index + 1 if progress.stopped else len(steps)
    lines = [
        _summary(len(steps), progress, reached),
        "",
        "| step | tool | result |",
        "| --- | --- | --- |",
    ]
    for index, step in enumerate(steps):
        row = ran.get(index)
        said = "not needed" if index < reached else "not run"
        if row is not None:
            state = "failed" if row.result.failed else "ok"
            said = f"{state}: {_cell(row.result.text)}"
        lines.append(f"| {index + 1} | {_cell(_asked(step))} | {said} |")
    return "\n".join(lines)


def _asked(step: PipelineStep) -> str:
    """Name a step by its tool, and by its one argument where that is plain text."""
    match list(step.arguments.values()):
        case [str(text)] if "{{" not in text:
            return f"{step.tool}: {text}"
        case _:
            return step.tool


def _summary(total: int, progress: Progress, reached: int) -> str:
    ran = len(progress.rows)
    failed = sum(row.result.failed for row in progress.rows)
    if progress.stopped and reached < total:
        return f"Stopped at step {reached} of {total}: it failed."
    if failed:
        many = f"All {total}" if ran == total else f"{ran} of {total}"
        return f"{many} steps ran, {failed} failed."
    if ran < total:
        return f"All {ran} steps succeeded, {total - ran} were not needed."
    return f"All {total} steps succeeded."


def _cell(text: str, limit: int = 120) -> str:
    line = " ".join(text.replace("|", "\\|").split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
