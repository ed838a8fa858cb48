"""A pipeline: played step by step, decided by tags, reported in a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.models.pipeline import pipeline_model
from domain.errors import LegatoError
from domain.ports import Disposition, ModelAnswer
from domain.runs.conversation import AssistantMessage, UserMessage
from domain.runs.pipeline import (
    OnFailure,
    PipelineStep,
    parse_pipeline,
    play_pipeline,
)
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
    from domain.runs.conversation import Message

THREE = json.dumps(
    [
        {"tool": "check", "arguments": {"command": "lint"}, "on_failure": "continue"},
        {"tool": "mend", "arguments": {"seen": "{{result.0}}"}},
        {"tool": "verify"},
    ]
)


def through(
    steps: tuple[PipelineStep, ...], failed: list[bool], before: list[Message]
) -> list[ModelAnswer]:
    """Play a pass to its report; each call's result fails as `failed` says."""
    ordinal = sum(isinstance(message, AssistantMessage) for message in before)
    messages, answers = list(before), list[ModelAnswer]()
    while not answers or answers[-1].calls:
        answer = play_pipeline(steps, request_of(*messages, ordinal=ordinal + len(answers)))
        messages.append(said(answer))
        if answer.calls:
            text = f"result {len(answers)}"
            messages.append(result_of(answer, 0, text, failed=failed[len(answers)]))
        answers.append(answer)
    before[:] = messages
    return answers


async def test_a_pipeline_asks_for_one_call_after_the_other_and_reports() -> None:
    model = pipeline_model(THREE)
    messages: list[Message] = [HELLO]
    asked: list[tuple[str, str]] = []
    for ordinal, failed in enumerate([True, False, False]):
        answer = await answer_to(model, request_of(*messages, ordinal=ordinal))
        (call,) = answer.calls
        asked.append((call.name, call.arguments))
        messages += [said(answer), result_of(answer, 0, "two | three\nproblems", failed=failed)]
    heard = Heard()
    report = await model(request_of(*messages, ordinal=3), heard)

    assert asked[0] == ("check", '{"command": "lint"}')
    assert asked[1] == ("mend", '{"seen": "two | three\\nproblems"}')
    assert asked[2] == ("verify", "{}")
    assert report.text.splitlines() == [
        "All 3 steps ran, 1 failed.",
        "",
        "| step | tool | result |",
        "| --- | --- | --- |",
        "| 1 | check: lint | failed: two \\| three problems |",
        "| 2 | mend | ok: two \\| three problems |",
        "| 3 | verify | ok: two \\| three problems |",
    ]
    assert heard.pieces == [report.text]
    assert (report.finish, report.usage.cost, report.usage.prices) == ("stop", "0", "pipeline")


async def test_a_failed_step_stops_the_pass_and_the_rest_is_not_run() -> None:
    model = pipeline_model(json.dumps([{"tool": "one"}, {"tool": "two"}]))
    first = await answer_to(model)
    failed = result_of(first, 0, "broken", failed=True)

    report = await answer_to(model, request_of(HELLO, said(first), failed, ordinal=1))

    assert report.text.startswith("Stopped at step 1 of 2: it failed.")
    assert "| 2 | two | not run |" in report.text


async def test_steps_that_are_no_longer_shown_are_refused() -> None:
    failure = await failure_to(pipeline_model(THREE), request_of(ordinal=2))

    assert (failure.code, failure.disposition) == ("pipeline_out_of_view", Disposition.REFUSE)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("not json", ["it is not JSON"]),
        ("[]", ["it has no steps"]),
        ('{"tool": "x"}', ["it: "]),
        (
            '[{"tool": ""}, {"tool": "x", "on_failure": "maybe"}, {"arguments": {}, "more": 1}]',
            ["step 0, tool", "step 1, on_failure", "step 2, tool", "step 2, more"],
        ),
        (
            '[{"tool": "x", "arguments": {"a": {"from": {"step": 0, "regex": "("}}}}]',
            ["step 0: quotes step 0", "step 0: quotes with '('"],
        ),
    ],
)
def test_a_bad_pipeline_lists_everything_wrong_at_once(spec: str, says: list[str]) -> None:
    with pytest.raises(LegatoError) as caught:
        parse_pipeline(spec)
    problem = caught.value

    assert problem.code == "pipeline_invalid"
    assert [text for text in says if text not in problem.message] == []
    with pytest.raises(LegatoError, match="pipeline_invalid"):
        pipeline_model(spec)


def test_a_good_pipeline_has_no_problem() -> None:
    assert parse_pipeline(THREE)


STEPS = st.lists(
    st.tuples(st.sampled_from(["one", "two"]), st.sampled_from(OnFailure), st.booleans()),
    min_size=1,
    max_size=5,
)


@given(declared=STEPS, again=st.booleans())
def test_a_pass_ends_at_the_first_failure_that_stops_it(
    declared: list[tuple[str, OnFailure, bool]], *, again: bool
) -> None:
    steps = tuple(PipelineStep(tool=tool, on_failure=on) for tool, on, _ in declared)
    failed = [fails for _, _, fails in declared]
    stops = [f and on is OnFailure.STOP for _, on, f in declared]
    length = stops.index(True) + 1 if True in stops else len(steps)
    conversation: list[Message] = [UserMessage(text="Go")]

    answers = through(steps, failed, conversation)
    if again:
        conversation.append(UserMessage(text="Again"))
        answers = through(steps, failed, conversation)

    assert [a.calls[0].name for a in answers[:-1]] == [s.tool for s in steps[:length]]
    report = answers[-1].text
    assert report.count("| not run |") == len(steps) - length
    assert report.count("| failed: ") == sum(failed[:length])


MENDING = json.dumps(
    [
        {"tool": "lint", "on_failure": "continue"},
        {"tool": "test", "on_failure": "continue"},
        {"tool": "mend", "after_failure": True},
    ]
)


@pytest.mark.parametrize(
    ("failed", "asked", "says"),
    [
        ([False, False], ["lint", "test"], "All 2 steps succeeded, 1 were not needed."),
        ([True, False, False], ["lint", "test", "mend"], "All 3 steps ran, 1 failed."),
    ],
)
def test_a_step_for_failures_runs_only_after_one(
    failed: list[bool], asked: list[str], says: str
) -> None:
    answers = through(parse_pipeline(MENDING), failed, [HELLO])

    assert [answer.calls[0].name for answer in answers[:-1]] == asked
    assert answers[-1].text.startswith(says)
    assert ("| 3 | mend | not needed |" in answers[-1].text) == (len(asked) == 2)
