"""One boundary: who may build an agent, make a registry, ask a provider, start or signal a run."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PRODUCT, Source, sources

ONLY = {
    "AgentDefinition": {"domain/agents/build.py"},
    # `servers` brings servers' tools before a build, as a part of it; the registry of agent files
    # is another thing of the same name.
    "Registry": {
        "domain/agents/servers.py",
        "domain/tools/registry.py",
        "legato/agent_files/discovery.py",
    },
    "start_workflow": {"legato/client.py"},
    "signal_workflow": set[str](),
}
"""Each name that makes a thing with the files that may call it."""

PROVIDERS = ("pydantic_ai", "anthropic", "openai", "google.genai")
MODELS = "activities/models/"


def called(tree: ast.AST) -> Iterator[str]:
    """Name what is called in a tree: `a.b.c(...)` is `c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name
                case _:
                    pass


def asks(tree: ast.AST) -> Iterator[str]:
    """Name the providers' packages that a tree imports, wherever it does so."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (n for n in names if any(n == p or n.startswith(f"{p}.") for p in PROVIDERS))


def signals_a_run(tree: ast.AST) -> bool:
    """Tell whether a tree sends a signal of the run's workflow."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "signal"
        and any("AgentRun" in ast.unparse(one) or "look" in ast.unparse(one) for one in node.args)
        for node in ast.walk(tree)
    )


@pytest.mark.parametrize("source", sources(*PRODUCT), ids=str)
def test_nothing_outside_the_boundary_makes_an_agent_or_starts_one(source: Source) -> None:
    """Every launch goes through one constructor and one function."""
    tree, file = source.tree, str(source)
    seen = set(called(tree))

    assert [name for name, files in ONLY.items() if name in seen and file not in files] == []
    assert file == "legato/client.py" or not signals_a_run(tree)
    assert file.startswith(MODELS) or list(asks(tree)) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("AgentDefinition(instructions='')", "AgentDefinition"),
        ("definition.AgentDefinition(instructions='')", "AgentDefinition"),
        ("Registry(specs={})", "Registry"),
        ("await client.start_workflow(run)", "start_workflow"),
    ],
)
def test_a_call_beside_the_boundary_is_seen(line: str, name: str) -> None:
    """The check is seen to fail."""
    assert name in set(called(ast.parse(line)))


def test_a_signal_and_a_provider_beside_the_boundary_are_seen() -> None:
    """The checks are seen to fail."""
    assert signals_a_run(ast.parse("await handle.signal(AgentRun.look, args=[kind])"))
    assert list(asks(ast.parse("def f():\n    from pydantic_ai.models import Model"))) == [
        "pydantic_ai.models"
    ]
