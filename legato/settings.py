"""The environment, read once into a frozen value that prints without secrets."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain.agents.files.addresses import SAID, address_problem
from domain.errors import problems
from domain.runs.pace import Paces, parse_rates, parse_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DEFAULT_HOME = "~/.legato"
_DEFAULT_NAMESPACE = "legato"
_MOST_EVENTS = 2000
_API_ADDRESS = "127.0.0.1:8787"
_GRACE = 60
_LEAST_EVENTS = 50
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(\d{1,5})")
_IN_CREDENTIALS = re.compile(r"(://[^:/@?#]*):.*@")
_IN_QUERY = re.compile(r"([?&]password=)[^&#]*")
_HIGHEST_PORT = 65535
_NOT_IN_HOME = frozenset("#%?")


@dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """What the environment says.

    `temporal_address` (host:port) and `database_url` are None where the embedded stack
    is to be used. `task_queue_host` names this machine's task queue, empty where it is
    to be derived from `home`. `kill_points` names the places where a test kills a
    process, empty in all other use. `most_events` is how long a run's history may grow
    before the run continues as new. `grace` is for how many seconds a run must be quiet
    before it is compared with Temporal. `api_address` is where the API serves (host:port),
    `metrics_address` and `sdk_metrics_address` where a worker serves its own metrics and
    those of Temporal's SDK, `traces_endpoint` the OTLP address that spans are sent to; ""
    for none. `anchors` is the folder for roots of the ledger's feed, None where none is
    named: the embedded stack then keeps them in `home`. `model_rates` and
    `workspace_weights` are as the operator wrote them. `user_home` and `config_home` are the
    user's own folders, None where there are none; `agent_source_url` is the remote source
    of agent definitions, "" for none.
    """

    home: Path
    temporal_address: str | None
    temporal_namespace: str
    database_url: str | None
    task_queue_host: str
    kill_points: str
    most_events: int
    api_address: str
    grace: int
    metrics_address: str
    sdk_metrics_address: str
    traces_endpoint: str
    anchors: Path | None = None
    model_rates: str = ""
    workspace_weights: str = ""
    user_home: Path | None = None
    config_home: Path | None = None
    agent_source_url: str = ""

    @property
    def paces(self) -> Paces:
        """Give the rates that models may be asked at; raises ValueError."""
        return Paces(parse_rates(self.model_rates), parse_weights(self.workspace_weights))

    def __repr__(self) -> str:
        """Every field, the password of the database address masked."""
        url = None if self.database_url is None else without_password(self.database_url)
        return (
            f"Settings(home={str(self.home)!r}, temporal_address={self.temporal_address!r}, "
            f"temporal_namespace={self.temporal_namespace!r}, database_url={url!r}, "
            f"task_queue_host={self.task_queue_host!r}, kill_points={self.kill_points!r}, "
            f"most_events={self.most_events}, grace={self.grace}, "
            f"api_address={self.api_address!r}, metrics_address={self.metrics_address!r}, "
            f"sdk_metrics_address={self.sdk_metrics_address!r}, "
            f"traces_endpoint={self.traces_endpoint!r}, "
            f"anchors={self.anchors and str(self.anchors)!r}, "
            f"model_rates={self.model_rates!r}, workspace_weights={self.workspace_weights!r}, "
            f"user_home={self.user_home and str(self.user_home)!r}, "
            f"config_home={self.config_home and str(self.config_home)!r}, "
            f"agent_source_url={_shown_source(self.agent_source_url)!r})"
        )


def load_settings(environ: Mapping[str, str]) -> Settings:
    """Read the settings; an empty variable counts as unset.

    Raises:
        LegatoError: `settings_invalid`, every bad variable named at once.

    """
    written = Path(environ.get("LEGATO_HOME") or _DEFAULT_HOME)
    settings = Settings(
        home=Path(os.path.realpath(_expanded(written))),
        temporal_address=environ.get("TEMPORAL_ADDRESS") or None,
        temporal_namespace=environ.get("TEMPORAL_NAMESPACE") or _DEFAULT_NAMESPACE,
        database_url=_plain_driver(environ.get("DATABASE_URL") or None),
        task_queue_host=environ.get("LEGATO_HOST", ""),
        kill_points=environ.get("LEGATO_KILL_POINTS", ""),
        most_events=_count(environ.get("LEGATO_MOST_EVENTS") or str(_MOST_EVENTS)),
        metrics_address=environ.get("LEGATO_METRICS_ADDRESS", ""),
        sdk_metrics_address=environ.get("LEGATO_SDK_METRICS_ADDRESS", ""),
        traces_endpoint=_traces(environ),
        anchors=_folder(environ.get("LEGATO_ANCHORS", "")),
        api_address=environ.get("LEGATO_API_ADDRESS") or _API_ADDRESS,
        grace=_count(environ.get("LEGATO_GRACE") or str(_GRACE)),
        model_rates=environ.get("LEGATO_MODEL_RATES", ""),
        workspace_weights=environ.get("LEGATO_WORKSPACE_WEIGHTS", ""),
        user_home=_whole_path(environ.get("HOME", "")),
        config_home=_config_home(environ),
        agent_source_url=environ.get("LEGATO_AGENT_SOURCE_URL", ""),
    )
    found = _problems(settings, written)
    if found:
        raise problems(
            "settings_invalid",
            "The environment holds values that cannot be used",
            found,
            next="correct or unset the variables named above, then run the command again",
        )
    return settings


def environment() -> Mapping[str, str]:
    """Give this process's environment, for `load_settings`."""
    return dict(os.environ)


