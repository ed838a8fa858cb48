"""The command `run`: starts an agent and follows it to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from domain.agents.profile import Profile
from domain.agents.request import AgentRequest
from domain.agents.roles import CHECK_AND_FIX, PLAN_STEP, ROLES
from domain.events import OnCollision
from domain.runs.slots import check_scope
from legato.cli.check_and_fix import showing_changes
from legato.cli.console import Call, json_option
from legato.cli.follow import start
from legato.cli.limits import Limits, budget_of, limit_options
from legato.door import Place, new_id
from legato.items import read_items
from legato.paths import absolute, absolute_model
from legato.plan_steps import named_step, with_saved
from legato.workspaces import placed

if TYPE_CHECKING:
    from typing_extensions import Unpack

MODEL_HELP = "Which model: anthropic:NAME, openai:NAME, ollama:NAME, URL#NAME, script:FILE, ..."
FALLBACK_HELP = "The model that is asked where the first one cannot answer."
SLOT_HELP = "Only one run at a time holds the slot NAME of this agent in this workspace."
COLLISION_HELP = (
    "Where the slot is taken: wait in line, become one run with others that wait, stop the "
    "holder and come next, or do not run."
)
STEP_HELP = (
    "The saved plan step that it does, as older programs kept it in step_config.json; FILE may "
    "be the workflow's folder, #STEP may be left out where there is one. AGENT may be left out."
)
ITEMS_HELP = "A YAML or JSON list of items that it works through, in place of a message."
MCP_HELP = "An MCP server whose accepted tools it has too, or one tool of it."
SKILL_HELP = "A skill from the workspace's .legato/skills, beside the agent's own."


class RunOptions(Limits):
    """Everything that `run` takes."""

    agent: str
    message: str
    items: str
    workspace: str
    model: str
    fallback: str
    profile: str | None
    checks: tuple[str, ...]
    fixers: tuple[str, ...]
    skills: tuple[str, ...]
    mcp: tuple[str, ...]
    step_config: str
    slot: str
    on_collision: str
    unattended: bool
    detach: bool


@click.command("run")
@click.argument("agent", default="", metavar="AGENT")
@click.argument("message", default="")
@click.option("--items", default="", metavar="FILE", help=ITEMS_HELP)
@click.option("--workspace", "-w", default="", metavar="PATH", help="The folder it works in.")
@click.option("--model", "-m", default="", help=MODEL_HELP)
@click.option("--fallback", default="", metavar="MODEL", help=FALLBACK_HELP)
@click.option("--profile", type=click.Choice([p.value for p in Profile]), help="Its authority.")
@click.option("--reader", "profile", flag_value=Profile.READER.value, help="--profile reader")
@click.option("--writer", "profile", flag_value=Profile.WRITER.value, help="--profile writer")
@click.option("--check", "checks", multiple=True, metavar="CMD", help="A command that must pass.")
@click.option("--fixer", "fixers", multiple=True, metavar="CMD", help="A command that repairs.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help=SKILL_HELP)
@click.option("--mcp", multiple=True, metavar="SERVER[/TOOL]", help=MCP_HELP)
@click.option("--step-config", default="", metavar="FILE#STEP", help=STEP_HELP)
@limit_options
@click.option("--slot", default="", metavar="NAME", help=SLOT_HELP)
@click.option(
    "--on-collision",
    type=click.Choice([one.value for one in OnCollision]),
    default=OnCollision.QUEUE.value,
    show_default=True,
    help=COLLISION_HELP,
)
@click.option("--unattended", is_flag=True, help="Nobody is there to answer questions.")
@click.option("--detach", "-d", is_flag=True, help="Return as soon as it is accepted.")
@json_option
@click.pass_obj
def run_command(call: Call, **given: Unpack[RunOptions]) -> int:
    """Start AGENT (see `legato roles`) with MESSAGE, or --items, and follow it to its end.

    Exit status: 0 completed, 1 failed, 3 refused, 5 waits for a person (the run goes on once
    it is answered), 6 stopped, 130 after Ctrl-C (the run goes on).
    """
    profile = given["profile"]
    agent, message = _asked(given)
    step_file, step = named_step(given["step_config"]) if given["step_config"] else ("", "")
    request = AgentRequest(
        role=agent,
        message=message,
        items=read_items(given["items"]) if given["items"] else (),
        model=absolute_model(given["model"]),
        fallback=absolute_model(given["fallback"]),
        profile=None if profile is None else Profile(profile),
        workspace=absolute(given["workspace"]),
        checks=given["checks"],
        fixers=given["fixers"],
        skills=given["skills"] or None,
        mcp=given["mcp"],
        attended=not given["unattended"],
        budget=budget_of(given),
        max_tokens=given["max_output_tokens"],
        max_wait=given["max_wait"],
        step_file=step_file,
        step=step,
    )
    request, why = placed(call.settings(), with_saved(request))
    for line in why:
        call.progress(line)
    run_id = new_id()
    place = Place(given["slot"], OnCollision(given["on_collision"]))
    if place.scope:
        check_scope(place.scope)
    if request.role != CHECK_AND_FIX or given["detach"]:
        return start(call, request, run_id=run_id, place=place, detach=given["detach"])
    with showing_changes(call.settings().home, request, run_id) as ending:
        return start(call, request, run_id=run_id, place=place, ending=ending)


def _asked(given: RunOptions) -> tuple[str, str]:
    """Tell the agent and its message: with a saved step the only argument is the message."""
    agent, message = given["agent"], given["message"]
    if given["step_config"] and not message and agent not in ROLES:
        agent, message = PLAN_STEP, agent
        if not message and not given["items"]:
            raise click.UsageError("give the MESSAGE: what the saved step is to do")
    if not agent:
        raise click.UsageError("Missing argument 'AGENT'.")
    if given["items"] and message:
        both = "give a MESSAGE or --items, not both: the items say what there is to do"
        raise click.UsageError(both)
    return agent, message
