"""What anybody wrote reaches the terminal as text that the terminal does not obey."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from rich.table import Table
from rich.text import Text

from domain.errors import refused
from legato.cli.console import Call

if TYPE_CHECKING:
    from rich.console import RenderableType

HOSTILE = "\x1b]0;title\x07 \x00 \u009b31m \x7f \u202e \u2066 \ud800"
OBEYED = "\x1b\x07\x00\u009b\x7f\u202a\u202e\u2066\u2069\ud800"


def cell(text: str) -> Table:
    """Put text into a table."""
    table = Table()
    table.add_row(Text(text))
    return table


@pytest.mark.parametrize("screen", [Text(HOSTILE), HOSTILE, cell(HOSTILE)])
def test_no_control_character_of_a_text_reaches_the_terminal(
    capsys: pytest.CaptureFixture[str], screen: RenderableType
) -> None:
    Call().show(None, lambda: screen)
    said = capsys.readouterr().out

    assert not set(said) & set(OBEYED)
    assert "\u241b]0;title" in said
    assert "\u2400" in said
    assert "\ufffd31m" in said


def test_lines_and_tabs_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Call().show(None, lambda: Text("one\ntwo\n  gr\u00fc\u00df \u65e5\u672c"))

    assert capsys.readouterr().out == "one\ntwo\n  gr\u00fc\u00df \u65e5\u672c\n"


def test_the_styles_of_the_console_itself_are_sequences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    Call().show(None, lambda: Text("a\x1b[31mb", style="bold"))

    assert capsys.readouterr().out == "\x1b[1ma\u241b[31mb\x1b[0m\n"


def test_an_error_shows_what_it_names_without_its_sequences(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Call().fail(refused("code", "no \x1b[2J", cause="\x1b[31m", next="\u202e"))

    assert (
        capsys.readouterr().err
        == "error (code): no \u241b[2J\n  cause: \u241b[31m\n  next: \ufffd\n"
    )


def test_a_json_document_holds_the_text_itself(capsys: pytest.CaptureFixture[str]) -> None:
    Call(json=True).show({"text": HOSTILE}, lambda: "")

    assert json.loads(capsys.readouterr().out) == {"text": HOSTILE}
