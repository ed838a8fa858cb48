"""The stack from the command line, and everything that is refused before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2 as httpx
import pytest

from tests.support.stack import Result, call_inside, call_program, clean_environment, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stack import LiveStack


def test_status_gives_the_addresses_and_every_part_with_its_process(stack: LiveStack) -> None:
    status = stack.cli("status", "--json")

    assert (status.code, status.json["status"]) == (0, "ready")
    assert status.json["home"] == str(stack.home)
    assert status.json["database_url"] == stack.database_url
    assert status.json["temporal_address"] == stack.temporal_address
    assert status.json["ui_address"].startswith("http://127.0.0.1:")
    alive = {part["name"]: part["alive"] and part["pid"] > 0 for part in status.json["parts"]}
    alive.pop("api", None)  # the stack is ready before it serves
    assert alive == dict.fromkeys(["supervisor", "temporal", "postgres", "worker"], True)


def test_the_api_is_told_and_serves_a_moment_after_the_stack_is_ready(stack: LiveStack) -> None:
    assert until(lambda: is_healthy(stack.cli("status", "--json").json["api_address"]))


def is_healthy(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", timeout=10).text == '{"ok":true}'
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def test_people_are_shown_no_password(stack: LiveStack) -> None:
    status = stack.inside("status")

    password = stack.database_url.split(":")[2].partition("@")[0]
    assert "ready" in status.out
    assert password not in status.out + status.err


def test_the_doctor_finds_a_running_stack_durable_and_whole(stack: LiveStack) -> None:
    found = stack.inside("--json", "doctor")

    grades = {check["name"]: check["grade"] for check in found.json["checks"]}
    assert (found.code, found.json["ok"]) == (0, True), found.out
    assert {grades[name] for name in ("python", "stack", "postgres", "relay", "temporal")} == {"ok"}
    assert all(check["next"] for check in found.json["checks"] if check["grade"] != "ok")


def test_an_empty_home_is_reported_and_nothing_is_started_in_it(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path / "home")

    status = call_program(environment, "--json", "status")
    down = call_inside(environment, "--json", "down")

    assert (status.code, status.json["status"]) == (7, "stopped")
    assert (down.code, down.json["stopped"]) == (0, False)
    assert not (tmp_path / "home").exists()


REFUSED = [
    (["nonsense"], 2, "usage"),
    (["show"], 2, "usage"),
    (["run", "generic", "go", "--max-steps", "few"], 2, "usage"),
    (["run", "generic", "go", "--max-cost", "nan"], 2, "usage"),
    (["run", "generic", "go", "--max-cost", "Infinity"], 2, "usage"),
    (["run", "generic", "go", "--max-cost", "-1"], 2, "usage"),
    (["run", "generic", "go", "--max-cost", "much"], 2, "usage"),
    (["run", "generic", "go", "--max-cost", "1e-999999"], 2, "usage"),
    (["run", "generic", "go", "--max-tokens", str(10**12 + 1)], 2, "usage"),
    (["review-fix", "--max-steps", "9" * 30], 2, "usage"),
    (["runs", "--limit", "10001"], 2, "usage"),
    (["runs", "--limit", "0"], 2, "usage"),
    (["run", "generic", "caf\udce9"], 2, "usage"),
    (["send", "a-run", "--later", "\ud800"], 2, "usage"),
    (["run", "nobody", "go"], 4, "agent_not_found"),
    (["run", "generic", "go", "-w", "/nowhere/at/all"], 4, "workspace_not_found"),
    (["run", "generic", "go", "-w", "/" + "n" * 5000], 4, "workspace_not_found"),
    (["review-fix", "/" + "n" * 300], 4, "workspace_not_found"),
    (["run", "generic", "go", "-w", "/"], 3, "workspace_refused"),
    (["review-fix", "/proc/self"], 3, "workspace_refused"),
    (["run", "generic", "go", "-m", "nonsense"], 3, "model_unknown"),
    (["run", "generic"], 3, "definition_refused"),
]


@pytest.mark.parametrize(("command", "code", "error"), REFUSED, ids=lambda x: str(x)[:40])
def test_what_cannot_work_is_refused_before_anything_is_started(
    command: list[str], code: int, error: str, tmp_path: Path
) -> None:
    refused = call_inside(clean_environment(tmp_path / "home"), "--json", *command)

    assert (refused.code, refused.error["code"]) == (code, error)
    assert refused.error["next"]
    assert not (tmp_path / "home" / "state.json").exists()


def test_people_read_an_error_on_stderr_with_cause_and_next_step(tmp_path: Path) -> None:
    refused = call_program(clean_environment(tmp_path / "home"), "run", "nobody", "go")

    assert refused.out == ""
    assert "agent_not_found" in refused.err
    assert "cause: the agents are review-fix" in refused.err
    assert "next: " in refused.err


def test_bad_settings_are_named_all_at_once(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path) | {
        "TEMPORAL_ADDRESS": "nowhere",
        "DATABASE_URL": "mysql://x",
    }

    refused = call_inside(environment, "--json", "runs")

    assert (refused.code, refused.error["code"]) == (3, "settings_invalid")
    assert len(refused.error["details"]["problems"]) == 2


def test_servers_that_do_not_answer_exit_with_seven(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path) | {
        "TEMPORAL_ADDRESS": "127.0.0.1:1",
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    }

    refused = call_inside(environment, "--json", "runs")

    assert (refused.code, refused.error["code"]) == (7, "ledger_unreachable")


def test_a_beginning_of_several_runs_lists_them(stack: LiveStack) -> None:
    model = stack.script("twins", {"text": "done"})
    begun = [stack.inside("--json", "run", "generic", "go", "-m", model, "-d") for _ in range(2)]
    ids = [one.json["run_id"] for one in begun]

    shown = _ambiguous(stack, ids)

    assert (shown.code, shown.error["code"]) == (4, "run_ambiguous")
    assert set(ids) <= set(shown.error["details"]["runs"])


def _ambiguous(stack: LiveStack, ids: list[str]) -> Result:
    """Show a beginning that both ids have: runs of one minute share their first eight."""
    same = next(n for n in range(len(ids[0])) if ids[0][n] != ids[1][n])
    assert same >= 7
    return stack.inside("--json", "show", ids[0][: max(same, 8)])
