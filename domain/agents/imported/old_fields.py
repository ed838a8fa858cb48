"""The fields of older steps that decide nothing about an agent, with why."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_CALLS = "how calls are made is not a step's to say here"
_CHECKS = "checks are named with the run or its workspace"
_LEARNING = "no turn of its own follows a step; say it in the message"
_NOTES = "it is a note for people"
_SYSTEM = "it was counted by the older program itself"
WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        "clear_fields": "it belonged to the tool that edited the file",
        "coding_agent_tmux_lifecycle": "no terminal is kept open here",
        "conditional_llm": "a step has one model",
        "declared_execution_mode_reason": _NOTES,
        "description_hash": _SYSTEM,
        "description_reviewed": _NOTES,
        "disable_parallel_tool_execution": _CALLS,
        "disable_tier_optimization": "there are no tiers; name the model with --model",
        "disable_validation": _CHECKS,
        "drift_review": _NOTES,
        "enable_context_offloading": "long results are kept whole and read on with read_result",
        "enable_large_output_virtual_tools": "long results are read on with read_result",
        "enable_prerequisite_detection": "the order of steps is the plan's",
        "execution_llm_reason": _NOTES,
        "execution_tier": "there are no tiers; name the model with --model",
        "execution_tier_reason": _NOTES,
        "global_skill_objective": _LEARNING,
        "knowledgebase_contribution": _LEARNING,
        "learn_code_max_fix_iterations": "it was about saved programs",
        "learning_after_loop_iteration": _LEARNING,
        "learning_llm": "a step has one model",
        "learning_max_turns": _LEARNING,
        "learning_objective": _LEARNING,
        "llm_validation_mode": _CHECKS,
        "lock_code": "it was about saved programs",
        "lock_learnings_reason": _NOTES,
        "optimized": _SYSTEM,
        "orchestration_max_iterations": "it was about steps that start others",
        "pre_discovered_tools": _CALLS,
        "prerequisite_rules": "the order of steps is the plan's",
        "review_notes": _NOTES,
        "successful_runs": _SYSTEM,
        "use_code_execution_mode": _CALLS,
        "use_tool_search_mode": _CALLS,
        "validation_llm": "a step has one model",
        "validation_max_turns": _CHECKS,
    }
)
"""Each such field and what stands for it here."""
