"""Which answers of Temporal are final for an event, and which may pass."""

from __future__ import annotations

import pytest
from temporalio.service import RPCError, RPCStatusCode

from workers.relay import final_code

FINAL = {RPCStatusCode.INVALID_ARGUMENT}


@pytest.mark.parametrize("status", list(RPCStatusCode))
def test_only_a_wrong_request_is_final_whatever_else_temporal_says(status: RPCStatusCode) -> None:
    code = final_code(RPCError("no", status, b""))

    assert code == (status.name if status in FINAL else "")


def test_a_request_over_the_limit_in_size_is_final_and_a_limit_in_number_is_not() -> None:
    status = RPCStatusCode.RESOURCE_EXHAUSTED

    assert final_code(RPCError("grpc: received message larger than max (5 vs. 4)", status, b""))
    assert not final_code(RPCError("namespace rate limit exceeded", status, b""))


def test_what_we_cannot_encode_ourselves_is_final() -> None:
    assert final_code(TypeError("not serialisable")) == "TypeError"
