"""What the program says of itself and of a command line that it cannot take, in JSON too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

import pytest

from legato.cli import roles
from legato.embedded.processes import ProcessId
from legato.embedded.state import PartState, StackState, Status, write_state
from tests.support.stack import Result, call_inside, clean_environment

if TYPE_CHECKING:
    from pathlib import Path


def say(home: Path, *arguments: str) -> Result:
    """Call the program in a home where nothing was ever started."""
    return call_inside(clean_environment(home), *arguments)


@pytest.mark.parametrize("command", [[], ["run"], ["ledger"], ["ledger", "verify"], ["status"]])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_one_json_document_where_that_is_wanted(
    tmp_path: Path, command: list[str], flag: str
) -> None:
    before = say(tmp_path, "--json", *command, flag)
    after = say(tmp_path, *command, flag, "--json")

    assert (before.code, before.json["ok"]) == (0, True)
    assert before.json["command"] == " ".join(["legato", *command])
    assert before.json["help"].startswith(f"Usage: {before.json['command']}")
    assert after.json == before.json


def test_help_and_version_are_text_for_people(tmp_path: Path) -> None:
    assert say(tmp_path, "--help").out.startswith("Usage: legato")
    assert say(tmp_path).out == say(tmp_path, "--help").out
    version = say(tmp_path, "--version")

    assert (version.code, version.out.strip()) == (
        0,
        say(tmp_path, "--json", "--version").json["version"],
    )


@pytest.mark.parametrize(
    ("command", "near"),
    [
        (["rnus"], "runs"),
        (["ledger", "verfy"], "verify"),
        (["run", "generic", "go", "--modle", "x"], "--model"),
        (["--jsno", "runs"], "--json"),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_near_one(
    tmp_path: Path, command: list[str], near: str
) -> None:
    refused = say(tmp_path, "--json", *command)
    read = say(tmp_path, *command)

    assert (refused.code, refused.error["code"]) == (2, "usage")
    assert near in refused.error["details"]["did_you_mean"]
    assert read.out == ""
    assert "Did you mean" in read.err
    assert near in read.err


def test_a_name_that_is_near_none_is_refused_alone(tmp_path: Path) -> None:
    refused = say(tmp_path, "--json", "xyzzy")

    assert (refused.code, refused.error["details"]) == (2, {})


def test_a_command_without_its_second_word_names_those_there_are(tmp_path: Path) -> None:
    refused = say(tmp_path, "--json", "ledger")

    assert (refused.code, refused.error["code"]) == (2, "usage")
    named = str(refused.error["message"]).removeprefix("legato ledger needs a command: ")
    assert "verify" in named.split(", ")


def _break() -> NoReturn:
    key = "sk-planted"
    raise RuntimeError(key)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_command_that_breaks_says_where_and_shows_no_text_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    monkeypatch.setattr(roles.roles_command, "callback", _break)

    broke = say(tmp_path, *flags, "roles")
    said = broke.out + broke.err

    assert broke.code == 1
    assert "internal" in said
    assert f"RuntimeError at {__file__}:" in said
    assert "legato doctor" in said
    assert "sk-planted" not in said


@pytest.mark.parametrize("command", [["show"], ["log"], ["stop"], ["replay"], ["send"], ["answer"]])
@pytest.mark.parametrize("run", ["01a22cdb-de41", "short"])
def test_a_run_that_cannot_be_there_is_not_found_without_starting_anything(
    tmp_path: Path, command: list[str], run: str
) -> None:
    more = ["words"] if command[0] in {"send", "answer"} else []

    refused = say(tmp_path / "home", "--json", *command, run, *more)

    assert (refused.code, refused.error["code"]) == (4, "run_not_found")
    assert refused.error["cause"]
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(("left", "shown"), [(Status.STOPPED, "stopped"), (Status.READY, "failed")])
def test_a_stack_that_is_not_supervised_has_no_addresses(
    tmp_path: Path, left: Status, shown: str
) -> None:
    gone = ProcessId(4194000, "0")
    state = StackState(
        status=left,
        supervisor=gone,
        temporal_address="127.0.0.1:7",
        ui_address="http://127.0.0.1:8",
        database_url="postgresql://legato:planted@/legato",
        parts=(PartState("postgres", gone, "127.0.0.1:9"),),
        versions={"postgres": "18"},
    )
    write_state(tmp_path, state)

    status = say(tmp_path, "--json", "status")
    read = say(tmp_path, "status")

    assert (status.code, status.json["status"]) == (7, shown)
    addresses = {name: status.json[name] for name in ("temporal_address", "ui_address")}
    assert addresses == {"temporal_address": "", "ui_address": ""}
    assert (status.json["database_url"], status.json["versions"]) == ("", {})
    assert "127.0.0.1:7" not in read.out
    assert "planted" not in json.dumps(status.json)
    assert "up`" in read.out


@pytest.mark.parametrize(
    ("option", "amount", "said"),
    [
        ("--max-steps", "x", "'x' is no whole number, such as 10 or +10"),
        ("--max-tokens", "1.5", "'1.5' is no whole number, such as 10 or +10"),
        ("--max-seconds", "+1m", "'1m' is no number of seconds, such as 90 or +90"),
        ("--max-cost", "much", "'much' is no amount of money, such as 2.50 or +2.50"),
    ],
)
def test_a_limit_that_is_no_amount_is_told_what_it_has_to_be(
    tmp_path: Path, option: str, amount: str, said: str
) -> None:
    refused = say(tmp_path, "--json", "budget", "01a22df9-41e3", option, amount)

    assert refused.code == 2
    assert said in refused.error["message"]


def test_a_saved_step_without_a_message_is_asked_for_its_message(tmp_path: Path) -> None:
    refused = say(tmp_path, "--json", "run", "--step-config", "flows#fetch")
    nobody = say(tmp_path, "--json", "run")

    assert (refused.code, nobody.code) == (2, 2)
    assert refused.error["message"] == "give the MESSAGE: what the saved step is to do"
    assert nobody.error["message"] == "Missing argument 'AGENT'."
