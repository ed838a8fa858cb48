"""A row's digest is an HMAC-SHA256, whatever the way in which it is computed."""

from __future__ import annotations

import hmac

import pytest

from domain.events import encode
from ledger.encode import same_digest
from tests.support import facts


@pytest.mark.parametrize("secret", [b"", b"short", bytes(range(32)), b"k" * 64, b"long" * 40])
def test_the_digest_of_a_fact_is_the_hmac_of_its_type_and_body(secret: bytes) -> None:
    fact = facts.settled()

    expected = hmac.digest(secret, b"call.settled\0" + encode(fact), "sha256")

    assert same_digest(secret, fact) == expected
