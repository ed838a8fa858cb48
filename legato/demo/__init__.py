"""The demo: Review+Fix on a small repository with a real defect, its worker killed twice."""

from __future__ import annotations

from .proofs import Proof
from .story import Story, require_embedded, tell_story
from .watch import Heard

__all__ = ["Heard", "Proof", "Story", "require_embedded", "tell_story"]
