"""A scripted model: what a file may say, what is played, what is refused."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.models.select import model_for
from domain.errors import LegatoError
from domain.ports import Disposition, ModelAnswer, ModelFailure
from domain.runs.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from domain.runs.script import parse_script, play
from tests.support.model_requests import (
    HELLO,
    Heard,
    answer_to,
    failure_to,
    request_of,
    result_of,
    said,
)

if TYPE_CHECKING:
    from pathlib import Path

    from domain.ports import Model, ModelRequest
    from domain.runs.conversation import Message

READ_THEN_WRITE = """
steps:
  - calls: [{tool: look, arguments: {path: a.py}}]
  - calls:
      - tool: change
        arguments:
          path: a.py
          revision: "{{result.0.revision}}"
          lines: ["{{ result.-1 }}", "step {{ordinal}}", 3]
          seen: {from: {step: 0, regex: 'size=(\\d+)'}}
    expect:
      last_tool: {name: look, failed: false, contains: [revision, size]}
      user_contains: Hello
      tools_include: [look]
      tools_exclude: forbidden
      message_count: 3
  - text: Done.
    usage: {input_tokens: 10, output_tokens: 2, cost: "0.5"}
"""


def nothing(_: str) -> None:
    """An environment without keys."""


def written(folder: Path, text: str) -> str:
    """Write a script, give its model's name."""
    file = folder / "script.yaml"
    file.write_text(text, encoding="utf-8")
    return f"script:{file}"


def scripted(folder: Path, text: str) -> Model:
    return model_for(written(folder, text), nothing)


async def test_a_script_is_played_by_ordinal_and_quotes_results(tmp_path: Path) -> None:
    model = scripted(tmp_path, READ_THEN_WRITE)
    first = await answer_to(model, request_of())
    result = result_of(first, 0, "revision: ab12\nsize=42")
    sent = request_of(HELLO, said(first), result, ordinal=1, tools=("look",))
    second = await answer_to(model, sent)
    third = await answer_to(model, request_of(ordinal=2))

    assert first.finish == second.finish == "tool_calls"
    assert second.calls[0].arguments == (
        '{"path": "a.py", "revision": "ab12", '
        '"lines": ["revision: ab12\\nsize=42", "step 1", 3], "seen": "42"}'
    )
    assert (third.text, third.finish) == ("Done.", "stop")
    assert (third.usage.input_tokens, third.usage.cost, third.usage.prices) == (10, "0.5", "script")
    assert (first.usage.input_tokens, first.usage.cost) == (0, "0")


async def test_past_its_end_a_script_is_exhausted(tmp_path: Path) -> None:
    failure = await failure_to(scripted(tmp_path, "steps: [{text: a}]"), request_of(ordinal=1))

    assert (failure.code, failure.disposition) == ("script_exhausted", Disposition.REFUSE)


async def test_a_repeated_script_quotes_within_its_own_pass(tmp_path: Path) -> None:
    text = """
repeat: true
steps:
  - calls: [{tool: look}]
  - calls: [{tool: change, arguments: {was: "{{result.0}}"}}]
  - text: Turn over.
"""
    model = scripted(tmp_path, text)
    messages: list[Message] = [HELLO]
    answers: list[ModelAnswer] = []
    for ordinal in range(6):
        answer = await answer_to(model, request_of(*messages, ordinal=ordinal))
        answers.append(answer)
        messages.append(said(answer))
        messages += [result_of(answer, 0, f"result {ordinal}")] if answer.calls else []

    assert [answer.finish for answer in answers] == ["tool_calls", "tool_calls", "stop"] * 2
    assert answers[1].calls[0].arguments == '{"was": "result 0"}'
    assert answers[4].calls[0].arguments == '{"was": "result 3"}'


FAILED = ToolMessage(provider_id="x", name="look", text="no such file", failed=True)


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ("{last_tool: {name: find}}", "of find, got one of look"),
        ("{last_tool: {failed: false}}", "to have succeeded, it failed: 'no such file'"),
        ("{last_tool: {contains: found}}", "to contain 'found', got 'no such file'"),
        ("{user_contains: [Hello, Bye]}", "to contain 'Bye', got 'Hello'"),
        ("{tools_include: [find, look]}", "the tools find, got look"),
        ("{tools_exclude: look}", "not to be offered the tools look"),
        ("{message_count: 7}", "7 messages, got 2"),
    ],
)
async def test_a_failed_expectation_says_what_was_expected_and_got(
    expect: str, says: str, tmp_path: Path
) -> None:
    model = scripted(tmp_path, f"steps: [{{text: a, expect: {expect}}}]")
    failure = await failure_to(model, request_of(HELLO, FAILED, tools=("look",)))

    assert (failure.code, failure.disposition) == ("script_expectation", Disposition.REFUSE)
    assert says in failure.message


async def test_all_failed_expectations_are_told_at_once(tmp_path: Path) -> None:
    expect = "{last_tool: {name: find}, user_contains: Bye, message_count: 9}"
    model = scripted(tmp_path, f"steps: [{{text: a, expect: {expect}}}]")
    message = (await failure_to(model)).message

    assert "find" in message
    assert "'Bye'" in message
    assert "9 messages" in message


@pytest.mark.parametrize(
    "arguments",
    [
        '{a: "{{result.0}}"}',
        '{a: "{{result.-1.revision}}"}',
        "{a: {from: {step: 0, call: 1, regex: x}}}",
        "{a: {from: {step: 0, regex: nowhere}}}",
    ],
)
async def test_a_quote_that_finds_nothing_is_refused(arguments: str, tmp_path: Path) -> None:
    text = f"steps: [{{text: a}}, {{calls: [{{tool: t, arguments: {arguments}}}]}}]"
    messages = (HELLO, AssistantMessage(text="a"))
    failure = await failure_to(scripted(tmp_path, text), request_of(*messages, ordinal=1))

    assert (failure.code, failure.disposition) == ("quote_unresolved", Disposition.REFUSE)


