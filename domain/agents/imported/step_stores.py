"""The older fields that let a step into one store or not: reported, and they change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from domain.agents.imported.loss import Became, FieldReport, Given, given
from domain.agents.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.codec import Json

_NONE: frozenset[str] = frozenset()
_READ = frozenset({"read"})
_WRITE = frozenset({"write"})
_BOTH = _READ | _WRITE
_LEVELS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"none": _NONE, "read": _READ, "write": _WRITE, "read-write": _BOTH}
)
_SPELLINGS = MappingProxyType({"readwrite": "read-write", "read_write": "read-write"})

STORES: Mapping[str, str] = MappingProxyType(
    {
        "db_access": "database",
        "knowledgebase_access": "knowledgebase",
        "learnings_access": "learnings",
    }
)
"""Each older field with the store that it was about."""

_STORE_NAMES = MappingProxyType(
    {"db": "database", "database": "database", "knowledgebase": "knowledgebase"}
    | {"kb": "knowledgebase", "learnings": "learnings"}
)
_LOCKS = ("lock_learnings", "disable_learning")

FIELDS = frozenset({*STORES, *_LOCKS, "learning_detail_level", "write_access"})
"""Every older field that was about a store."""


@dataclass(frozen=True)
class Authority:
    """What the step is launched with: its profile, and whether a person chose it in the file."""

    profile: Profile
    chosen: bool

    @property
    def may(self) -> frozenset[str]:
        """Name what the profile does with every store."""
        return _BOTH if self.profile is Profile.WRITER else _READ


def store_rows(fields: Mapping[str, Json], authority: Authority) -> Iterator[FieldReport]:
    """Report each older field about a store, and what an absent one had meant."""
    for field, store in STORES.items():
        yield _access(fields, field, store, authority)
    for field in _LOCKS:
        if field in fields:
            yield _lock(field, fields[field], authority)
    if "learning_detail_level" in fields:
        yield _detail(fields["learning_detail_level"], authority)
    if "write_access" in fields:
        yield from _write_access(fields["write_access"], authority)


def _access(
    fields: Mapping[str, Json], field: str, store: str, authority: Authority
) -> FieldReport:
    value = fields.get(field)
    if field not in fields or given(value) != "value":
        stood: Given = given(value) if field in fields else "absent"
        row = _compared(field, store, _unsaid(fields, field), authority)
        says = f"it said nothing, which older programs took for {_words(_unsaid(fields, field))}"
        return row.model_copy(
            update={
                "given": stood,
                "became": Became.DEFAULTED,
                "code": "store_unsaid",
                "says": f"{says}; {_by(authority)}",
                "person": False,
            }
        )
    level = _level(value)
    if level is None:
        return _unclear(field, value)
    return _compared(field, store, _real(fields, field, level), authority)


def _unsaid(fields: Mapping[str, Json], field: str) -> frozenset[str]:
    """Tell what older programs took an unsaid field for."""
    if field == "db_access":
        return _BOTH
    if field == "knowledgebase_access":
        return _BOTH if _says_what(fields, "knowledgebase_contribution") else _NONE
    return _BOTH if _says_what(fields, "learning_objective") else _READ


def _real(fields: Mapping[str, Json], field: str, level: str) -> frozenset[str]:
    """Take away the writing for which older programs also wanted to be told what to write."""
    what = {
        "knowledgebase_access": "knowledgebase_contribution",
        "learnings_access": "learning_objective",
    }.get(field)
    may = _LEVELS[level]
    return may if what is None or _says_what(fields, what) else may - _WRITE


def _says_what(fields: Mapping[str, Json], field: str) -> bool:
    return given(fields.get(field)) == "value"


def _lock(field: str, value: Json, authority: Authority) -> FieldReport:
    if value is None or value is False:
        return _silent(field, value)
    if value is not True:
        return _unclear(field, value)
    return _compared(field, "learnings", authority.may - _WRITE, authority)


def _detail(value: Json, authority: Authority) -> FieldReport:
    field = "learning_detail_level"
    if value == "none":
        return _compared(field, "learnings", authority.may - _WRITE, authority)
    said = given(value) != "value" or value in ("exact", "general")
    return _silent(field, value) if said else _unclear(field, value)


def _write_access(value: Json, authority: Authority) -> Iterator[FieldReport]:
    """Report a mapping of stores, or one answer for all of them."""
    names: Mapping[str, Json]
    if isinstance(value, dict):
        names = cast("Mapping[str, Json]", value)
    else:
        names = dict.fromkeys(("database", "knowledgebase", "learnings"), value)
    if given(value) != "value":
        yield _silent("write_access", value)
        return
    for name, one in names.items():
        store = _STORE_NAMES.get(name)
        field = f"write_access.{name}" if store is not None else "write_access"
        level = _level(one)
        if store is None or level is None:
            yield _unclear(field, one)
        else:
            yield _compared(field, store, _LEVELS[level] | _READ, authority)


def _level(value: Json) -> str | None:
    """Read how much was allowed; None where it is no word for that."""
    if isinstance(value, bool):
        return "read-write" if value else "read"
    if not isinstance(value, str):
        return None
    word = value.strip().casefold()
    word = _SPELLINGS.get(word, word)
    return word if word in _LEVELS else None


def _compared(field: str, store: str, old: frozenset[str], authority: Authority) -> FieldReport:
    """Say what the profile allows more and less than the field did."""
    widens = tuple(f"{store}:{one}" for one in sorted(authority.may - old))
    narrows = tuple(f"{store}:{one}" for one in sorted(old - authority.may))
    if not widens and not narrows:
        return FieldReport(
            field=field,
            given="value",
            became=Became.TRANSFORMED,
            code="store_same",
            says=f"{_by(authority)}, which is what it said",
        )
    return FieldReport(
        field=field,
        given="value",
        became=Became.DROPPED,
        code="store_differs",
        says=f"it said {_words(old)} for the {store} and changes nothing; {_by(authority)}",
        next="set the step's `profile` to reader or writer to decide it",
        widens=widens,
        narrows=narrows,
        person=not authority.chosen,
    )


def _by(authority: Authority) -> str:
    word = "reads and writes" if authority.profile is Profile.WRITER else "only reads"
    return f"a {authority.profile.value.capitalize()} {word} every store"


def _words(may: frozenset[str]) -> str:
    return " and ".join(sorted(may)) or "no access"


def _silent(field: str, value: Json) -> FieldReport:
    return FieldReport(
        field=field,
        given=given(value),
        became=Became.DEFAULTED if value is None else Became.DROPPED,
        code="null_is_absent" if value is None else "store_silent",
        says="it limits nothing",
    )


def _unclear(field: str, value: Json) -> FieldReport:
    return FieldReport(
        field=field,
        given=given(value),
        became=Became.DROPPED,
        code="store_unclear",
        says="it is no answer that this field ever had, and it changes nothing",
        next="look what was meant and set the step's `profile`",
        person=True,
    )
