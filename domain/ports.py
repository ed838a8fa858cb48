"""The ports: what a tool and a model are to the engine, with every error they may raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from domain.agents.profile import Claim
from domain.errors import Kind, LegatoError
from domain.events import Fact
from domain.runs.conversation import CallRequest, Message, Native, Usage
from domain.runs.inputs import Question
from domain.tools.registry import ToolSpec
from domain.tools.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.codec import Json


class StopSignal(Protocol):
    """Tells a running tool that it must end: a person's stop, or its time is over."""

    def is_set(self) -> bool:
        """Tell whether the tool must end now."""
        ...

    def wait(self, timeout: float) -> bool:
        """Block at most `timeout` seconds; True as soon as the tool must end."""
        ...


@dataclass(frozen=True)
class ToolContext:
    """What a call is given beside its arguments. Paths are absolute.

    `call_id` is the idempotency key, the same at each attempt. `workspace` is the folder
    the run works in ("" where it has none). `home` is Legato's own folder, which holds
    stores and call folders and is nobody's to touch. `call_folder` is private to the call and
    outlives the worker: receipts go there. `stores` holds the workspace's stores
    (`workflow.db` and so on), outside the tree. `limit` is in seconds. `environment` holds
    the names and values that a subprocess may see, `network` whether it may reach beyond a
    loopback of its own. `skills` maps a skill's name to its text. `facts` is the run so
    far, oldest first, behind the runs that it goes on from.
    """

    run_id: str
    call_id: str
    claim: Claim
    workspace: str
    home: str
    stores: str
    call_folder: str
    limit: float
    stop: StopSignal
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    facts: Sequence[Fact] = ()
    network: bool = False


@dataclass(frozen=True)
class Executed:
    """A call that came to an outcome; `facts` are appended with it, all or nothing."""

    outcome: Outcome
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Asks:
    """A call that waits for a person."""

    question: Question


@dataclass(frozen=True)
class Unclear:
    """A call whose effect cannot be told; a person decides."""

    reason: str


@dataclass(frozen=True)
class Absent:
    """A probe's proof that an earlier execution changed nothing and never will."""


ToolReturn: TypeAlias = Executed | Asks | Unclear
Probed: TypeAlias = Executed | Unclear | Absent


class Execute(Protocol):
    """Runs a call on a thread of its own, never on an event loop.

    The arguments were validated against the schema. Raises LegatoError for a refusal
    (it becomes `error(code)`); any other exception becomes `error("tool_raised")` for a
    tool that only reads and `unknown` for one of class `once`. Must return soon after
    `context.stop` is set.
    """

    def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> ToolReturn:
        """Do what the call asks."""
        ...


class Probe(Protocol):
    """Looks where the effect would be for what became of an earlier execution.

    May wait, within `context.limit`, for an execution that outlived its worker.
    """

    def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Probed:
        """Tell what became of an earlier execution of the same call id."""
        ...


@dataclass(frozen=True)
class Tool:
    """One binding: the published contract and what runs it.

    Classes `probeable` and `transactional` need a `probe`.
    """

    spec: ToolSpec
    execute: Execute
    probe: Probe | None = None


class Disposition(StrEnum):
    """What the engine does about a failed model request."""

    RETRY = "retry"
    CAPACITY = "capacity"
    OVERFLOW = "overflow"
    REFUSE = "refuse"
    FALLBACK = "fallback"


class ModelFailure(LegatoError):  # noqa: N818 - a failure is an outcome that the engine handles
    """A model request that came to nothing.

    `retry_after` is in seconds where the provider said so; `partial` is text received
    before the failure, `falls_back`, set by who knows, that another model may do better.
    Messages and causes hold no provider body and no secret.
    """

    def __init__(
        self,
        code: str,
        message: str,
        disposition: Disposition,
        *,
        retry_after: float | None = None,
        partial: str = "",
        next: str = "",  # noqa: A002 - the field's name at every door
    ) -> None:
        super().__init__(code, message, kind=Kind.WORLD, next=next)
        self.disposition = disposition
        self.retry_after = retry_after
        self.partial = partial
        self.falls_back = False


@dataclass(frozen=True)
class ModelRequest:
    """One stateless request. `settings` are the run's generation settings.

    `ordinal` counts the run's model steps from 0: a scripted model plays by it.
    """

    model: str
    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int
    temperature: float | None
    ordinal: int


@dataclass(frozen=True)
class ModelAnswer:
    """One complete response. `finish` is stop, tool_calls, length or content_filter."""

    text: str
    calls: tuple[CallRequest, ...]
    usage: Usage
    finish: str
    native: Native | None = None


class Model(Protocol):
    """Sends one request; raises ModelFailure, and nothing else but cancellation."""

    def __call__(
        self, request: ModelRequest, on_text: Callable[[str], None]
    ) -> Awaitable[ModelAnswer]:
        """Send the request; `on_text` is given each piece of text as it arrives."""
        ...
