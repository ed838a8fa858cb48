"""What became of the messages that people sent to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import Asked, MessageAccepted, ModelRequested
from domain.runs.recorded import facts_of, short, stamp
from domain.runs.timeline import Line, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.recorded import Recorded

SAID = 120


def told_with_messages(
    events: Sequence[Recorded], incoming: Sequence[Recorded], following: str = ""
) -> tuple[Line, ...]:
    """Tell a run with the messages sent to it: when each was accepted and delivered.

    `incoming` is the session's incoming stream, `following` the run that follows, "" for
    none. The last line of an ended run says what was not delivered, and which run follows.
    """
    mine = sent_to(events, incoming)
    told = [*lines(events, {number: one.text for number, one in _texts(incoming).items()})]
    told += [_accepted(one) for one in mine]
    told.sort(key=lambda line: line.at)
    if events and events[-1].fact.closes:
        told += _after(events, mine, following)
    return tuple(told)


def sent_to(events: Sequence[Recorded], incoming: Sequence[Recorded]) -> list[Recorded]:
    """Pick the messages that were sent to this run."""
    runs = {fact.run_id for fact in facts_of(events) if isinstance(fact, Asked)}
    texts = _texts(incoming)
    return [one for one in incoming if one.version in texts and texts[one.version].run_id in runs]


def undelivered(events: Sequence[Recorded], mine: Sequence[Recorded]) -> list[str]:
    """Give the texts of the messages that no request of the run has delivered."""
    requests = [fact for fact in facts_of(events) if isinstance(fact, ModelRequested)]
    delivered = {number for fact in requests for number in fact.delivered}
    texts = _texts(mine)
    return [texts[one.version].text for one in mine if one.version not in delivered]


def unread(events: Sequence[Recorded], incoming: Sequence[Recorded]) -> list[str]:
    """Give the texts of the messages to steer the run that no request has delivered yet."""
    texts = _texts(incoming)
    mine = [one for one in sent_to(events, incoming) if not texts[one.version].later]
    return undelivered(events, mine)


def _texts(incoming: Sequence[Recorded]) -> dict[int, MessageAccepted]:
    return {one.version: one.fact for one in incoming if isinstance(one.fact, MessageAccepted)}


def _accepted(one: Recorded) -> Line:
    fact = one.fact
    later = isinstance(fact, MessageAccepted) and fact.later
    text = fact.text if isinstance(fact, MessageAccepted) else ""
    what = "message for later" if later else "message"
    said = f"{what} accepted from {one.actor}: {short(text, SAID)}"
    return Line(one.version, stamp(one.at), fact.type, 1, said)


def _after(events: Sequence[Recorded], mine: Sequence[Recorded], following: str) -> list[Line]:
    """Say after the end what was not delivered, and which run follows."""
    last, left = events[-1], undelivered(events, mine)
    said: list[str] = []
    if left:
        many = "1 message was" if len(left) == 1 else f"{len(left)} messages were"
        said.append(f"{many} not delivered: {'; '.join(short(text, SAID) for text in left)}")
    if following:
        said.append(f"run {following} follows")
    return [Line(last.version, stamp(last.at), last.fact.type, 0, text) for text in said]
