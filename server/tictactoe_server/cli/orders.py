"""The commands that a running server carries out: asked over its private socket, answered as text or as JSON."""

from __future__ import annotations

import functools
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import click
import msgspec

from tictactoe_server.admin import orders
from tictactoe_server.admin.control import NoServer, OrderRefused, ask, socket_path
from tictactoe_server.admin.orders import Order
from tictactoe_server.cli.folders import Place, data_option, folder_of
from tictactoe_server.cli.tables import (
    describe_drain,
    draw_servers,
    draw_table,
    list_status,
    show,
    show_duration,
    show_time,
)
from tictactoe_server.settings import COUNTS, Limits, count_of

WATCH_SECONDS: Final = 1.0
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,9})([smhdw]?)", re.ASCII)


class Asked:
    """A server to ask: `send` returns its answer, and ends the program where there is none."""

    def __init__(self, place: Place, *, in_json: bool) -> None:
        self.place = place
        self.in_json = in_json

    def send(self, order: Order) -> Any:
        """Return the answer to an order."""
        try:
            return ask(socket_path(self.place.folder, self.place.port), order)
        except (NoServer, OrderRefused) as error:
            self.fail(error)

    def fail(self, error: Exception) -> NoReturn:
        """Say why not, and end."""
        if self.in_json:
            click.echo(json.dumps({"error": str(error)}))
        else:
            click.echo(f"tictactoe-server: {error}", err=True)
        sys.exit(1)

    def say(self, answer: Any, words: Callable[[], str]) -> None:
        """Print an answer, as JSON or in words."""
        click.echo(json.dumps(answer, ensure_ascii=False) if self.in_json else words())


