"""The command `review-fix`: Review+Fix on one's own repository, on a branch of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.console import Group
from rich.text import Text

from domain.runs.run import OPEN, Status
from legato.cli.console import Call, json_option, run_async
from legato.cli.ending import ending_json
from legato.cli.follow import INTERRUPTED, followed, interruption, page_of
from legato.cli.limits import Limits, budget_of, limit_options
from legato.cli.run import FALLBACK_HELP, MODEL_HELP, SKILL_HELP
from legato.cli.screens.change import change_screen
from legato.cli.screens.ending import ending_screen
from legato.cli.spelling import spelled
from legato.door import launch, new_id
from legato.readings import find_run
from legato.review_fix import (
    Asked,
    Prepared,
    abandon,
    begin,
    finish,
    finish_command,
    finished_json,
    prepare,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from typing_extensions import Unpack

    from domain.agents.request import AgentRequest
    from ledger.dispatch import Dispatched
    from legato.cli.ending import Ended
    from legato.door import Door
    from legato.review_fix import Finished
    from legato.worktrees import Tree


class ReviewFixOptions(Limits):
    """Everything that `review-fix` takes."""

    path: str
    model: str
    fallback: str
    checks: tuple[str, ...]
    skills: tuple[str, ...]
    message: str
    in_place: bool
    unattended: bool
    detach: bool
    finish_run: str
    accept_config: bool


@click.command("review-fix")
@click.argument("path", default=".")
@click.option("--model", "-m", default="", help=MODEL_HELP)
@click.option("--fallback", default="", metavar="MODEL", help=FALLBACK_HELP)
@click.option("--check", "checks", multiple=True, metavar="CMD", help="A command that must pass.")
@click.option("--message", default="", metavar="TEXT", help="What to look at above all.")
@click.option("--in-place", is_flag=True, help="Work on the tree itself; nothing is committed.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help=SKILL_HELP)
@limit_options
@click.option("--unattended", is_flag=True, help="Nobody is there to answer questions.")
@click.option("--detach", "-d", is_flag=True, help="Return as soon as it is accepted.")
@click.option("--finish", "finish_run", default="", metavar="RUN", help="Commit an ended run.")
@click.option("--accept-config", is_flag=True, help="With --finish: git's new configuration too.")
@json_option
@click.pass_obj
def review_fix_command(call: Call, **given: Unpack[ReviewFixOptions]) -> int:
    """Review the repository at PATH, repair what is found, prove it by the checks.

    The work is done in a git worktree on a branch of its own and committed there; your own
    tree is not touched. After --detach or Ctrl-C, `review-fix --finish RUN` commits it.

    Exit status: 0 completed, 1 failed, 3 refused, 5 waits for a person, 6 stopped, 130 after
    Ctrl-C (the run goes on).
    """
    if given["finish_run"]:
        return run_async(_finish(call, given["finish_run"], trust=given["accept_config"]))
    asked = Asked(
        path=given["path"],
        model=given["model"],
        fallback=given["fallback"],
        budget=budget_of(given),
        max_tokens=given["max_output_tokens"],
        max_wait=given["max_wait"],
        checks=given["checks"],
        skills=given["skills"] or None,
        focus=given["message"],
        in_place=given["in_place"],
        attended=not given["unattended"],
    )
    prepared = prepare(call.settings(), asked)
    for line in (*prepared.workspace.why, *prepared.notes):
        call.progress(line)
    return _start(call, prepared, detach=given["detach"])


def _start(call: Call, prepared: Prepared, *, detach: bool) -> int:
    """Make the tree, run, and finish; a run that was never accepted leaves no tree."""
    home, run_id, accepted = call.settings().home, new_id(), list[str]()
    request, tree = begin(home, run_id, prepared)
    try:
        return run_async(_run(call, request, tree, run_id, accepted, detach=detach))
    except KeyboardInterrupt:
        call.fail(interruption(run_id, accepted=bool(accepted)))
        call.progress(spelled(f"once it has ended: `{finish_command(run_id)}`"))
        return INTERRUPTED
    except Exception:
        if not accepted:
            abandon(home, tree)
        raise


async def _run(
    call: Call,
    request: AgentRequest,
    tree: Tree | None,
    run_id: str,
    accepted: list[str],
    *,
    detach: bool,
) -> int:
    async with call.door() as door:
        done = await launch(door, request, run_id=run_id)
        accepted.append(run_id)
        if detach:
            _say_detached(call, door, done, tree)
            return 0
        call.tell(f"run {run_id} in {request.workspace}")
        end = await followed(call, door, run_id)
        finished = None
        if Status(end.seen.state.status) not in OPEN:
            finished = await finish(door, run_id)
        call.show(_result(end, finished, run_id), lambda: _screen(end, finished, run_id))
        return end.exit


async def _finish(call: Call, written: str, *, trust: bool) -> int:
    async with call.door(written) as door:
        run_id = await find_run(door.ledger, written)
        finished = await finish(door, run_id, trust_config=trust)
    call.show({"ok": True, **finished_json(finished)}, lambda: change_screen(finished))
    return 0


def _say_detached(call: Call, door: Door, done: Dispatched, tree: Tree | None) -> None:
    run_id, asked = done.run_id, done.asked
    row: dict[str, object] = {"ok": True, "run_id": run_id, "workflow_id": done.workflow_id}
    row |= {"status": "queued", "agent": asked.agent, "session": asked.session}
    row |= {"ui": page_of(door, done.workflow_id, ()), "workspace": asked.request.workspace}
    row |= {"branch": tree.branch if tree else "", "finish": finish_command(run_id)}
    said = f"accepted: {run_id}\nfollow it with `legato log {run_id} --follow`\n"
    call.show(row, lambda: Text(spelled(f"{said}once it has ended: `{finish_command(run_id)}`")))


def _result(end: Ended, finished: Finished | None, run_id: str) -> dict[str, object]:
    body = ending_json(end)
    if finished is None:
        return {**body, "change": None, "finish": finish_command(run_id)}
    return {**finished_json(finished), **body}


def _screen(end: Ended, finished: Finished | None, run_id: str) -> RenderableType:
    if finished is None:
        said = f"once it has ended: `{finish_command(run_id)}`"
        return Group(ending_screen(end), Text(spelled(said)))
    return Group(ending_screen(end), change_screen(finished))
