"""A run that did not complete ends with the step that mends it."""

from __future__ import annotations

from domain.events import RunEnded
from legato.cli.ending import ended
from legato.cli.refusal import next_step
from tests.support import facts as f
from tests.support.recorded import recorded

MISSING = "definition_refused model_unusable: model_key_missing: it needs a key"


def test_who_has_no_key_is_told_to_set_it_and_to_start_the_stack_anew() -> None:
    step = next_step(MISSING, "anthropic:m", lambda _: False)

    assert step.startswith("set ANTHROPIC_API_KEY, then `legato down` and run again")


def test_who_has_the_key_is_told_that_the_worker_does_not() -> None:
    step = next_step(MISSING, "google:m", lambda name: name == "GEMINI_API_KEY")

    assert step.startswith("GEMINI_API_KEY is set here, but the running worker does not have it")
    assert "`legato down`, then run again" in step


def test_each_problem_with_a_model_has_its_own_step() -> None:
    assert "existing YAML file" in next_step("script_unreadable: no", "script:/x", lambda _: False)
    assert "anthropic:MODEL" in next_step("model_unknown: no", "gpt", lambda _: False)
    assert next_step("tool_missing: no", "script:/x", lambda _: False) == ""


def over(reason: str) -> str:
    """The next step of a run that a limit ended."""
    end = RunEnded(status="over_budget", reason=reason, by="system", message="m", items_done=0)
    error = ended(recorded(f.accepted("r1"), f.attached(), f.defined(), end), "").error
    assert error is not None
    return error.next


def test_a_run_over_its_budget_names_the_command_that_goes_on_with_more() -> None:
    assert over("budget_tokens").startswith("`legato resume r1 --max-tokens +N` goes on with N")
    assert over("budget_price_unknown") == "see `legato show r1`"
