"""Tells which confinement commands get on this machine: a program that prints one JSON line."""

from __future__ import annotations

import json
import sys

from activities.tools.confine import detect
from legato.leave import leave


def main() -> None:
    """Try the levels and print the best that works with the reason."""
    found = detect()
    sys.stdout.write(json.dumps({"level": found.level.value, "reason": found.reason}) + "\n")
    leave(0)


if __name__ == "__main__":
    main()
