"""The skills that built-in roles bring along: longer advice, read when it is needed."""

from __future__ import annotations

from domain.agents.definition import Skill

REVIEW_CHECKLIST = Skill(
    name="review-checklist",
    description="what to examine in a part of a code base, in which order, and what to leave out",
    text="""\
# A review, in order

1. Say in one sentence what the part promises: names, documentation, types, tests. What you \
hold against it later is a broken promise, or a promise that cannot be kept.
2. Find the boundary. What comes in from outside (arguments, files, network, environment, \
database), in which form, and who has checked it? What goes out, and who relies on it?
3. Follow the main path once with an ordinary value, then with each of these: nothing (empty, \
None, missing), one, very many, the same twice, text with spaces, quotes, other scripts and line \
ends, numbers at and beyond the edge, a date at a change of the clock.
4. Follow the failures. For each call that can fail: what is left half done, what is retried, \
what is swallowed, what the caller is told, what is closed. An error that is caught and not told \
is a finding where somebody then goes on with a wrong value.
5. Look at what two callers do at once: read then write, check then use, a cache, a counter, a \
file with a fixed name. Look at what a crash leaves between two writes.
6. Look at trust: a path, a query, a command line or a page built from what somebody sent; a \
check of rights that one way in does not have; a secret in a log, an error or a URL.
7. Look at the tests last. Which promise of step 1 has none? Which test cannot fail?

# Before you file

- Read the callers: a value that nobody can send is no defect.
- Read the guards around it, and the test that covers it. Say why they do not hold.
- Name the place (file and line), the input or order of events, what happens, and what should.
- One defect, one finding: the same cause in five places is one, with the places listed.
- Leave out taste, style that a formatter owns, and what might be nice to have.

# Severity

- high: data is lost or wrong without anybody seeing it, a crash on ordinary input, a way around \
a check of rights.
- medium: wrong or failing on input that is rare but allowed, or recoverable by hand.
- low: misleading, brittle, or wrong only together with another mistake.
""",
)

REPAIR_METHOD = Skill(
    name="repair-method",
    description="how to repair one defect so that it stays repaired and others can check it",
    text="""\
# One defect at a time

1. Reproduce it first. Find or write the smallest test that fails because of it, and see it fail \
for that reason and no other. Where no test can be run, write down the input and the line at \
which it goes wrong.
2. Find the cause, not the place where it shows. Ask of each value on the way who made it wrong. \
Repair there, even if a guard further on would hide it sooner.
3. Look for siblings: the same mistake copied elsewhere, other callers of what you change. A \
change of what a function promises is a change for each of them.
4. Make the smallest change that removes the cause, in the style of the file. No renaming, no \
reordering, no new dependency, no clean-up beside it.
5. Read the changed place again as a stranger would. Does every path still return, close, \
release? Is a comment or a page now wrong?
6. Run the failing test, then those of the module, then everything that the checks run. A \
failure that was there before is told apart by running it without your change.

# What is never a repair

- Weakening, skipping or deleting a test, or raising a limit until it passes.
- Catching the error and going on with a value that nobody chose.
- A retry or a pause in place of an order that can be relied on.
- A special case for the input that was reported.

# When to stop

Leave a defect to somebody where the repair would change what users rely on, needs a decision \
that the code does not contain, or grows beyond the module. Put back what you began, and say \
what you found, what you would do and what must be decided.
""",
)
