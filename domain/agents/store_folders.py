"""Where a workspace's stores keep their texts, as names below its folder of stores."""

from __future__ import annotations

KNOWLEDGEBASE = "knowledgebase"
NOTES = "notes"
"""What agents write of the knowledgebase."""
CONTEXT = "context"
"""What people alone put into the knowledgebase."""
LEARNINGS = "learnings"