def secret(name: str) -> str | None:
    """Read one secret at the moment of its use; None where it is unset or empty."""
    return os.environ.get(name) or None


def child_environment(**values: str) -> dict[str, str]:
    """Return this process's environment with `values` set, for a process that it starts."""
    return {**os.environ, **values}


def without_password(url: str) -> str:
    """Write a database address with its password masked, wherever it stands in it."""
    return _IN_QUERY.sub(r"\1***", _IN_CREDENTIALS.sub(r"\1:***@", url))


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no such user, or one without a home folder
        return path


def _folder(written: str) -> Path | None:
    return _expanded(Path(written)) if written else None


def _whole_path(written: str) -> Path | None:
    return Path(written) if written.startswith("/") else None


def _config_home(environ: Mapping[str, str]) -> Path | None:
    """Find where programs keep the user's configuration; a relative path counts as unset."""
    home = _whole_path(environ.get("HOME", ""))
    written = _whole_path(environ.get("XDG_CONFIG_HOME", ""))
    return written or (home / ".config" if home is not None else None)


def _plain_driver(url: str | None) -> str | None:
    """Drop the driver that SQLAlchemy users write; both ways of writing mean one thing."""
    return None if url is None else re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)


def _problems(settings: Settings, written: Path) -> list[str]:
    checks = {
        "LEGATO_HOME": _home_problem(written, settings.home),
        "TEMPORAL_ADDRESS": _address_problem(settings.temporal_address),
        "TEMPORAL_NAMESPACE": _name_problem(settings.temporal_namespace),
        "DATABASE_URL": _url_problem(settings.database_url),
        "LEGATO_API_ADDRESS": _address_problem(settings.api_address),
        "LEGATO_METRICS_ADDRESS": _address_problem(settings.metrics_address or None),
        "LEGATO_SDK_METRICS_ADDRESS": _address_problem(settings.sdk_metrics_address or None),
        "OTEL_EXPORTER_OTLP_ENDPOINT": _endpoint_problem(settings.traces_endpoint),
        "LEGATO_MOST_EVENTS": _events_problem(settings.most_events),
        "LEGATO_GRACE": _grace_problem(settings.grace),
        "LEGATO_ANCHORS": _anchors_problem(settings.anchors),
        "LEGATO_MODEL_RATES": _said_of(parse_rates, settings.model_rates),
        "LEGATO_WORKSPACE_WEIGHTS": _said_of(parse_weights, settings.workspace_weights),
        "LEGATO_AGENT_SOURCE_URL": _source_problem(settings.agent_source_url),
        "LEGATO_HOST": _name_problem(settings.task_queue_host or _DEFAULT_NAMESPACE),
    }
    return [f"{name} {problem}" for name, problem in checks.items() if problem]


def _traces(environ: Mapping[str, str]) -> str:
    """Find where spans go by OpenTelemetry's own variables; "" for nowhere."""
    whole = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    return whole or (f"{base.rstrip('/')}/v1/traces" if base else "")


def _endpoint_problem(endpoint: str) -> str:
    if not endpoint or endpoint.startswith(("http://", "https://")):
        return ""
    return f"is {endpoint!r}, not an address that begins with http:// or https://"


def _said_of(parse: Callable[[str], object], text: str) -> str:
    try:
        parse(text)
    except ValueError as error:
        return f"cannot be read: {error}"
    return ""


def _count(text: str) -> int:
    """Read a whole number; -1 for what is none, which is then named as a problem."""
    return int(text) if text.isdecimal() else -1


def _events_problem(most: int) -> str:
    if most >= _LEAST_EVENTS:
        return ""
    return f"is not a whole number of at least {_LEAST_EVENTS}"


def _grace_problem(grace: int) -> str:
    return "" if grace > 0 else "is not a whole number of seconds above 0"


def _home_problem(written: Path, home: Path) -> str:
    if str(written).startswith("~") and _expanded(written) == written:
        return "names a user whose home folder is not known; write the whole path"
    if set(str(home)) & _NOT_IN_HOME:
        return f"is {str(home)!r}; '#', '%' and '?' mean something else to Temporal's database"
    if home.exists() and not home.is_dir():
        return f"is {home}, which is not a folder"
    return ""


def _anchors_problem(folder: Path | None) -> str:
    if folder is not None and not folder.is_absolute():
        return f"is {str(folder)!r}; write the whole path"
    if folder is not None and folder.exists() and not folder.is_dir():
        return f"is {folder}, which is not a folder"
    return ""


def anchors_folder(settings: Settings, *, embedded: bool) -> Path | None:
    """Tell where roots of the feed are kept outside the database; None where nowhere."""
    return settings.anchors or (settings.home / "anchors" if embedded else None)


def _address_problem(address: str | None) -> str:
    if address is None:
        return ""
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match[1]) <= _HIGHEST_PORT:
        return f"is {address!r}, not host:port with a port from 1 to {_HIGHEST_PORT}"
    return ""


def _source_problem(url: str) -> str:
    unfit = address_problem(url) if url else None
    return "" if unfit is None else f"cannot be used: {SAID[unfit]}"


def _shown_source(url: str) -> str:
    return "***" if url and address_problem(url) is not None else url


def _name_problem(name: str) -> str:
    if _NAME.fullmatch(name):
        return ""
    return f"is {name!r}; letters, digits, '.', '_' and '-' are allowed, 63 at most"


def _url_problem(url: str | None) -> str:
    if url is None or url.startswith("postgresql://"):
        return ""
    return f"is {without_password(url)!r}, not an address that begins with postgresql://"
