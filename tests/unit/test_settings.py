"""The environment becomes one value, or one refusal that names all that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.errors import Kind, LegatoError
from legato.settings import anchors_folder, load_settings, secret, without_password


def test_an_empty_environment_gives_the_embedded_stack_in_the_users_home() -> None:
    settings = load_settings({})
    assert settings.home == Path("~/.legato").expanduser().resolve()
    assert settings.temporal_address is None
    assert settings.database_url is None
    assert settings.temporal_namespace == "legato"
    assert settings.kill_points == ""


def test_an_empty_variable_counts_as_unset() -> None:
    names = ("LEGATO_HOME", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "DATABASE_URL")
    assert load_settings(dict.fromkeys(names, "")) == load_settings({})


def test_every_variable_is_read(tmp_path: Path) -> None:
    settings = load_settings(
        {
            "LEGATO_HOME": str(tmp_path),
            "TEMPORAL_ADDRESS": "temporal.example:7233",
            "TEMPORAL_NAMESPACE": "work",
            "DATABASE_URL": "postgresql://me:word@db.example/ledger",
            "LEGATO_HOST": "desk-1",
            "LEGATO_KILL_POINTS": "close.before",
        }
    )
    assert settings.home == tmp_path.resolve()
    assert settings.temporal_address == "temporal.example:7233"
    assert settings.temporal_namespace == "work"
    assert settings.database_url == "postgresql://me:word@db.example/ledger"
    assert settings.task_queue_host == "desk-1"
    assert settings.kill_points == "close.before"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_the_driver_in_a_database_address_is_left_out(scheme: str) -> None:
    settings = load_settings({"DATABASE_URL": f"{scheme}://me@db.example/ledger"})
    assert settings.database_url == "postgresql://me@db.example/ledger"


def test_all_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LegatoError) as refusal:
        load_settings(
            {
                "LEGATO_HOME": str(file),
                "TEMPORAL_ADDRESS": "temporal.example:99999",
                "TEMPORAL_NAMESPACE": "two words",
                "DATABASE_URL": "mysql://me:word@db.example/ledger",
                "LEGATO_HOST": "a/b",
            }
        )
    error = refusal.value
    assert (error.code, error.kind) == ("settings_invalid", Kind.REFUSED)
    for name in ("HOME", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "DATABASE_URL", "HOST"):
        assert name in error.message
    assert "word@" not in error.message


@pytest.mark.parametrize("home", ["/data/a?b", "/data/50%", "/data/#1", "~no-such-user/legato"])
def test_a_home_that_a_part_could_not_find_again_is_refused(home: str) -> None:
    with pytest.raises(LegatoError, match="LEGATO_HOME"):
        load_settings({"LEGATO_HOME": home})


def test_settings_print_without_the_password() -> None:
    settings = load_settings({"DATABASE_URL": "postgresql://me:word@db.example/ledger"})
    assert "word@" not in repr(settings)
    assert "postgresql://me:***@db.example/ledger" in repr(settings)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me@db/x", "postgresql://me@db/x"),
        ("postgresql://me:a%40b@/x?host=/run/x", "postgresql://me:***@/x?host=/run/x"),
        ("postgresql:///x?user=me&password=word", "postgresql:///x?user=me&password=***"),
        ("127.0.0.1:7233", "127.0.0.1:7233"),
    ],
)
def test_a_password_is_masked_wherever_an_address_has_it(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_a_secret_is_read_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEGATO_TEST_SECRET", raising=False)
    assert secret("LEGATO_TEST_SECRET") is None
    monkeypatch.setenv("LEGATO_TEST_SECRET", "later")
    assert secret("LEGATO_TEST_SECRET") == "later"


def test_the_folder_of_anchors_is_whole_or_refused_and_the_homes_where_none_is_named() -> None:
    named = load_settings({"LEGATO_HOME": "/h", "LEGATO_ANCHORS": "/elsewhere"})
    unnamed = load_settings({"LEGATO_HOME": "/h"})

    assert anchors_folder(named, embedded=True) == Path("/elsewhere")
    assert anchors_folder(unnamed, embedded=True) == Path("/h/anchors")
    assert anchors_folder(unnamed, embedded=False) is None
    with pytest.raises(LegatoError) as refusal:
        load_settings({"LEGATO_ANCHORS": "here"})
    assert "LEGATO_ANCHORS" in refusal.value.message
