"""The subcommands that send an order to a running server over its private socket.

Each subcommand is built from the class of its order, which defines the name, help, arguments and options, and how the
answer is displayed.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

import click
import msgspec

from tictactoe_server.operator.control import NoServer, ask, socket_path
from tictactoe_server.operator.order import Order, OrderRefused
from tictactoe_server.operator.status import DrainOrder, Status

Decorated = TypeVar("Decorated", bound=Callable[..., object])

WATCH_SECONDS: Final = 1.0

_DATA: Final = click.Option(
    ["--data", "own_data"], metavar="DIR", help="Data folder of the server, if it is not the default."
)
_PORT: Final = click.Option(
    ["--port", "own_port"], type=click.IntRange(1, 65535), help="Port of the server, if it runs with --data :memory:."
)
_JSON: Final = click.Option(["--json", "in_json"], is_flag=True, help="Print the result as one line of JSON.")
_BOUND: Final = re.compile(r"Expected `\w+` (of length )?<= (\S+) - at `\$\.(\w+)`")
_YES: Final = click.Option(["--yes", "is_sure"], is_flag=True, help="Do not ask for confirmation.")
_OWN: Final[Mapping[type[Order], click.Option]] = {
    Status: click.Option(["--watch", "watches"], is_flag=True, help="Refresh the status every second until Ctrl-C."),
    DrainOrder: click.Option(["--wait", "waits"], is_flag=True, help="Wait until the server has stopped."),
}
"""The options that only one command has."""


def chosen_folder(context: click.Context, own_data: str | None) -> Path | None:
    """Return the data folder from a command's own `--data`, or else from the program's; None for ``:memory:``."""
    data = context.find_root().params["data"] if own_data is None else own_data
    return None if data == ":memory:" else Path(data).expanduser()


def with_folder(help: str) -> Callable[[Decorated], Decorated]:
    """Return a decorator that passes the data folder to a command as `folder`. It refuses ``:memory:``."""

    def find(context: click.Context, option: click.Parameter, own_data: str | None) -> Path:
        folder = chosen_folder(context, own_data)
        if folder is None:
            raise click.UsageError("This command requires a data folder; a server with --data :memory: has none.")
        return folder

    return click.option("--data", "folder", metavar="DIR", help=help, callback=find)


def _command_of(kind: type[Order]) -> click.Command:
    """Return the subcommand for a class of orders; the common options precede the order's own options."""
    hints = get_type_hints(kind, include_extras=True).values()
    fields = [note for hint in hints for note in getattr(hint, "__metadata__", ()) if isinstance(note, click.Parameter)]
    params = [_DATA, _PORT, _JSON, *fields, *filter(None, [_OWN.get(kind), _YES if kind.question else None])]
    return click.Command(
        str(kind.__struct_config__.tag), params=params, help=kind.__doc__, callback=partial(_run, kind)
    )


def _run(
    kind: type[Order],
    *,
    own_data: str | None,
    own_port: int | None,
    in_json: bool,
    watches: bool = False,
    waits: bool = False,
    is_sure: bool = False,
    **fields: Any,
) -> None:
    context = click.get_current_context()
    if kind.question and not is_sure:
        if not sys.stdin.isatty():
            raise click.UsageError("This cannot be undone. Without a terminal, confirm it with --yes.")
        click.confirm(kind.question.format_map(fields), abort=True)
    folder = None if own_port and own_data is None else chosen_folder(context, own_data)
    path = socket_path(folder, own_port or context.find_root().params["port"])
    try:
        order = msgspec.convert({"command": kind.__struct_config__.tag, **fields}, kind)
    except msgspec.ValidationError as bad:
        raise click.UsageError(f"{_BOUND.sub(_describe_bound, str(bad))}.") from None
    try:
        answer = _ask_and_say(path, order, in_json=in_json)
        with contextlib.suppress(KeyboardInterrupt):
            while watches:
                time.sleep(WATCH_SECONDS)
                answer = _ask_and_say(path, order, in_json=in_json, before=answer)
        with contextlib.suppress(NoServer):
            while waits:
                time.sleep(WATCH_SECONDS / 2)
                ask(path, Status())
    except (NoServer, OrderRefused) as error:
        if not in_json:
            raise
        click.echo(json.dumps({"error": str(error)}))
        sys.exit(1)


def _describe_bound(found: re.Match[str]) -> str:
    most = f"{found[2]} characters" if found[1] else f"{float(found[2]) / 86_400:.0f} days"
    return f"{found[3]}: at most {most}"


def _ask_and_say(path: Path, order: Order, *, in_json: bool, before: Any = None) -> Any:
    """Print the answer to an order and return it; the answer `before` was on the screen until now."""
    try:
        answer = ask(path, order)
    except NoServer:
        answer = order.answer_without_server()
        if answer is None:
            raise
    if in_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
    elif before is None:
        click.echo(order.describe(answer))
    else:
        speed = f"{max(0, answer['moves'] - before['moves']) / WATCH_SECONDS:.0f} moves per second"
        click.clear()
        click.echo(order.describe({**answer, "speed": speed}))
    return answer


def make_commands(kinds: Iterable[type[Order]]) -> Iterator[click.Command]:
    """Yield the subcommands for these classes of orders.

    Commands whose names have two words are put into a group named after the first word.
    """
    groups: dict[str, click.Group] = {}
    for kind in kinds:
        group, _, name = str(kind.__struct_config__.tag).rpartition(" ")
        command = _command_of(kind)
        if not group:
            yield command
            continue
        if group not in groups:
            groups[group] = click.Group(group, help=f"Manage the {group} of the running server.")
            yield groups[group]
        groups[group].add_command(command, name)
