"""Everything that can be wrong with an agent to be built, each problem with its own code."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from domain.agents.environment import environment_problems
from domain.agents.profile import may_have
from domain.agents.reach import outside, skills_of, surface_of
from domain.runs.budget import LIMITS, MOST
from domain.runs.model_name import FORMS
from domain.runs.sequence import item_problems
from domain.tools.mentions import mentioned
from domain.tools.policy import turn_policy
from domain.tools.registry import INTRINSIC, ToolSpec, Writes, spec_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.definition import AgentDefinition
    from domain.agents.request import AgentRequest, Sources
    from domain.agents.role import Role
    from domain.runs.budget import Budget, Limits
    from domain.runs.sequence import Item


def request_problems(request: AgentRequest, sources: Sources) -> list[str]:
    """List what is wrong whatever the role: limits, paths, commands, variables, the registry."""
    found = [
        *_budget_problems(request.budget),
        *_registry_problems(sources.registry.specs),
        *environment_problems(request.environment),
    ]
    if request.budget.cost is not None and request.model and not sources.prices_known:
        found.append(
            f"budget_price_unknown: {request.model} has no known price, so a limit in money "
            "cannot be held; limit tokens instead"
        )
    if request.max_tokens <= 0:
        found.append("max_tokens_invalid: max_tokens must be more than 0")
    if request.temperature is not None and request.temperature < 0:
        found.append("temperature_invalid: temperature must not be negative")
    found += [
        f"path_relative: {name} must be an absolute folder, got {path!r}"
        for name, path in (("workspace", request.workspace), ("stores", request.stores))
        if path and not path.startswith("/")
    ]
    found += [
        f"{code}: an empty command cannot be run"
        for code, commands in (
            ("check_empty", request.checks),
            ("fixer_empty", request.fixers),
        )
        if any(not command.strip() for command in commands)
    ]
    return found


def _budget_problems(budget: Budget) -> list[str]:
    found = [*_limit_problems("", budget), *_limit_problems("soft ", budget.soft)]
    if found:
        return found
    for name in LIMITS:
        soft, hard = budget.soft.amount(name), budget.amount(name)
        if soft is not None and hard is not None and soft > hard:
            found.append(f"budget_invalid: soft {name} {soft} is above its hard limit {hard}")
    return found


def _limit_problems(which: str, limits: Limits) -> list[str]:
    numbers = {
        "seconds": limits.seconds,
        "steps": limits.steps,
        "calls": limits.calls,
        "tokens": limits.tokens,
    }
    found = [
        f"budget_invalid: {which}{name} must be a number from 0 to {MOST}"
        for name, limit in numbers.items()
        if limit is not None and not 0 <= limit <= MOST
    ]
    if limits.cost is not None and not _is_amount(limits.cost):
        found.append(f"budget_invalid: {which}cost {limits.cost!r} is not an amount of US dollars")
    return found


def _is_amount(text: str) -> bool:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return False
    return amount.is_finite() and 0 <= amount <= MOST


def _registry_problems(specs: Mapping[str, ToolSpec]) -> list[str]:
    found: list[str] = []
    for key, spec in specs.items():
        if spec.name != key:
            found.append(f"name_mismatch: tool {spec.name!r} is registered as {key!r}")
        if spec.name in INTRINSIC:
            found.append(f"name_reserved: {spec.name} exists for every agent by itself")
            continue
        found += [f"tool_invalid: {problem}" for problem in spec_problems(spec)]
    return found


def role_problems(role: Role, request: AgentRequest, sources: Sources) -> list[str]:
    """List what the role needs and the request does not give."""
    found: list[str] = []
    if role.needs_model and not request.model.strip():
        found.append(
            f"model_missing: {role.name} needs a model and none is named; name one with "
            f"--model: {', '.join(FORMS)}"
        )
    if role.needs_model and request.model.strip() and sources.model_problem:
        found.append(f"model_unusable: {sources.model_problem}")
    homeless = role.needs_workspace and not request.workspace
    if _lacks_checks(role, request) and not homeless:
        found.append(
            f"check_missing: {role.name} proves its work by checks and none was given or found; "
            "give a command with --check, or declare it under [checks] in "
            ".legato/workspace.toml"
        )
    if homeless:
        found.append(
            f"workspace_missing: {role.name} works in a workspace and none is named; name its "
            "folder with --workspace"
        )
    return found


def tool_problems(
    role: Role, request: AgentRequest, definition: AgentDefinition, sources: Sources
) -> list[str]:
    """List the tools that were asked for or are required and cannot be had."""
    specs = sources.registry.specs
    surface = surface_of(role, specs)
    asked = request.tools or ()
    found = [
        f"name_duplicate: tool {name} is asked for twice"
        for name in sorted({name for name in asked if asked.count(name) > 1})
    ]
    for name in dict.fromkeys(asked):
        if name in INTRINSIC:
            found.append(f"name_reserved: {name} is there by itself where it applies")
        elif name not in specs:
            found.append(f"tool_missing: no tool is called {name!r}")
        elif name not in surface:
            found.append(f"tool_not_of_role: {name} does not belong to {role.name}")
        elif not may_have(definition.profile, specs[name].writes):
            found.append(f"tool_not_of_profile: {name} changes what a Reader may not change")
    return [*found, *_required_problems(role, request, definition, sources)]


def _required_problems(
    role: Role, request: AgentRequest, definition: AgentDefinition, sources: Sources
) -> list[str]:
    """List the tools without which a role cannot work and that no turn of it could call."""
    held = {tool.name for tool in definition.tools}
    policy = turn_policy(definition, confinement=sources.confinement, attended=request.attended)
    found = [
        f"tool_missing: {role.name} cannot work without {name}"
        for name in role.required
        if name not in held
    ]
    found += [
        f"tool_unavailable: {role.name} cannot work without {name}, and {policy.hidden[name]}"
        for name in role.required
        if name in policy.hidden
    ]
    return found


def skill_problems(role: Role, request: AgentRequest, sources: Sources) -> list[str]:
    """List what is wrong with the skills asked for: their files, and their names."""
    names = [skill.name for skill in skills_of(role, request, sources)]
    if request.skills and not role.needs_model:
        return [f"skill_not_of_role: {role.name} has no model that could read a skill"]
    there = ", ".join(sorted({skill.name for skill in sources.skills})) or "none"
    found = list(sources.skill_problems)
    found += [
        f"skill_missing: no skill is called {name!r}; the workspace has {there}"
        for name in dict.fromkeys(request.skills or ())
        if name not in names
    ]
    found += [
        f"name_duplicate: two skills are called {name}"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    for name in names:
        if not name.strip() or name != name.strip():
            found.append(f"name_invalid: a skill's name is empty or padded: {name!r}")
        if name in INTRINSIC:
            found.append(f"name_reserved: a skill cannot be called {name}")
    return found


def sequence_problems(role: Role, request: AgentRequest, items: tuple[Item, ...]) -> list[str]:
    """List what is wrong with the sequence.

    A missing message has its own code, and missing checks are told once, by theirs.
    """
    if _lacks_checks(role, request):
        return []
    silent = any(item.kind == "message" and not item.text.strip() for item in items)
    if silent and not request.items and not request.message.strip():
        return [
            f"message_missing: {role.name} does what its message asks and none is given; give one"
        ]
    return [f"items_invalid: {problem}" for problem in item_problems(items)]


def _lacks_checks(role: Role, request: AgentRequest) -> bool:
    return role.needs_checks and not request.checks and not request.items


def promise_problems(
    role: Role, request: AgentRequest, definition: AgentDefinition, sources: Sources
) -> list[str]:
    """List the built-in texts that speak of a tool which the definition does not hold."""
    others = outside(definition, sources)
    texts = {"the instructions": role.instructions}
    held = {skill.name for skill in definition.skills}
    texts.update((f"skill {s.name}", s.text) for s in role.skills if s.name in held)
    if not request.items:
        bare = request.model_copy(update={"message": ""})
        texts.update((f"item {item.name}", item.text) for item in role.items(bare))
    spoken: dict[str, list[str]] = {}
    for where, text in texts.items():
        for name in mentioned(text, others):
            spoken.setdefault(name, []).append(where)
    return [
        f"tool_missing: {', '.join(places)} of {role.name} name {tool}, which {_why(tool, sources)}"
        for tool, places in sorted(spoken.items())
    ]


def _why(name: str, sources: Sources) -> str:
    """Say why a definition does not hold a tool."""
    spec = sources.registry.specs.get(name)
    if spec is None:
        return "is not registered here"
    if spec.writes is Writes.LASTING:
        return "the profile or the request leaves out"
    return "the request leaves out"
