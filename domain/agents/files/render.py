"""Writes a definition as the file that reads back as the same definition."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import to_json

if TYPE_CHECKING:
    from domain.agents.files.agent_file import AgentFile

_NOT_IN_YAML = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def render_agent_file(agent: AgentFile) -> str:
    """Write a header of one line a field, and the body below it.

    Values are JSON, which is YAML too once its control characters are escaped.
    """
    fields = {key: value for key, value in to_json(agent).items() if key != "body"}
    lines = [f"{key}: {_value(value)}" for key, value in fields.items()]
    return "\n".join(("---", *lines, "---", agent.body, ""))


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
