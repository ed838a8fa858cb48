"""The sums of model requests: whatever becomes of them, none is counted short or below nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from domain.runs.account import (
    MAYBE_BILLED,
    Account,
    Held,
    fail,
    give_up,
    reserve,
    settle,
    total,
)
from domain.runs.budget import Budget, exceeded, tokens_of
from domain.runs.conversation import Usage
from tests.support.histories import PROPERTY

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

RESERVED = Usage(input_tokens=300, output_tokens=200, cost="0.05")
TRUE = Usage(input_tokens=100, output_tokens=20, cost="0.01")
AMOUNTS = st.integers(0, 1000)
MONEY = st.integers(0, 500).map(lambda n: str(Decimal(n) / 100))
RESERVES = st.builds(Usage, input_tokens=AMOUNTS, output_tokens=AMOUNTS, cost=MONEY)


def used_of(reserved: Usage) -> SearchStrategy[Usage]:
    """What a request may come to: never more than it reserved, and perhaps not told."""
    return st.builds(
        Usage,
        input_tokens=st.none() | st.integers(0, reserved.input_tokens or 0),
        output_tokens=st.none() | st.integers(0, reserved.output_tokens or 0),
        cost=st.none() | st.just("0") | st.just(reserved.cost),
    )


@st.composite
def requests(draw: st.DrawFn) -> list[tuple[Held, str, Usage]]:
    """Requests of a run, what each came to, and what it used in truth."""
    made: list[tuple[Held, str, Usage]] = []
    for n in range(draw(st.integers(1, 6))):
        reserved = draw(RESERVES)
        fate = draw(st.sampled_from(["responded", "lost", "discarded", "broke", "refused", "open"]))
        made.append((Held(1, 1 + n // 2, 1 + n % 2, reserved), fate, draw(used_of(reserved))))
    return made


def booked(account: Account, held: Held, fate: str, used: Usage) -> Account:
    """Book what one request came to."""
    fates: dict[str, Callable[[], Account]] = {
        "responded": lambda: settle(account, held.at, used),
        "lost": lambda: give_up(account, held.at),
        "discarded": lambda: settle(give_up(account, held.at), held.at, used),
        "broke": lambda: fail(account, held.at, "half_stream", ""),
        "refused": lambda: fail(account, held.at, "rate_limited", ""),
        "open": lambda: account,
    }
    return fates[fate]()


def truth(fate: str, held: Held, used: Usage) -> tuple[int, Decimal]:
    """The least that must be counted: what is known, else what was reserved."""
    reserved = held.reserved
    if fate == "refused":
        return 0, Decimal(0)
    if fate in {"lost", "broke", "open"}:
        used = reserved
    tokens = tokens_of(used)
    if used.input_tokens is None or used.output_tokens is None:
        tokens = max(tokens, tokens_of(reserved))
    cost = reserved.cost if used.cost is None else used.cost
    return tokens, Decimal(cost or "0")


@PROPERTY
@given(requests(), st.booleans())
def test_every_request_counts_once_as_what_it_used_or_as_it_was_reserved(
    made: list[tuple[Held, str, Usage]],
    late: bool,  # noqa: FBT001 - given by position
) -> None:
    account = Account()
    for held, _, _ in made if late else ():
        account = reserve(account, held)
    for held, fate, used in made:
        account = account if late else reserve(account, held)
        account = booked(account, held, fate, used)
        assert account.spent.tokens >= 0
        assert Decimal(account.spent.cost) >= 0
    for held in account.reserved:
        account = give_up(account, held.at)

    due = [truth(fate, held, used) for held, fate, used in made]
    assert account.spent.tokens == sum(tokens for tokens, _ in due)
    assert Decimal(account.spent.cost) == sum(cost for _, cost in due)
    assert account.spent.steps == len(made)
    assert account.reserved == ()


@PROPERTY
@given(requests(), st.integers(0, 4000))
def test_with_true_reservations_a_limit_in_tokens_is_never_passed(
    made: list[tuple[Held, str, Usage]], limit: int
) -> None:
    account, budget = Account(), Budget(tokens=limit)
    for held, fate, used in made:
        if exceeded(budget, account.spent, total(account.reserved, held.reserved)) is not None:
            continue
        account = booked(reserve(account, held), held, fate, used)
        assert account.spent.tokens + tokens_of(total(account.reserved)) <= limit


def test_a_discarded_response_takes_the_place_of_its_own_reservation_only() -> None:
    one, two = Held(1, 1, 1, RESERVED), Held(1, 1, 2, RESERVED)
    account = reserve(give_up(reserve(Account(), one), one.at), two)
    assert (account.spent.tokens, account.spent.tokens_unknown) == (500, 1)

    account = settle(account, two.at, TRUE)
    assert account.spent.tokens == 620

    account = settle(account, one.at, TRUE)
    assert (account.spent.tokens, account.spent.cost, account.spent.tokens_unknown) == (
        240,
        "0.02",
        0,
    )


def test_a_second_request_of_a_step_stays_reserved_when_the_first_ones_answer_is_taken() -> None:
    one, two = Held(1, 1, 1, RESERVED), Held(1, 1, 2, RESERVED)
    account = settle(reserve(give_up(reserve(Account(), one), one.at), two), one.at, TRUE)
    assert account.spent.tokens == 120
    assert [held.at for held in account.reserved] == [two.at]

    following = reserve(account, Held(1, 2, 1, RESERVED))
    assert tokens_of(total(following.reserved)) == 1000


def test_what_a_provider_does_not_tell_whole_is_counted_as_reserved() -> None:
    held = Held(1, 1, 1, RESERVED)
    account = settle(reserve(Account(), held), held.at, Usage(input_tokens=100))

    assert account.spent.tokens == 500
    assert account.spent.cost == "0.05"
    assert account.spent.tokens_unknown == 1


def test_a_price_that_is_unknown_is_counted_as_unknown_and_not_as_nothing() -> None:
    unpriced = RESERVED.model_copy(update={"cost": None})
    held = Held(1, 1, 1, unpriced)
    account = settle(reserve(Account(), held), held.at, Usage(input_tokens=1, output_tokens=1))

    assert account.spent.cost_unknown == 1
    assert total((held,)).cost is None


def test_what_may_be_billed_is_named_by_codes_that_exist() -> None:
    from activities.models.failures import HALF_STREAM, TABLE  # noqa: PLC0415 - a heavy import

    known = {row.code for row in TABLE} | {HALF_STREAM.code, "stopped", "over_budget"}
    assert known >= MAYBE_BILLED
