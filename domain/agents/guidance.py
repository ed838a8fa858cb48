"""The guidance for tasks of a workflow: documents, each offered with the tools it needs."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.surfaces import (
    ASK_DATABASE,
    ASK_KNOWLEDGE,
    ASK_LEARNINGS,
    CHANGE_DATABASE,
    CHANGE_KNOWLEDGE,
    CHANGE_LEARNINGS,
    CLOSE_FINDINGS,
    FILE_FINDINGS,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class Document:
    """How one kind of task is done. `tools` names every tool that the text speaks of."""

    kind: str
    tools: tuple[str, ...]
    text: str


_DOCUMENTS = (
    Document(
        "define-success",
        (),
        """\
How to say what a workflow is for, so that anybody can see whether it does it.
1. Ask for whom it works and what is different for them when it has worked. Write that in one \
sentence without naming the means.
2. Name at most three signs by which one would see it, each with where it is read, how often, and \
from which value on it counts.
3. For each sign name what could make it look good while the goal is missed, and what would show \
that.
4. Say what must never happen on the way: money spent, people written to, data lost.
5. Say who decides when two signs contradict each other, and when it is looked at again.
Leave out what nobody will look at.""",
    ),
    Document(
        "design-plan",
        (),
        """\
How to design a plan that runs unattended.
1. Begin at the end: what must be there when it is done, in which form, for whom?
2. Go back from there: what does each result need, and which step leaves that? A step has one \
result, which the next can check without asking its maker.
3. Put what can be computed into a script, and leave to a model what needs judgement.
4. For each step write: what it is given, what it leaves, how one sees that it is right, what it \
does when there is nothing to do, and what when it fails.
5. Make every step safe to run twice. What reaches people or money stands alone, late, behind a \
check or an approval.
6. Follow the plan once on paper with an ordinary day, an empty day and a broken source.
7. Say what is not covered.""",
    ),
    Document(
        "engineering-review",
        FILE_FINDINGS,
        """\
How to review how a workflow is built.
1. Read what it is for, then its parts in the order in which they run.
2. At each boundary between two parts: who checks what comes in, and what happens when it is \
missing, empty, old, doubled or very large?
3. Look for work that reports success whatever happened, for two places that hold the same fact, \
and for settings that nothing reads.
4. Run the checks that there are, and name the promises that no check covers.
5. Look at `list_findings`, then file each defect that survives your own doubt with \
`record_finding`: one cause, one finding.""",
    ),
    Document(
        "engineering-repair",
        (*FILE_FINDINGS, *CLOSE_FINDINGS),
        """\
How to repair what a review filed.
1. Look at `list_findings`, and claim a bounded batch with `claim_findings`, the worst first.
2. Reproduce each before you touch it. Repair the cause, with the smallest change, and see the \
reproduction fail to fail.
3. Run everything that the checks run, and read the changed places once more.
4. Close each module with `write_receipt`: what changed where, and what you ran afterwards. What \
needs somebody's decision is deferred, with the decision spelled out.
5. What you find on the way is filed with `record_finding`, not repaired beside it.""",
    ),
    Document(
        "operations-review",
        FILE_FINDINGS,
        """\
How to review how a workflow runs.
1. List what should have run since the last review, and compare it with what did.
2. For each that did not end well: what was recorded last, and what did the next run do about it?
3. For each that ended well: is its result there, of its time, and used?
4. Look for the same failure with different words, for waits that nobody ended, and for what is \
repeated although nothing changed.
5. Tell one event apart from a pattern: in how many runs did you look, in how many did you see it?
6. File what should be changed with `record_finding`, after a look at `list_findings`.""",
    ),
    Document(
        "strategy-audit",
        FILE_FINDINGS,
        """\
How to audit whether a workflow does what it is for.
1. Find the goal and its signs as people wrote them down. Where there are none, file that first.
2. Take the signs' values from their sources, with dates. Say what is missing instead of guessing.
3. For each part: which sign would change if it stopped? Parts without an answer are findings.
4. Look for the strongest evidence against the present way, and say how strong it is.
5. File with `record_finding`, after a look at `list_findings`; say who decides each.""",
    ),
    Document(
        "artifact-review",
        FILE_FINDINGS,
        """\
How to review what a workflow made.
1. List what its readers need, from its instructions and from them. Compare it with what is there.
2. Open each: whole, of its time, in its form, from the run that it claims to be from?
3. Take some statements of each and follow them to their source. One that cannot be followed is a \
finding.
4. Compare every fact that stands in two places.
5. File with `record_finding`, after a look at `list_findings`.""",
    ),
    Document(
        "goal-advice",
        (),
        """\
How to propose one better way to a goal.
1. State goal, signs and where they stand, each with its source.
2. Find what holds it back most; say by what evidence.
3. Propose one way that differs in kind. Say what it rests on, what it costs, what could go wrong, \
and by which sign, until when, it has failed.
4. Say what was tried before and what is different now.
5. A person decides. What was not approved is not begun.""",
    ),
    Document(
        "improve-knowledge",
        (*ASK_KNOWLEDGE, *CHANGE_KNOWLEDGE),
        """\
How to bring a knowledgebase up to date.
1. See what there is with `list_knowledge`, and find what a subject is called with \
`search_knowledge`.
2. Read each note of the subject with `read_knowledge`, and what people put into `context/`.
3. For each statement: where is it from, when was it true, does it stand elsewhere too?
4. Write one note a subject with `write_note`, sources kept. Remove what it replaces with \
`delete_note`, each with the revision that you read.
5. What is wrong in `context/` you tell; only people change it.""",
    ),
    Document(
        "improve-learnings",
        (*ASK_LEARNINGS, *CHANGE_LEARNINGS),
        """\
How to bring learnings up to date.
1. Read every topic with `read_learnings`.
2. Keep what says in which situation to do or avoid what, and by what it was seen. Mark what was \
seen once.
3. Take out what was refuted, what is about something gone, and what the instructions say already.
4. Write each topic anew with `write_learning`, the most useful first, short enough to be read \
before every run. Remove an empty one with `delete_learning`.""",
    ),
    Document(
        "improve-database",
        (*ASK_DATABASE, *CHANGE_DATABASE),
        """\
How to improve a workflow's database.
1. See tables and indexes with `describe_workflow_db`; ask with `query_workflow_db` how each is \
used, how many rows it has, and what is null, doubled or orphaned.
2. Find who writes and who reads each table before you change its form.
3. Change with `mutate_workflow_db` in one transaction: the new form, the rows, then the old form \
away. Count rows before and after.
4. Add a constraint for each rule that rows were found to break, and an index only for a question \
that is really asked.""",
    ),
)

GUIDANCE: Mapping[str, Document] = MappingProxyType({one.kind: one for one in _DOCUMENTS})
"""Every document by its kind."""


def offered(tools: Collection[str]) -> tuple[str, ...]:
    """Name, sorted, the kinds whose documents speak of no tool but these."""
    return tuple(sorted(one.kind for one in _DOCUMENTS if set(one.tools) <= set(tools)))
