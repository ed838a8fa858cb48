"""The command `demo`: the main job on a small repository, its worker killed twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.console import Group
from rich.rule import Rule
from rich.text import Text

from domain.runs.timeline import Timeline, lines
from legato.cli.console import Call, json_option, run_async
from legato.cli.ending import ended, ending_json
from legato.cli.follow import page_of
from legato.cli.screens.change import change_screen, diff_screen
from legato.cli.screens.ending import ending_screen
from legato.cli.screens.tables import facts
from legato.cli.screens.timeline import line_screen, timeline_screen
from legato.demo import Heard, require_embedded, tell_story
from legato.door import new_id
from legato.review_fix import finished_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from domain.runs.recorded import Recorded
    from domain.runs.timeline import Line
    from legato.cli.ending import Ended
    from legato.demo import Proof, Story

OPENING = """\
Review+Fix on a small git repository with a real defect. There is no key and no model: the
answers are scripted (legato/demo/script.yaml). Every tool call, file change, test run and event
is real, and so are the two kills."""


_DETAIL = 2
"""The level of a timeline's lines below a turn."""


@click.command("demo")
@json_option
@click.pass_obj
def demo_command(call: Call) -> int:
    """Run Review+Fix on a small repository, kill its worker twice, show that nothing is lost.

    Needs no key. What it makes stays in LEGATO_HOME to be looked at. Exit status 0 only where
    every claim at its end holds.
    """
    require_embedded(call.settings())
    return run_async(_demo(call))


async def _demo(call: Call) -> int:
    console = call.err if call.json else call.out
    console.print(Text(OPENING))
    run_id, timeline = new_id(), Timeline()

    def say(text: str) -> None:
        console.print(Text(f"          {text}", style="bold magenta"))

    def event(one: Recorded) -> None:
        line = timeline.tell(one)
        if line is not None:
            console.print(line_screen(line))

    async with call.door() as door:
        console.print(facts([("home", str(door.settings.home)), ("run", run_id)]))
        story = await tell_story(door, run_id, Heard(say, event))
        first = story.events[0].fact
        workflow = first.workflow_id if first.type == "run.accepted" else ""
        end = ended(story.events, page_of(door, workflow, ()))
    call.show(_json(story, end), lambda: _screen(story, end))
    return 0 if story.holds else 1


def _json(story: Story, end: Ended) -> dict[str, object]:
    return {
        **finished_json(story.finished),
        **ending_json(end),
        "ok": story.holds,
        "home_repository": story.repository,
        "kills": [
            {"where": kill.where, "pid": kill.pid, "next_pid": kill.next_pid, "away": kill.away}
            for kill in story.kills
        ],
        "proofs": [
            {"claim": one.claim, "holds": one.holds, "seen": one.seen} for one in story.proofs
        ],
        "seconds": round(story.seconds, 1),
    }


def _screen(story: Story, end: Ended) -> RenderableType:
    """Show the run whole: timeline, diff, cost, proofs, and where to look further."""
    change = story.finished.change
    diff = change.diff if change is not None else ""
    word = "everything held" if story.holds else "NOT everything held"
    return Group(
        Text(),
        Rule("the run in short, from the ledger", align="left", style="dim"),
        timeline_screen(one for one in lines(story.events) if _tells(one)),
        Rule("what it changed", align="left", style="dim"),
        diff_screen(diff),
        Rule("how it ended", align="left", style="dim"),
        ending_screen(end),
        Text("no model was paid: the tokens are those that the script declares", style="dim"),
        change_screen(story.finished),
        Rule(f"{word}, {story.seconds:.0f} s", align="left", style="dim"),
        *(_proof(one) for one in story.proofs),
        Text(),
        facts(
            [
                ("look at it", f"legato show {story.run_id}"),
                ("in Temporal", end.page),
                ("stop the stack", "legato down"),
                ("your own", "legato review-fix PATH --model ..., see README.md"),
            ]
        ),
    )


def _tells(line: Line) -> bool:
    """Pick the lines that matter: the run, its turns, and whatever did not go smoothly."""
    return line.level < _DETAIL or line.outcome == "failed"


def _proof(one: Proof) -> Text:
    mark, style = ("ok", "green") if one.holds else ("x ", "bold red")
    return Text(mark, style=style).append(f" {one.claim}: {one.seen}", style="")
