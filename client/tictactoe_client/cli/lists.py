"""The commands that only ask: rooms, history, replay and check."""

from __future__ import annotations

from typing import Any

import click

from tictactoe_client.cli.manual import command
from tictactoe_client.cli.options import complete_file, settings_of, shared_options


@command(
    short_help="List the public rooms and exit.",
    examples=(
        "rooms",
        "rooms --server ws://192.168.1.20:8765",
        "rooms --json",
    ),
)
@shared_options
@click.pass_context
def rooms(context: click.Context, /, **_: Any) -> int:
    """List the public rooms of a server, newest first, and exit.

    Rooms that were opened with --private are not among them.
    """
    settings = settings_of(context)
    from tictactoe_client.cli.errands import show_rooms

    return show_rooms(settings)


@command(
    short_help="List one's own finished games.",
    examples=(
        "history",
        "history --limit 5",
        "history --name ana --json",
    ),
)
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", help="How many games at most (20; on the full screen all)."
)
@shared_options
@click.pass_context
def history(context: click.Context, /, limit: int | None, **_: Any) -> int:
    """List one's own finished games on a server, newest first.

    Each has a number, with which replay shows it. The games are those of the player that this machine was last on that
    server, or with --name of the one of that name.
    """
    settings = settings_of(context)
    from tictactoe_client.cli.past_games import show_history

    return show_history(settings, limit)


@command(
    short_help="Step through a finished game.",
    examples=(
        "replay",
        "replay 17 --export game.txt",
        "replay game.txt --at 12",
        "replay 17 --plain --no-input",
    ),
)
@click.argument("source", required=False, metavar="[FILE|ID]", shell_complete=complete_file)
@click.option(
    "--game", "number", type=click.IntRange(min=1), metavar="K", help="Which game of a file with several (1)."
)
@click.option(
    "--at", type=click.IntRange(min=0), metavar="N", help="Begin at this move; off a terminal, show it alone."
)
@click.option(
    "--export",
    metavar="FILE",
    shell_complete=complete_file,
    help="Write the game's record to a new file, or to - for standard output.",
)
@shared_options
@click.pass_context
def replay(
    context: click.Context, /, source: str | None, number: int | None, at: int | None, export: str | None, **_: Any
) -> int:
    """Step through a finished game: of a file, of one's history by its number, or one's last.

    Files are in the format of docs/records.md, as --export and the save command in a game write them; - is standard
    input.
    """
    settings = settings_of(context)
    from tictactoe_client.cli.past_games import Wish
    from tictactoe_client.cli.past_games import replay as replay_game

    return replay_game(settings, Wish(source, number, at, export))


@command(
    short_help="Try every step to the server.",
    examples=(
        "check",
        "check --server wss://example.org --timeout 10",
    ),
)
@shared_options
@click.pass_context
def check(context: click.Context, /, **_: Any) -> int:
    """Try every step to the server: its name, the connection, hello, and three pings, with the time that each takes.

    The exit code says which step failed.
    """
    settings = settings_of(context)
    from tictactoe_client.cli.checking import check as check_server

    return check_server(settings)
