"""A run told line by line: what each event says, and how long each thing took."""

from __future__ import annotations

import pytest

from domain.agents.definition import RuntimeConfig
from domain.agents.request import AgentRequest
from domain.events import CheckCompleted, Fact, ModelFailed, RunRefused, RunWaiting, TurnStarted
from domain.runs.excerpts import tail
from domain.runs.timeline import Line, call_title, lines
from domain.tools.results import denied, error, ok
from tests.support import facts as f
from tests.support.recorded import recorded

BEGUN = (f.accepted("r"), f.attached(), f.defined(), f.turn_started(), f.requested())


def told(*facts: Fact) -> list[Line]:
    """Tell facts after a run's beginning; gives their lines only."""
    return [line for line in lines(recorded(*BEGUN, *facts)) if line.version > len(BEGUN)]


def test_a_whole_run_is_told_in_order_from_its_acceptance_to_its_end() -> None:
    line = lines(recorded(*f.short_run("r", calls=1)))

    assert [one.type for one in line] == [
        "run.accepted",
        "run.attached",
        "run.defined",
        "turn.started",
        "model.responded",
        "call.settled",
        "model.responded",
        "run.ended",
    ]
    assert [one.version for one in line] == sorted(one.version for one in line)
    assert line[0].at == "2030-01-01T00:00:00.000+00:00"
    assert line[-1].outcome == "ok"


def test_an_answer_took_as_long_as_its_request_was_open() -> None:
    assert [line.seconds for line in told(f.responded())] == [1.0]


def test_a_call_took_as_long_as_since_its_intent_or_else_since_the_response() -> None:
    second = (f.intended(position=1), f.settled(position=1))

    _, read, meant = told(f.responded(calls=2), f.settled(), *second)

    assert (read.seconds, meant.seconds) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("outcome", "mark", "part"),
    [
        (ok("text", changed=("a.py", "b.py")), "ok", "ok, changed a.py, b.py"),
        (error("timeout", "late"), "failed", "error timeout: late"),
        (denied("tool_not_allowed", "no"), "failed", "denied tool_not_allowed: no"),
        (error("exit_status", "exit status 1\nboom"), "failed", "error exit_status: exit status 1"),
    ],
)
def test_a_call_is_told_with_its_outcome(outcome: object, mark: str, part: str) -> None:
    fact = f.settled().model_copy(update={"outcome": outcome})

    line = told(f.responded(calls=1), fact)[-1]

    assert (line.outcome, line.level) == (mark, 2)
    assert line.text == f"read_file(): {part}"


@pytest.mark.parametrize(
    ("fact", "part"),
    [
        (f.unknown(), "nobody can tell whether it happened (worker lost)"),
        (f.asked(), "asks a person: Which?"),
        (f.answered(), "question answered by person:a: this"),
        (f.stopped(), "stop asked for by person:a: enough"),
        (f.attached(2), "link 2 of its chain"),
        (RunWaiting(n=1, on="input", ref="q1"), "waits for input q1"),
        (RunRefused(code="definition_refused", problems=("a: b", "c: d")), "refused: a: b; c: d"),
        (TurnStarted(turn=2, item=0, origin="repair", text="x"), "turn 2: repair of item 1 of 1"),
    ],
)
def test_what_people_must_see_has_a_line(fact: Fact, part: str) -> None:
    assert part in told(fact)[0].text


def test_checks_say_what_failed_and_whether_they_could_run() -> None:
    failed = CheckCompleted(
        item=0, attempt=1, ok=False, terminal=False, failures=("two tests failed",), report="all"
    )
    broken = failed.model_copy(update={"terminal": True})

    first, second = told(failed, broken)

    assert "failed: two tests failed" in first.text
    assert "cannot run" in second.text


def test_the_end_of_a_failed_checks_output_stands_below_its_line_whole() -> None:
    output = "\n".join(f"line {n}" for n in range(1, 101))
    failures = (f"`make test` ended with exit status 2:\n{output}\n",)
    failed = CheckCompleted(
        item=0, attempt=1, ok=False, terminal=False, failures=failures, report="all"
    )

    line = told(failed)[0]

    assert line.text.endswith("failed: `make test` ended with exit status 2")
    shown = line.detail.splitlines()
    assert shown[0] == "[60 lines before these: see `log --raw`]"
    assert shown[1:] == [f"line {n}" for n in range(61, 101)]


def test_one_endless_line_is_shown_by_its_end() -> None:
    shown = tail("x" * 9000 + "the cause", chars=100)

    assert shown == "..." + "x" * 91 + "the cause"


def test_a_failed_request_and_the_one_after_it_are_told() -> None:
    failed = ModelFailed(turn=1, step=1, n=1, code="http_500", message="down", disposition="retry")

    first, second = told(failed, f.requested(n=2))

    assert "the request failed, http_500: down" in first.text
    assert "request 2 is sent" in second.text


def test_a_run_without_a_model_is_answered_by_its_pipeline() -> None:
    runtime = RuntimeConfig(model="", pipeline="[]")
    defined = f.defined().model_copy(update={"runtime": runtime})
    request = AgentRequest(role="check-and-fix", workspace="/w")

    line = lines(
        recorded(f.accepted("r", request=request), defined, f.requested(), f.responded(calls=1))
    )

    assert "the pipeline asked for read_file" in line[-1].text
    assert line[0].text == "accepted: generic in ws-0000"


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        ('{"path":"a.txt"}', "t(path=a.txt)"),
        ('{"list":[1,2],"on":true}', "t(list=[1, 2], on=True)"),
        ("{broken", "t({broken)"),
        ('{"text":"' + "long " * 50 + '"}', "t(text=long long long long long long long long lo"),
    ],
)
def test_a_call_is_written_on_one_short_line(arguments: str, title: str) -> None:
    written = call_title("t", arguments)

    assert written.startswith(title)
    assert len(written) <= 90


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a":' * 100_000, '{"a":' + "[" * 100_000])
def test_arguments_nested_without_end_are_shown_as_text(arguments: str) -> None:
    assert call_title("t", arguments).startswith(f"t({arguments[:20]}")
    call = f.call_request(0).model_copy(update={"arguments": arguments})
    asked = f.responded(calls=1).model_copy(update={"calls": (call,)})

    assert f"t({arguments[:20]}" in told(asked, f.settled())[-1].text.replace(call.name, "t")
