"""A worker's part in one mutate call, as a process of its own that a test can kill."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from activities.tools.workflow_db import WORKFLOW_DB_TOOLS
from tests.support.tool_context import by_name, outcome_of, tool_context


def main() -> None:
    """Run `mutate_workflow_db`: folder, call ids (comma-separated), statements as JSON."""
    folder, call_ids, statements = sys.argv[1:]
    tool = by_name(WORKFLOW_DB_TOOLS)["mutate_workflow_db"]
    for call_id in call_ids.split(","):
        context = tool_context(Path(folder), call_id=call_id, limit=20.0)
        outcome = outcome_of(tool, context, statements=json.loads(statements))
        sys.stdout.write(outcome.model_dump_json() + "\n")


if __name__ == "__main__":
    main()
