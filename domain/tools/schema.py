"""Arguments against a tool's published schema: nested, every problem in one message."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jsonschema.exceptions import ValidationError

    from domain.codec import Json

MOST_PROBLEMS = 20


class _Validator(Protocol):
    """The one method used of jsonschema's validator, with its types."""

    def iter_errors(self, instance: object) -> Iterator[ValidationError]: ...


def schema_problem(schema: object) -> str | None:
    """Say what makes a value unfit as an argument schema, or None where it is fit."""
    if not isinstance(schema, dict):
        return "its schema is not a JSON object"
    typed = cast("dict[str, object]", schema)
    if typed.get("type") != "object":
        return 'its schema must have "type": "object"'
    if _remote_reference(typed):
        return "its schema refers outside itself"
    try:
        Draft202012Validator.check_schema(typed)
    except SchemaError as exc:
        return f"its schema is not valid JSON Schema: {exc.message}"
    return None


def _remote_reference(value: object) -> bool:
    """Tell whether any `$ref` in a schema leaves the schema."""
    if isinstance(value, dict):
        typed = cast("dict[str, object]", value)
        ref = typed.get("$ref")
        if isinstance(ref, str) and not ref.startswith("#"):
            return True
        return any(_remote_reference(child) for child in typed.values())
    if isinstance(value, list):
        return any(_remote_reference(child) for child in cast("list[object]", value))
    return False


@lru_cache(maxsize=512)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def _where(error: ValidationError) -> str:
    return "/".join(str(part) for part in error.absolute_path) or "arguments"


def argument_problems(schema: str, arguments: Mapping[str, Json]) -> list[str]:
    """List every way in which arguments miss the schema (canonical JSON text)."""
    validator = cast("_Validator", _validator(schema))
    errors = sorted(validator.iter_errors(dict(arguments)), key=_where)
    found = [f"{_where(error)}: {error.message[:300]}" for error in errors[:MOST_PROBLEMS]]
    if len(errors) > MOST_PROBLEMS:
        found.append(f"and {len(errors) - MOST_PROBLEMS} more")
    return found


def _finite(text: str) -> float:
    """Read a number; raises ValueError for NaN and what is infinite: JSON has neither."""
    number = float(text)
    if not math.isfinite(number):
        message = f"{text} is not a number in JSON"
        raise ValueError(message)
    return number


def parse_arguments(text: str) -> tuple[dict[str, Json], str | None]:
    """Parse what a model wrote as arguments: the object, or why it is none."""
    if not text.strip():
        return {}, None
    try:
        value: object = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as exc:
        return {}, f"the arguments are not JSON: {exc}"
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, got {type(value).__name__}"
    return cast("dict[str, Json]", value), None
