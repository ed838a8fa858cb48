"""A workflow loads no driver or model SDK, and neither does the operator's side a model SDK."""

import json
import subprocess
import sys
from collections.abc import Iterable

from tests.architecture.tree import ROOT, module_name, sources

MODEL_SDKS = {"anthropic", "google.genai", "openai", "pydantic_ai"}
DRIVERS = {"alembic", "asyncpg", "httpx", "sqlalchemy", "structlog"}


def modules(folder: str) -> list[str]:
    """Each importable module of a folder; `__main__` is a program, not a module."""
    names = (source.path for source in sources(folder) if source.path.stem != "__main__")
    return [module_name(path) for path in names]


def loaded_by(names: Iterable[str]) -> set[str]:
    """What a fresh interpreter has loaded after importing the modules."""
    program = "import sys, json, importlib; [importlib.import_module(n) for n in sys.argv[1:]]"
    program += "; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", program, *names]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout))


def test_workflows_load_no_driver_and_no_model_sdk() -> None:
    """The sandbox imports them anew for each run, so that weight there is paid each time."""
    loaded = loaded_by(modules("workflows"))

    assert "workflows" in loaded
    assert loaded & (MODEL_SDKS | DRIVERS) == set()


def test_the_domain_loads_no_driver_and_no_temporal() -> None:
    """It is loaded by everything else."""
    loaded = loaded_by(modules("domain"))

    assert "domain" in loaded
    assert loaded & (MODEL_SDKS | DRIVERS | {"temporalio"}) == set()


def test_the_operators_side_loads_no_model_sdk() -> None:
    """A command answers quickly and needs no key."""
    loaded = loaded_by(modules("legato"))

    assert "legato" in loaded
    assert loaded & MODEL_SDKS == set()


def test_a_loaded_driver_is_seen() -> None:
    """The check is seen to fail."""
    assert loaded_by(["asyncpg"]) & DRIVERS == {"asyncpg"}


def test_help_and_status_load_neither_temporal_nor_the_ledger() -> None:
    """Whoever asks for help does not wait for drivers."""
    loaded = loaded_by(["legato.cli.stack"])

    assert "legato.embedded.stack" in loaded
    assert loaded & {"alembic", "sqlalchemy", "temporalio", "legato.door", "ledger.append"} == set()


def test_checking_agent_files_loads_neither_roles_nor_the_ledger() -> None:
    """A check of a folder takes as long as its files, not as long as the product's start."""
    loaded = loaded_by(["legato.cli.agents", "legato.agent_files.lint"])

    assert "domain.agents.files.parse" in loaded
    heavy = {"asyncpg", "domain.agents.roles", "httpx2", "jsonschema", "legato.door", "pydantic"}
    assert loaded & (heavy | {"temporalio"}) == set()


def test_a_worker_that_migrates_nothing_loads_no_migration_library() -> None:
    """It is the larger half of what a worker would load, needed once a release."""
    loaded = loaded_by(["workers.__main__"])

    assert "ledger.migrate" in loaded
    assert loaded & {"alembic", "sqlalchemy"} == set()
