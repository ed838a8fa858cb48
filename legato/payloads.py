"""What may travel through Temporal: JSON of at most 64 KiB a payload, no codec."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from temporalio.converter import DataConverter, DefaultPayloadConverter
from temporalio.exceptions import ApplicationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.common.v1 import Payload

MOST_BYTES = 64 * 1024


class BoundedConverter(DefaultPayloadConverter):
    """Refuses a payload that is too large, as an error that workflow code can catch.

    The check stands here and not in a codec: raised there it would fail the workflow task
    for ever.
    """

    def to_payloads(self, values: Sequence[object]) -> list[Payload]:
        """Encode values; raises ApplicationError `payload_too_large`."""
        payloads = super().to_payloads(values)
        largest = max((payload.ByteSize() for payload in payloads), default=0)
        if largest > MOST_BYTES:
            message = f"a payload of {largest} bytes; at most {MOST_BYTES} travel through Temporal"
            raise ApplicationError(message, type="payload_too_large", non_retryable=True)
        return payloads


CONVERTER = dataclasses.replace(DataConverter.default, payload_converter_class=BoundedConverter)
