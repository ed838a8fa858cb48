"""The compose file: valid, explained service by service, closed to the outside, in step with us."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol, cast

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.architecture.tree import PRODUCT, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE = cast("dict[str, Any]", yaml.safe_load(TEXT))
SERVICES = cast("dict[str, dict[str, Any]]", COMPOSE["services"])
SCHEMA = "builtin_schemas/vendor/compose-spec.json"
OURS = {"legato-setup", "legato-worker"}
IMAGE = re.compile(r"[a-z][a-z0-9-]*(/[a-z0-9-]+)?(:[A-Za-z0-9.-]+)?")
KNOWN = {"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "DATABASE_URL", "LEGATO_HOME", "LEGATO_HOST"}


class _Validator(Protocol):
    """The one method used of jsonschema's validator, with its types."""

    def iter_errors(self, instance: object) -> Iterator[Exception]: ...


def problems(compose: object) -> list[str]:
    """What the schema of the compose specification has against a compose file."""
    text = files("check_jsonschema").joinpath(SCHEMA).read_text(encoding="utf-8")
    validator = cast("_Validator", Draft202012Validator(json.loads(text)))
    return [str(error).partition("\n")[0] for error in validator.iter_errors(compose)]


def test_it_is_valid_by_the_schema_of_the_compose_specification() -> None:
    assert problems(COMPOSE) == []


def test_the_schema_is_seen_to_refuse() -> None:
    broken = {**COMPOSE, "services": {**SERVICES, "more": {"imag": "x"}}}

    (problem,) = problems(broken)
    assert "imag" in problem


@pytest.mark.parametrize("name", [*SERVICES, "temporal-dynamic"])
def test_each_service_is_explained_by_a_comment_above_it(name: str) -> None:
    lines = TEXT.splitlines()
    above = lines[lines.index(f"  {name}:") - 1]

    assert re.fullmatch(r"  # .{10,}", above)


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_a_plain_name_with_a_version(name: str) -> None:
    image = SERVICES[name]["image"]

    assert IMAGE.fullmatch(image)
    assert name in OURS or (":" in image and not image.endswith(":latest"))


@pytest.mark.parametrize("name", SERVICES)
def test_a_port_is_open_to_this_machine_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_for_services_that_there_are_and_mounts_volumes_that_there_are(
    name: str,
) -> None:
    service = SERVICES[name]
    named = [volume.partition(":")[0] for volume in service.get("volumes", [])]

    assert set(service.get("depends_on", {})) <= set(SERVICES)
    assert {one for one in named if not one.startswith("$")} <= set(COMPOSE["volumes"])


@pytest.mark.parametrize("name", sorted(OURS))
def test_our_services_are_pointed_at_the_cluster_by_settings_that_we_read(name: str) -> None:
    given = {k for k in SERVICES[name]["environment"] if not k.endswith("_API_KEY")}

    assert given == KNOWN


def test_no_password_is_written_down() -> None:
    passwords = [
        value
        for service in SERVICES.values()
        for key, value in service.get("environment", {}).items()
        if "PASSWORD" in key or "PWD" in key
    ]

    assert passwords
    assert all(value.startswith("${LEGATO_DB_PASSWORD:?") for value in passwords)


def test_the_image_holds_every_package_and_the_pinned_requirements() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")

    assert [name for name in PRODUCT if f"COPY {name} {name}\n" not in dockerfile] == []
    assert "--require-hashes --requirement requirements.lock" in dockerfile
    assert "bubblewrap" in dockerfile
