"""What may travel through Temporal: brief JSON of at most 64 KiB a payload, no codec."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast, get_type_hints
from weakref import WeakKeyDictionary

from temporalio.converter import (
    AdvancedJSONEncoder,
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
    JSONTypeConverter,
    value_to_type,
)
from temporalio.exceptions import ApplicationError

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from temporalio.api.common.v1 import Payload
    from temporalio.converter import EncodingPayloadConverter

MOST_BYTES = 64 * 1024


class BriefEncoder(AdvancedJSONEncoder):
    """Leaves out the fields of a dataclass that hold their default: history is paid by the byte.

    A default is thereby part of what is stored: changing one changes how old runs are read.
    """

    def default(self, o: object) -> object:
        """Encode what JSON has no form for."""
        if not dataclasses.is_dataclass(o) or isinstance(o, type):
            encoded: object = super().default(o)
            return encoded
        held = ((field, getattr(o, field.name)) for field in dataclasses.fields(o))
        return {field.name: value for field, value in held if value != field.default}


class DataclassReader(JSONTypeConverter):
    """Makes dataclasses as the library does, but learns the types of their fields once.

    The library compiles them anew for every payload, which is most of what a replay costs.
    Types are kept no longer than their class: the sandbox has its own for each workflow.
    """

    def __init__(self) -> None:
        self._known: MutableMapping[type, Mapping[str, type]] = WeakKeyDictionary()

    def to_typed_value(self, hint: type, value: Any) -> Any:  # noqa: ANN401 - the library's own
        """Make a dataclass of a JSON object; everything else is left to the library."""
        if not (dataclasses.is_dataclass(hint) and isinstance(value, dict)):
            return JSONTypeConverter.Unhandled
        held = cast("dict[str, object]", value)
        types = self._known.get(hint)
        if types is None:
            hints = get_type_hints(hint)
            types = {field.name: hints[field.name] for field in dataclasses.fields(hint)}
            self._known[hint] = types
        me = [self]
        return hint(
            **{
                name: given if type(given) is types[name] else value_to_type(types[name], given, me)
                for name, given in held.items()
                if name in types
            }
        )


def _brief(converter: EncodingPayloadConverter) -> EncodingPayloadConverter:
    if isinstance(converter, JSONPlainPayloadConverter):
        readers = [DataclassReader()]
        return JSONPlainPayloadConverter(encoder=BriefEncoder, custom_type_converters=readers)
    return converter


class BoundedConverter(CompositePayloadConverter):
    """Refuses a payload that is too large, as an error that workflow code can catch.

    The check stands here and not in a codec: raised there it would fail the workflow task
    for ever.
    """

    def __init__(self) -> None:
        super().__init__(
            *(_brief(c) for c in DefaultPayloadConverter.default_encoding_payload_converters)
        )

    def to_payloads(self, values: Sequence[object]) -> list[Payload]:
        """Encode values; raises ApplicationError `payload_too_large`."""
        payloads = super().to_payloads(values)
        largest = max((payload.ByteSize() for payload in payloads), default=0)
        if largest > MOST_BYTES:
            message = f"a payload of {largest} bytes; at most {MOST_BYTES} travel through Temporal"
            raise ApplicationError(message, type="payload_too_large", non_retryable=True)
        return payloads


CONVERTER = dataclasses.replace(DataConverter.default, payload_converter_class=BoundedConverter)
