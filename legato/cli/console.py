"""How a command speaks: its result on stdout for people or programs, all else on stderr."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import click
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from domain.errors import to_json
from legato.cli.screens.errors import error_screen
from legato.settings import Settings, environment, load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable

    from rich.console import ConsoleOptions, RenderableType

    from domain.errors import LegatoError
    from legato.door import Door

T = TypeVar("T")
AnyCallable = TypeVar("AnyCallable", bound="Callable[..., Any]")
Answer: TypeAlias = "tuple[Mapping[str, object], str]"


_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000)), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""What stands for a character that a terminal would obey, or that no stream can be given."""


class _Output(Console):
    """A console whose reader may leave early, and whose terminal obeys nothing it is shown.

    What models, tools and files said is text here, whatever it holds: only the console's
    own styles reach the terminal as sequences.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render with pictures in the place of control characters."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control or (text.isascii() and text.isprintable()):
                yield segment
            else:
                yield Segment(text.translate(_PICTURES), segment.style)

    def on_broken_pipe(self) -> None:
        """Let the program end as it wants, not as the library does."""
        raise BrokenPipeError


def _console(*, stderr: bool) -> Console:
    """Make a console; what is not a terminal is not folded at 80 columns."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 140
    return _Output(stderr=stderr, highlight=False, soft_wrap=False, width=width)


@dataclass
class Call:
    """One call of the program: how its output is wanted."""

    json: bool = False
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))

    def settings(self) -> Settings:
        """Read the settings; raises `settings_invalid`."""
        return load_settings(environment())

    def show(self, value: object, screen: Callable[[], RenderableType]) -> None:
        """Give the result: one JSON document, or the screen for people."""
        if self.json:
            self.write_json(value, indent=2)
        else:
            self.out.print(screen(), soft_wrap=True)

    def write_json(self, value: object, *, indent: int | None = None) -> None:
        """Write one JSON document and end its line."""
        sys.stdout.write(json.dumps(plain(value), indent=indent) + "\n")
        sys.stdout.flush()

    @property
    def telling(self) -> Console:
        """Where a run is told as it happens: what `run` answers, unless a document is wanted."""
        return self.err if self.json else self.out

    def tell(self, text: str) -> None:
        """Tell one line of a run that is followed."""
        self.telling.print(Text(text))

    def progress(self, text: str) -> None:
        """Say how far long work is, on stderr."""
        self.err.print(Text(text, style="dim"))

    def fail(self, error: LegatoError) -> None:
        """Say what went wrong and what to do next."""
        if self.json:
            self.write_json(to_json(error), indent=2)
        else:
            self.err.print(error_screen(error), soft_wrap=True)

    @asynccontextmanager
    async def door(self, run: str | None = None) -> AsyncGenerator[Door]:
        """Open the front door as the command line.

        With `run`, a run's id or beginning, nothing is started where no run can have it:
        raises `run_not_found`.
        """
        from legato.door import open_door  # noqa: PLC0415 - help and status load no ledger
        from legato.readings import require_findable  # noqa: PLC0415 - the same

        settings = self.settings()
        if run is not None:
            require_findable(settings, run)
        async with open_door(settings, "cli", progress=self.progress) as opened:
            yield opened


def plain(value: object) -> object:
    """Turn dataclasses, mappings and tuples into what JSON knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in cast("list[object]", value)]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _want_json(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's own signature
    call = ctx.find_object(Call)
    if call is not None and value:
        call.json = True


def answering_option(
    *names: str,
    says: str,
    answer: Callable[[click.Context], Answer],
) -> Callable[[AnyCallable], AnyCallable]:
    """Make an option that is answered in place of the command, in JSON where that is wanted.

    `answer` gives the fields of the document and the same as text for people.
    """

    def say(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's own signature
        if not value or ctx.resilient_parsing:
            return
        fields, said = answer(ctx)
        call = ctx.find_object(Call)
        if call is not None and call.json:
            call.write_json({"ok": True, **fields}, indent=2)
        else:
            click.echo(said)
        ctx.exit()

    return click.option(
        *names, is_flag=True, expose_value=False, is_eager=True, callback=say, help=says
    )


def _help(ctx: click.Context) -> Answer:
    said = ctx.get_help()
    return {"command": ctx.command_path, "help": said}, said


def json_option(command: AnyCallable) -> AnyCallable:
    """Let a command take `--json`, which its `--help` obeys too."""
    option = click.option(
        "--json",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_want_json,
        help="Print exactly one JSON document on stdout.",
    )
    helping = answering_option("-h", "--help", says="Show this message.", answer=_help)
    return option(helping(command))


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's asynchronous part to its end."""
    return asyncio.run(work)