class Duration(click.ParamType):  # type: ignore[type-arg]  # older versions of click know no argument
    """A length of time in seconds, or with a unit: 90, 30m, 12h, 7d, 4w."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        found = _DURATION.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no length of time: write 90, 30m, 12h, 7d or 4w.", param, ctx)
        return float(int(found[1]) * _UNITS[found[2]])


def _order(function: Callable[..., None]) -> click.Command:
    """Return a command to a running server: with `--data`, `--port` and `--json`, and an `Asked` as first argument."""

    def run(
        context: click.Context, /, own_data: str | None, own_port: int | None, in_json: bool, **values: Any
    ) -> None:
        place: Place = context.obj
        if own_data is not None:
            place.folder = folder_of(own_data)
        if own_port is not None:
            place.port = own_port
        function(Asked(place, in_json=in_json), **values)

    functools.update_wrapper(run, function)
    decorated = click.option("--json", "in_json", is_flag=True, help="Print the answer as one line of JSON.")(
        click.pass_context(run)
    )
    decorated = click.option(
        "--port", "own_port", type=click.IntRange(1, 65535), help="The port of a server with --data :memory:."
    )(decorated)
    decorated = data_option("The data folder of the server that is meant, if not the default.")(decorated)
    return click.command(name=function.__name__)(decorated)


@_order
@click.option("--watch", is_flag=True, help="Show it anew every second, until Ctrl-C.")
def status(server: Asked, *, watch: bool) -> None:
    """Say how a running server is."""
    if watch and not server.in_json:
        _watch(server)
    _say_status(server)
    while watch:
        time.sleep(WATCH_SECONDS)
        _say_status(server)


def _say_status(server: Asked) -> None:
    answer = server.send(orders.Status())

    def words() -> str:
        lines = [f"{name:8} {text}" for name, text in list_status(answer)]
        servers = draw_servers(answer)
        return "\n".join([*lines, "", servers] if servers else lines)

    server.say(answer, words)


def _watch(server: Asked) -> NoReturn:
    """Draw the status as a table that stays in its place."""
    from rich.console import Group
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    def draw(answer: dict[str, Any], moves_a_second: float) -> Group:
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for name, text in list_status(answer):
            table.add_row(name, text)
        table.add_row("speed", f"{moves_a_second:.0f} moves a second")
        servers = draw_servers(answer)
        return Group(table, Text(f"\n{servers}")) if servers else Group(table)

    answer = server.send(orders.Status())
    try:
        with Live(draw(answer, 0.0), auto_refresh=False) as live:
            while True:
                time.sleep(WATCH_SECONDS)
                before, answer = answer, server.send(orders.Status())
                live.update(draw(answer, max(0, answer["moves"] - before["moves"]) / WATCH_SECONDS), refresh=True)
    except KeyboardInterrupt:
        sys.exit(0)


@_order
def rooms(server: Asked) -> None:
    """List all rooms, the private ones too."""
    answer = server.send(orders.ListRooms())
    names = ("room", "status", "visibility", "rules", "game", "ply", "players", "here", "watchers")
    server.say(answer, lambda: _table(names, answer, "No rooms."))


@_order
@click.argument("code")
def room(server: Asked, code: str) -> None:
    """Show the room CODE: its board, and who is in it."""
    answer = server.send(orders.ShowRoom(code))

    def words() -> str:
        facts = [
            (name, show(answer[name]))
            for name in ("room", "status", "visibility", "rules", "game", "ply", "turn", "server")
            if name in answer
        ]
        lines = [f"{name:10} {text}" for name, text in (*facts, ("watching", show(answer["watching"])))]
        seats = [
            [mark, *([None] * 4 if seat is None else [seat[key] for key in ("name", "player", "online", "bot")])]
            for mark, seat in answer["seats"].items()
        ]
        return "\n".join(
            [*lines, "", draw_table(("seat", "name", "player", "online", "bot"), seats), "", *answer["board"]]
        )

    server.say(answer, words)


@_order
def players(server: Asked) -> None:
    """List who is here."""
    answer = server.send(orders.ListPlayers())
    server.say(answer, lambda: _table(("player", "name", "connections", "rooms"), answer, "Nobody is here."))


@_order
def connections(server: Asked) -> None:
    """List the connections, with their addresses."""
    answer = server.send(orders.ListConnections())

    def words() -> str:
        rows = [{**row, "for": show_duration(row["seconds"])} for row in answer]
        return _table(("address", "player", "name", "for", "rooms"), rows, "No connections.")

    server.say(answer, words)


@_order
@click.argument("player")
@click.option("--reason", default="", metavar="TEXT", help="What the player is told.")
def kick(server: Asked, player: str, reason: str) -> None:
    """Close the connections of PLAYER, an id or the name of one who is here."""
    answer = server.send(_made(orders.Kick, player=player, reason=reason))
    server.say(answer, lambda: f"Kicked {answer['player']}: {_count(answer['connections'], 'connection')} closed.")


@_order
@click.argument("subject", metavar="PLAYER|ADDRESS")
@click.option(
    "--for", "seconds", type=Duration(), metavar="TIME", help="For how long: 90, 30m, 12h, 7d. [default: for good]"
)
@click.option("--reason", default="", metavar="TEXT", help="What those who are banned are told.")
def ban(server: Asked, subject: str, seconds: float | None, reason: str) -> None:
    """Let a player, an address or a network (192.0.2.0/24) in no more.

    A player is named by the id, or by the name while they are here. An IPv6 address stands for its /64.
    """
    answer = server.send(_made(orders.BanOrder, subject=subject, reason=reason, seconds=seconds))

    def words() -> str:
        end = "for good" if answer["until"] is None else f"until {show_time(answer['until'])}"
        return f"Banned {answer['subject']} {end}: {_count(answer['connections'], 'connection')} closed."

    server.say(answer, words)


@_order
@click.argument("subject", metavar="PLAYER|ADDRESS")
def unban(server: Asked, subject: str) -> None:
    """Take a ban back."""
    answer = server.send(orders.Unban(subject))
    server.say(answer, lambda: f"{answer['subject']} is not banned any more.")


@_order
def bans(server: Asked) -> None:
    """List who is banned, until when and why."""
    answer = server.send(orders.ListBans())

    def words() -> str:
        rows = [{**row, "since": show_time(row["since"]), "until": show_time(row["until"])} for row in answer]
        return _table(("subject", "since", "until", "reason"), rows, "Nobody is banned.")

    server.say(answer, words)


@_order
@click.argument("code")
@click.option("--reason", default="", metavar="TEXT", help="What those in the room are told.")
def close(server: Asked, code: str, reason: str) -> None:
    """End the room CODE; the game that is on there is not kept."""
    answer = server.send(_made(orders.CloseRoom, code=code, reason=reason))
    server.say(answer, lambda: f"Closed {answer['room']}.")


@_order
@click.argument("text", nargs=-1, required=True)
def announce(server: Asked, text: Sequence[str]) -> None:
    """Say TEXT to everybody."""
    answer = server.send(_made(orders.Announce, text=" ".join(text)))
    server.say(answer, lambda: f"Said over {_count(answer['connections'], 'connection')}.")


@_order
@click.option(
    "--deadline", type=Duration(), metavar="TIME", help="How long games may go on: 90, 30m, 2h. [default: any time]"
)
@click.option("--for-good", is_flag=True, help="Tell people that the server stops, not that it restarts.")
@click.option("--wait", is_flag=True, help="Return when the server has ended.")
def drain(server: Asked, *, deadline: float | None, for_good: bool, wait: bool) -> None:
    """Let the server end in good order: no new games, and the end when those that are on are over.

    Everybody is told. A signal to the server ends it at once.
    """
    answer = server.send(orders.DrainOrder(deadline, for_good))
    server.say(answer, lambda: describe_drain(answer))
    path = socket_path(server.place.folder, server.place.port)
    while wait:
        time.sleep(WATCH_SECONDS / 2)
        try:
            ask(path, orders.Status())
        except NoServer:
            return


@_order
def limits(server: Asked) -> None:
    """List what a server puts up with, by default and, where one is running, there and now."""
    try:
        answer = ask(socket_path(server.place.folder, server.place.port), orders.ListLimits())
    except NoServer:
        answer = [{"name": name, "limit": limit, "now": None} for name, limit in _default_limits().items()]
    except OrderRefused as refused:
        server.fail(refused)
    server.say(answer, lambda: _table(("name", "limit", "now"), answer, "No limits."))


def _default_limits() -> dict[str, float]:
    """Return the usual limits by their names."""
    return {name: count_of(Limits(), name) for name in COUNTS}


ORDERS: Final = (
    status,
    rooms,
    room,
    players,
    connections,
    kick,
    ban,
    unban,
    bans,
    close,
    announce,
    drain,
    limits,
)


def _made(kind: type[Order], **values: Any) -> Order:
    """Return an order of values that were typed; raises `click.UsageError` for one that is too long."""
    try:
        return msgspec.convert({"command": kind.__struct_config__.tag, **values}, kind)
    except msgspec.ValidationError as bad:
        raise click.UsageError(f"{bad}.") from None


def _table(names: Sequence[str], rows: Sequence[dict[str, Any]], otherwise: str) -> str:
    """Return rows of an answer under their names, or a sentence where there is none."""
    if not rows:
        return otherwise
    shown = (*names, "server") if "server" in rows[0] else names  # where there are several
    return draw_table(shown, ([row[name] for name in shown] for row in rows))


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
