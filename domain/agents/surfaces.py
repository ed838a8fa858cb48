"""The tools that belong together, by name, from which the roles' surfaces are put together."""

from __future__ import annotations

LOOK = ("list_files", "search_files", "read_file")
CHANGE = ("write_file", "edit_file", "delete_file")
RUN = ("shell",)
ASK_DATABASE = ("query_workflow_db", "describe_workflow_db")
CHANGE_DATABASE = ("mutate_workflow_db",)
ASK_KNOWLEDGE = ("list_knowledge", "search_knowledge", "read_knowledge")
CHANGE_KNOWLEDGE = ("write_note", "delete_note")
ASK_LEARNINGS = ("read_learnings",)
CHANGE_LEARNINGS = ("write_learning", "delete_learning")

ASK_STORES = (*ASK_DATABASE, *ASK_KNOWLEDGE, *ASK_LEARNINGS)
"""What every agent may read that works with a workspace's stores."""

STORES = (*ASK_STORES, *CHANGE_DATABASE, *CHANGE_KNOWLEDGE, *CHANGE_LEARNINGS)
"""The tools of a workspace's stores: a plan step has them by its profile, whatever it names."""

FILE_FINDINGS = ("record_finding", "list_findings")
CLOSE_FINDINGS = ("claim_findings", "write_receipt")
ASK_PEOPLE = ("ask_human",)
GUIDE = ("get_workflow_command_guidance",)

EVERYDAY = (*LOOK, *CHANGE, *RUN, *STORES, *ASK_PEOPLE)
"""What an agent has that works in a workspace for somebody."""

REVIEWING = (*LOOK, *RUN, *ASK_STORES, *FILE_FINDINGS, *GUIDE)
"""What an agent has that judges and changes nothing."""

REPAIRING = (*EVERYDAY, *FILE_FINDINGS, *CLOSE_FINDINGS, *GUIDE)
"""What an agent has that reviews and then repairs what it filed."""
