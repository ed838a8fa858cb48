"""What a tool is: its published contract, and the closed set of tools a worker can run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import cast

from domain.codec import Json, digest
from domain.errors import problems
from domain.tools.schema import schema_problem

INTRINSIC = ("get_api_spec", "call_tool", "read_skill", "read_result")
"""Names that no source of tools may claim: they exist for every agent where they apply."""

NEEDS = ("person", "confinement")
"""What a tool may need of the surroundings: a person who can answer, confined commands."""

_MAX_TIMEOUT = 3600.0
_NAME_LIMIT = 128


class Effect(StrEnum):
    """What a second execution would do; the default is the strictest."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    TRANSACTIONAL = "transactional"
    PROBEABLE = "probeable"
    ONCE = "once"


class Writes(StrEnum):
    """What a tool changes; `lasting` (workspace, stores, outside) is for Writers only."""

    NOTHING = "nothing"
    LEDGER = "ledger"
    COPY = "copy"
    LASTING = "lasting"


@dataclass(frozen=True)
class ToolSpec:
    """A tool's published contract.

    `schema` is the JSON Schema of the arguments as canonical JSON text (an object schema);
    `timeout` is the call's own limit in seconds; `resource` is the key that keeps two
    effectful calls from running together; `source` says where it came from
    (`built-in`, `plugin:<distribution>`, `mcp:<server>`); `needs` are of `NEEDS`, and
    where one is not met the turn policy hides the tool.
    """

    name: str
    description: str
    schema: str
    effect: Effect = Effect.ONCE
    writes: Writes = Writes.LASTING
    timeout: float = 30.0
    resource: str = "workspace"
    source: str = "built-in"
    needs: tuple[str, ...] = ()
    remote: str = ""
    accepted: str = ""

    @property
    def input_schema(self) -> dict[str, Json]:
        """The argument schema as a value (a fresh copy)."""
        return cast("dict[str, Json]", json.loads(self.schema))

    @property
    def binding(self) -> str:
        """The digest of what an executor was bound to: name and schema, and what was accepted."""
        bound = [self.name, self.schema]
        return digest([*bound, self.source, self.remote, self.accepted] if self.remote else bound)


def tool_spec(  # noqa: PLR0913 - the contract's own fields
    name: str,
    description: str,
    schema: Mapping[str, object],
    *,
    effect: Effect = Effect.ONCE,
    writes: Writes = Writes.LASTING,
    timeout: float = 30.0,
    resource: str = "workspace",
    source: str = "built-in",
    needs: tuple[str, ...] = (),
) -> ToolSpec:
    """Build a spec from a schema given as a mapping."""
    text = json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return ToolSpec(name, description, text, effect, writes, timeout, resource, source, needs)


def spec_problems(spec: ToolSpec) -> list[str]:
    """List everything that makes a spec unfit to be offered."""
    found: list[str] = []
    name = spec.name
    if not name.strip():
        found.append("a tool without a name")
    elif name != name.strip():
        found.append(f"tool {name!r} has a padded name")
    elif len(name) > _NAME_LIMIT or not all(
        c.isascii() and (c.isalnum() or c in "_-.") for c in name
    ):
        found.append(f"tool {name!r}: a name is 1 to 128 of A-Z a-z 0-9 _ - .")
    if name in INTRINSIC:
        found.append(f"tool name {name!r} is reserved")
    if not 0 < spec.timeout <= _MAX_TIMEOUT:
        found.append(f"tool {name!r}: timeout {spec.timeout} is outside 0 to 3600 seconds")
    found += [f"tool {name!r} needs {n!r}, which is unknown" for n in spec.needs if n not in NEEDS]
    return found + _schema_problems(spec)


def _schema_problems(spec: ToolSpec) -> list[str]:
    problem = _text_problem(spec.schema)
    return [f"tool {spec.name!r}: {problem}"] if problem else []


@lru_cache(maxsize=512)
def _text_problem(schema: str) -> str | None:
    """Judge a schema's text once: every build of an agent asks for every tool's."""
    try:
        return schema_problem(json.loads(schema))
    except ValueError:
        return "its schema is not JSON"


@dataclass(frozen=True)
class Registry:
    """The tools that a deployment can run, by name; a name is claimed once."""

    specs: Mapping[str, ToolSpec]


def build_registry(specs: list[ToolSpec]) -> Registry:
    """Check and collect specs; raises `registry_invalid` with every problem at once."""
    found = [problem for spec in specs for problem in spec_problems(spec)]
    names: dict[str, ToolSpec] = {}
    for spec in specs:
        if spec.name in names:
            first = names[spec.name].source
            found.append(f"tool {spec.name!r} is claimed by {first} and by {spec.source}")
        names[spec.name] = spec
    if found:
        raise problems(
            "registry_invalid",
            "the tools of this deployment cannot be registered",
            found,
            next="rename or remove the named tools, then start the worker again",
        )
    return Registry(specs=names)
