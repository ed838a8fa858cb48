"""The command `answer`: what a run asked is answered, by its id or as the only open question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from domain.errors import LegatoError, refused
from domain.runs.recorded import facts_of
from legato.cli.console import Call, json_option, run_async
from legato.cli.steer import RUN_HELP, say_accepted
from legato.door import answer, new_id
from legato.readings import answer_command as command_for
from legato.readings import find_run, overview_of, read_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.overview import AskedView
    from domain.runs.recorded import Recorded
    from ledger.accept import Accepted

_INPUT = re.compile(r"(ask|unknown)-\d+(\.\d+)+")
"""How an input's id reads: such a word is never taken for an answer."""


@click.command("answer", epilog=RUN_HELP)
@click.argument("run")
@click.argument("words", nargs=-1, required=True, metavar="[INPUT] ANSWER...")
@json_option
@click.pass_obj
def answer_command(call: Call, run: str, words: tuple[str, ...]) -> int:
    """Answer the question INPUT of a run (see `legato inbox`); the first answer wins.

    INPUT may be left out where the run asks one question. Several words are joined by
    spaces. Where the question has choices, write one exactly.
    """

    async def work() -> tuple[str, str, str, Accepted]:
        async with call.door(run) as door:
            run_id = await find_run(door.ledger, run)
            events = await read_run(door.ledger, run_id)
            input_id, text = addressed(run_id, events, words)
            given = await answer(door, run_id, input_id, text, submission=new_id())
            return run_id, input_id, text, given

    run_id, input_id, text, accepted = run_async(work())
    then = "goes on" if accepted.run.ended is None else "has ended; the answer stands in its record"
    said = f"answered: {run_id} {then}"
    say_accepted(call, run_id, accepted, said, input_id=input_id, answer=text)
    return 0


def addressed(run_id: str, events: Sequence[Recorded], words: Sequence[str]) -> tuple[str, str]:
    """Find which question the words answer, and with what.

    The first word names it where it is the id of an input; else it is the only open one.
    Raises `input_not_found` where nothing is asked, `input_ambiguous` with all that is,
    and `usage` where a question is named without an answer.
    """
    known = {fact.input_id for fact in facts_of(events) if fact.type == "input.asked"}
    asked = overview_of(events).waits.open_questions
    if words[0] in known or _INPUT.fullmatch(words[0]):
        if len(words) == 1:
            raise _without_answer(run_id, words[0], asked)
        return words[0], " ".join(words[1:])
    if len(asked) == 1:
        return asked[0].input_id, " ".join(words)
    if asked:
        raise _several(run_id, asked)
    raise _nothing(run_id, over=any(event.fact.closes for event in events))


def _without_answer(run_id: str, input_id: str, asked: Sequence[AskedView]) -> LegatoError:
    choices = next((one.choices for one in asked if one.input_id == input_id), ())
    return LegatoError(
        "usage",
        f"there is no answer to {input_id}",
        cause=f"the choices are {', '.join(choices)}" if choices else "",
        next=f"write it behind: `{command_for(run_id, input_id, choices)}`",
    )


def _nothing(run_id: str, *, over: bool) -> LegatoError:
    """Say that there is no question; a message is proposed to a run only that can take one."""
    then = f"`legato send {run_id} TEXT` sends it a message"
    return refused(
        "input_not_found",
        f"the run {run_id} {'has ended and ' if over else ''}asks nothing",
        next=f"see `legato show {run_id}`" + ("" if over else f"; {then}"),
    )


def _several(run_id: str, asked: Sequence[AskedView]) -> LegatoError:
    commands = [command_for(run_id, one.input_id, one.choices) for one in asked]
    listed = "; ".join(f"{one.input_id}: {one.text}" for one in asked)
    return refused(
        "input_ambiguous",
        f"the run {run_id} asks {len(asked)} questions: {listed}",
        next="name the one you answer: " + " or ".join(f"`{one}`" for one in commands),
        details={"questions": [one.input_id for one in asked], "commands": commands},
    )
