"""How long 1,000 agent files take to be checked, the program's start included.

Run it from the checkout: `.venv/bin/python bench/agent_files.py`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from legato.agent_files.lint import lint

FILES = 1000
ROUNDS = 5
LIMIT = 2.0
EXAMPLE = '<example>\nContext: one\nuser: "please: do {n}"\nassistant: "I will: {n}"\n</example>\n'
BODY = "You look at one thing at a time. Say what you saw, where, and what follows from it.\n" * 85


def write_files(folder: Path) -> None:
    """Write files as large as real ones (7 kB); one in fourteen is no YAML, as among real ones."""
    for n in range(FILES):
        lines = [f"name: agent {n}", f"description: Does {n}. Use it when {n} is wanted"]
        if n % 14 == 0:
            lines[1] = f"description: Use this when: {n} is wanted\n\n" + EXAMPLE.format(n=n)
        lines += ["tools: Read, Grep, Glob, Bash", "model: sonnet", "color: blue"]
        file = folder / f"group-{n % 10}" / f"agent-{n}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(("---", *lines, "---", BODY)), encoding="utf-8")


def main() -> int:
    """Measure; status 1 where the limit is passed."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        report = lint([name])
        program = [sys.executable, "-m", "legato.cli", "--json", "agents", "lint", name]
        whole: list[float] = []
        inside: list[float] = []
        busy = _busy()
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
            whole.append(time.perf_counter() - begun)
        busy = (_busy() - busy) / ROUNDS
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            lint([name])
            inside.append(time.perf_counter() - begun)
    print(f"{report.files} files, {report.kept} kept, {len(report.problems)} problems")
    print(f"the program as a whole  {median(whole):.2f} s  (limit {LIMIT:.0f} s)")
    print(f"  of it on a processor  {busy:.2f} s")
    print(f"the linting alone       {median(inside):.2f} s")
    return 0 if report.kept == FILES and median(whole) < LIMIT else 1


def _busy() -> float:
    """Tell how long the programs that were started were on a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