async def test_arguments_given_as_text_are_sent_as_they_stand(tmp_path: Path) -> None:
    model = scripted(tmp_path, "steps: [{calls: [{tool: t, arguments: '{broken'}]}]")

    assert (await answer_to(model)).calls[0].arguments == "{broken"


async def test_a_failing_step_fails_so_often_and_then_answers(tmp_path: Path) -> None:
    fail = "{code: busy, disposition: capacity, retry_after: 45, times: 2, partial: So}"
    name = written(tmp_path, f"steps: [{{text: Well., fail: {fail}}}]")
    failures = [await failure_to(model_for(name, nothing)) for _ in range(2)]

    assert {(f.code, f.disposition, f.retry_after, f.partial) for f in failures} == {
        ("busy", Disposition.CAPACITY, 45, "So")
    }
    assert (await answer_to(model_for(name, nothing))).text == "Well."
    assert (await failure_to(model_for(name, nothing))).code == "busy"


async def test_a_step_without_an_answer_fails_every_time(tmp_path: Path) -> None:
    model = scripted(tmp_path, "steps: [{fail: {code: down, disposition: retry}}]")

    assert {(await failure_to(model)).code for _ in range(4)} == {"down"}


async def test_a_delay_streams_the_text_in_pieces_and_can_be_cancelled(tmp_path: Path) -> None:
    model = scripted(tmp_path, "steps: [{text: One two three, delay_seconds: 0.1}]")
    heard = Heard()
    began = time.monotonic()
    await model(request_of(), heard)

    assert time.monotonic() - began >= 0.09
    assert len(heard.pieces) > 1
    assert "".join(heard.pieces) == "One two three"
    slow = scripted(tmp_path, "steps: [{text: abc, delay_seconds: 600}]")
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(slow(request_of(), heard), timeout=0.05)


BAD_REGEX = "{a: {from: {step: 0, regex: '('}}}"
WRONG = """
again: true
steps:
  - {}
  - text: a
    calls: [{tool: ""}]
  - fail: {code: "Not A Code", disposition: maybe}
"""


def test_a_bad_script_lists_everything_wrong_at_once(tmp_path: Path) -> None:
    with pytest.raises(LegatoError) as caught:
        scripted(tmp_path, WRONG)

    told = caught.value.message
    assert caught.value.code == "script_invalid"
    places = ("again", "steps.1.calls.0.tool", "steps.2.fail.code", "steps.2.fail.disposition")
    assert [place for place in places if f"{place}: " not in told] == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the document: "),
        ("steps: []", "steps: "),
        ("steps: [{}]", "neither text nor calls nor fail"),
        ("steps: [{calls: [{tool: t}], finish: length}]", "takes no finish"),
        ("steps: [{calls: [{tool: t, arguments: {a: {from: {step: 0, regex: x}}}}]}]", "step 0"),
        (f"steps: [{{calls: [{{tool: t, arguments: {BAD_REGEX}}}]}}]", "regular expression"),
        ("steps: [", "not YAML"),
    ],
)
def test_a_bad_script_is_refused(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(LegatoError, match="script_invalid") as caught:
        scripted(tmp_path, text)

    assert says in caught.value.message


def test_a_script_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LegatoError, match="script_unreadable"):
        model_for(f"script:{tmp_path}/none.yaml", nothing)


@given(steps=st.lists(st.text(min_size=1), min_size=1, max_size=5), extra=st.integers(0, 20))
def test_every_ordinal_plays_its_step_or_is_exhausted(steps: list[str], extra: int) -> None:
    document = {"steps": [{"text": text} for text in steps]}
    once = parse_script(document, "s")
    forever = parse_script({**document, "repeat": True}, "s")

    assert play(forever, request_of(ordinal=extra)).text == steps[extra % len(steps)]
    if extra < len(steps):
        assert play(once, request_of(ordinal=extra)).text == steps[extra]
    else:
        with pytest.raises(ModelFailure, match="script_exhausted"):
            play(once, request_of(ordinal=extra))


@given(results=st.lists(st.text(), min_size=1, max_size=4), before=st.integers(0, 3))
def test_a_quoted_result_is_the_result_whatever_came_before(
    results: list[str], before: int
) -> None:
    calls = [{"tool": "look"} for _ in results]
    quotes = {str(n): f"{{{{result.{n}}}}}" for n in range(len(results))}
    document = {"steps": [{"calls": calls}, {"calls": [{"tool": "t", "arguments": quotes}]}]}
    request = played_once(results, before)

    answer = play(parse_script(document, "s"), request)

    expected = {str(n): text for n, text in enumerate(results)}
    assert json.loads(answer.calls[0].arguments) == expected


def played_once(results: list[str], before: int) -> ModelRequest:
    """A conversation that began in other runs and holds one step of this one."""
    other: list[Message] = [UserMessage(text="hi"), AssistantMessage(text="ho")] * before
    calls = tuple(
        CallRequest(position=n, provider_id=f"c{n}", name="look", arguments="{}")
        for n in range(len(results))
    )
    given = [
        ToolMessage(provider_id=f"c{n}", name="look", text=text, failed=False)
        for n, text in enumerate(results)
    ]
    own: list[Message] = [HELLO, AssistantMessage(text="", calls=calls), *given]
    return request_of(*other, *own, ordinal=1)
