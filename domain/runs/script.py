"""A scripted model: a declared list of answers, played by the number of the step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, ValidationError

from domain.errors import LegatoError, problems
from domain.ports import Disposition, ModelAnswer, ModelFailure, ModelRequest
from domain.runs.conversation import CallRequest, Frozen, ToolMessage, Usage, UserMessage
from domain.runs.earlier import Earlier, quote_problems, quoted, taken_steps

if TYPE_CHECKING:
    from domain.codec import Json

PRICES = "script"
"""The price list of a model that costs nothing."""


_SHOWN = 300


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One text or a list of them; all must hold."""


class ScriptCall(Frozen):
    """One tool call; `arguments` as text is sent as it stands, broken or not."""

    tool: str = Field(min_length=1)
    arguments: dict[str, Any] | str = Field(default_factory=dict[str, Any])


class LastTool(Frozen):
    """What the newest tool result must be."""

    name: str | None = None
    failed: bool | None = None
    contains: Texts = ()


class Expect(Frozen):
    """What must have been sent for the step to be played."""

    last_tool: LastTool | None = None
    user_contains: Texts = ()
    tools_include: Texts = ()
    tools_exclude: Texts = ()
    message_count: int | None = None


class ScriptUsage(Frozen):
    """What the step says it used; tokens that are not said are none."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    cost: str = Field(default="0", pattern=r"^\d+(\.\d+)?$")


class ScriptFailure(Frozen):
    """A failed request; `retry_after` in seconds, `partial` the text sent before it.

    It fails `times` requests of the step, then the step is answered; a step without an
    answer fails every time.
    """

    code: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    disposition: Disposition
    retry_after: float | None = Field(default=None, ge=0)
    partial: str = ""
    times: int = Field(default=1, ge=1)


class ScriptStep(Frozen):
    """One answer: text, calls or both, sent over `delay_seconds` seconds."""

    text: str = ""
    calls: tuple[ScriptCall, ...] = ()
    expect: Expect = Expect()
    delay_seconds: float = Field(default=0, ge=0, le=600)
    usage: ScriptUsage = ScriptUsage()
    fail: ScriptFailure | None = None
    finish: Literal["stop", "length", "content_filter"] = "stop"

    @property
    def answers(self) -> bool:
        """Tell whether the step has anything to answer."""
        return bool(self.text or self.calls)


class Script(Frozen):
    """A whole script; `repeat` begins again after the last step."""

    steps: tuple[ScriptStep, ...] = Field(min_length=1)
    repeat: bool = False


def parse_script(document: object, source: str) -> Script:
    """Check a script that was read from `source`; raises `script_invalid` with all problems."""
    try:
        script = Script.model_validate(document)
    except ValidationError as error:
        raise script_invalid(source, _field_problems(error)) from None
    found = [p for number, step in enumerate(script.steps) for p in _step_problems(number, step)]
    if found:
        raise script_invalid(source, found)
    return script


def script_invalid(source: str, found: list[str]) -> LegatoError:
    """Build the refusal of a script file."""
    return problems(
        "script_invalid",
        f"the script {source} cannot be played",
        found,
        next=f"correct {source}; docs/models.md describes every field of a script",
    )


def _field_problems(error: ValidationError) -> list[str]:
    found: list[str] = []
    for item in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in item["loc"]) or "the document"
        found.append(f"{place}: {item['msg'][:1].lower()}{item['msg'][1:]}")
    return found


def _step_problems(number: int, step: ScriptStep) -> list[str]:
    found: list[str] = []
    if not step.answers and step.fail is None:
        found.append(f"steps.{number}: it has neither text nor calls nor fail")
    if step.calls and step.finish != "stop":
        found.append(f"steps.{number}: a step with calls takes no finish")
    for index, call in enumerate(step.calls):
        wrong = quote_problems(cast("Json", call.arguments), number)
        found += [f"steps.{number}.calls.{index}: {problem}" for problem in wrong]
    return found


def script_step(script: Script, ordinal: int) -> ScriptStep:
    """Choose the step to play; raises ModelFailure `script_exhausted` past the end."""
    count = len(script.steps)
    if script.repeat:
        return script.steps[ordinal % count]
    if ordinal < count:
        return script.steps[ordinal]
    raise ModelFailure(
        "script_exhausted",
        f"the script has {count} steps and step {ordinal} was asked for",
        Disposition.REFUSE,
        next="add a step to the script, or let its last step answer without calls",
    )


def play(script: Script, request: ModelRequest) -> ModelAnswer:
    """Answer a request; raises ModelFailure `script_expectation` or `quote_unresolved`."""
    step = script_step(script, request.ordinal)
    unmet = unmet_expectations(step.expect, request)
    if unmet:
        raise ModelFailure(
            "script_expectation",
            f"step {request.ordinal} of the script expected " + "; ".join(unmet),
            Disposition.REFUSE,
            next="correct the script where it is wrong, or what was sent where it is right",
        )
    first = request.ordinal - request.ordinal % len(script.steps) if script.repeat else 0
    earlier = taken_steps(request.messages, request.ordinal, first)
    calls = tuple(_call(position, call, earlier) for position, call in enumerate(step.calls))
    return ModelAnswer(
        text=step.text,
        calls=calls,
        usage=Usage(**step.usage.model_dump(), prices=PRICES),
        finish="tool_calls" if calls else step.finish,
    )


def _call(position: int, call: ScriptCall, earlier: Earlier) -> CallRequest:
    if isinstance(call.arguments, str):
        arguments = call.arguments
    else:
        filled = quoted(cast("Json", call.arguments), earlier)
        arguments = json.dumps(filled, ensure_ascii=False)
    return CallRequest(
        position=position,
        provider_id=f"call_{earlier.ordinal}_{position}",
        name=call.tool,
        arguments=arguments,
    )


def scripted_failure(failure: ScriptFailure) -> ModelFailure:
    """Build the failure that a step declares."""
    made = ModelFailure(
        failure.code,
        "the script says that this request fails",
        failure.disposition,
        retry_after=failure.retry_after,
        partial=failure.partial,
        next="remove `fail` from the step where this is not meant",
    )
    made.falls_back = True
    return made


def unmet_expectations(expect: Expect, request: ModelRequest) -> list[str]:
    """List each expectation that what was sent does not meet, with what was sent."""
    offered = [tool.name for tool in request.tools]
    found = _last_tool(expect.last_tool, request) if expect.last_tool else []
    said = next((m.text for m in reversed(request.messages) if isinstance(m, UserMessage)), None)
    found += [
        f"the last user message to contain {text!r}, got {_short(said)}"
        for text in expect.user_contains
        if said is None or text not in said
    ]
    missing = [name for name in expect.tools_include if name not in offered]
    extra = [name for name in expect.tools_exclude if name in offered]
    if missing:
        found.append(f"the tools {', '.join(missing)}, got {', '.join(offered) or 'none'}")
    if extra:
        found.append(f"not to be offered the tools {', '.join(extra)}")
    if expect.message_count not in (None, len(request.messages)):
        found.append(f"{expect.message_count} messages, got {len(request.messages)}")
    return found


def _last_tool(wanted: LastTool, request: ModelRequest) -> list[str]:
    got = next((m for m in reversed(request.messages) if isinstance(m, ToolMessage)), None)
    if got is None:
        return [f"a result of {wanted.name or 'a tool'}, got no result at all"]
    found: list[str] = []
    if wanted.name not in (None, got.name):
        found.append(f"the last result to be of {wanted.name}, got one of {got.name}")
    if wanted.failed not in (None, got.failed):
        state = {True: "failed", False: "succeeded"}
        found.append(
            f"the last result ({got.name}) to have {state[not got.failed]}, "
            f"it {state[got.failed]}: {_short(got.text)}"
        )
    found += [
        f"the last result ({got.name}) to contain {text!r}, got {_short(got.text)}"
        for text in wanted.contains
        if text not in got.text
    ]
    return found


def _short(text: str | None) -> str:
    if text is None:
        return "none"
    if len(text) > _SHOWN:
        text = text[: _SHOWN * 2 // 3] + " ... " + text[-_SHOWN // 3 :]
    return repr(text)
