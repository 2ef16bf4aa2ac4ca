"""The command `tictactoe-server`: options in, a running server or a copy of its data, and what went wrong in a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

import click
import platformdirs

from tictactoe_protocol import DEFAULT_PORT, PROTOCOL_VERSION
from tictactoe_server import __version__
from tictactoe_server.log import LEVELS, set_up_logging, tell
from tictactoe_server.process import run
from tictactoe_server.settings import Limits, LogFormat, Settings
from tictactoe_server.stores import CannotBackUp, CannotOpenStore, back_up
from tictactoe_server.transport import CannotListen

_DEFAULTS: Final = Settings()
_LIMITS: Final = Limits()
_MEMORY: Final = ":memory:"
_DEFAULT_DATA: Final = platformdirs.user_data_dir("tictactoe", appauthor=False)


def _seconds_option(
    name: str, default: float, least: float, most: float | None, words: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return an option that takes a number of seconds."""
    return click.option(
        name,
        type=click.FloatRange(least, most),
        default=default,
        show_default=True,
        show_envvar=True,
        metavar="SECONDS",
        help=words,
    )


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "TICTACTOE"},
)
@click.option(
    "--data",
    metavar="DIR",
    default=_DEFAULT_DATA,
    show_default=True,
    show_envvar=True,
    help="Folder that keeps rooms, players and finished games; :memory: keeps nothing.",
)
@click.option("--host", metavar="ADDRESS", show_envvar=True, help="Address to listen on. [default: all, IPv4 and IPv6]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    show_envvar=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    show_envvar=True,
    help="How log lines on stderr look.",
)
@click.option(
    "--log-level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="info",
    show_default=True,
    show_envvar=True,
    help="The least important lines to log.",
)
@_seconds_option(
    "--hold",
    _DEFAULTS.hold_seconds,
    0,
    86_400,
    "How long a dropped player's seat is kept before the opponent may claim the game.",
)
@_seconds_option(
    "--bot-pause",
    _DEFAULTS.bot_pause_seconds,
    0,
    60,
    "How long bots wait before they move, as a person would; 0 for machines.",
)
@_seconds_option("--bot-deadline", _DEFAULTS.bot_deadline_seconds, 0.05, 60, "How long a bot may think about a move.")
@click.option(
    "--bot-workers",
    type=click.IntRange(1, 256),
    show_envvar=True,
    metavar="NUMBER",
    help="Processes in which bots think. [default: one less than the cores, at least 1]",
)
@_seconds_option(
    "--keep-room",
    _LIMITS.deserted_seconds,
    1,
    None,
    "How long a room that no player is connected to is kept while it waits or its game is over.",
)
@_seconds_option(
    "--keep-game",
    _LIMITS.deserted_game_seconds,
    1,
    None,
    "How long a running game is kept that all have left without a word.",
)
@click.option("--with-parent", is_flag=True, hidden=True, help="Stop when standard input ends: for a parent process.")
@click.version_option(__version__, message=f"tictactoe-server %(version)s (protocol {PROTOCOL_VERSION})")
@click.pass_context
def main(
    context: click.Context,
    data: str,
    host: str | None,
    port: int,
    log_format: str,
    log_level: str,
    hold: float,
    bot_pause: float,
    bot_deadline: float,
    bot_workers: int | None,
    keep_room: float,
    keep_game: float,
    with_parent: bool,
) -> None:
    """Host games of tic-tac-toe and its whole family.

    Players on any machine join with tictactoe-client. Ctrl-C stops the server: everybody is told, and it ends.

    \b
    Examples:
      tictactoe-server                      all addresses, port 8765
      tictactoe-server --host 127.0.0.1     this machine alone
      tictactoe-server --port 0             any free port
      tictactoe-server --data :memory:      nothing is kept
      tictactoe-server backup FILE          copy a running server's data
    """
    context.obj = _folder_of(data)
    if context.invoked_subcommand is not None:
        return
    settings = Settings(
        host or None,
        port,
        cast(LogFormat, log_format),
        log_level,
        hold,
        bot_pause,
        bot_deadline,
        bot_workers,
        context.obj,
    )
    limits = Limits(deserted_seconds=keep_room, deserted_game_seconds=keep_game)
    set_up_logging(settings.log_format, settings.log_level)
    try:
        run(settings, limits, with_parent=with_parent)
    except (CannotListen, CannotOpenStore) as error:
        tell(f"tictactoe-server: {error}", settings.log_format, "error")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--data", "own_data", metavar="DIR", help="The folder to copy from, if not the default.")
@click.pass_context
def backup(context: click.Context, file: Path, own_data: str | None) -> None:
    """Copy a server's data into FILE, also while the server runs. An existing FILE is never overwritten."""
    folder = context.obj if own_data is None else _folder_of(own_data)
    if folder is None:
        raise click.UsageError("A server with --data :memory: keeps nothing that could be copied.")
    try:
        back_up(folder, file)
    except CannotBackUp as error:
        click.echo(f"tictactoe-server: {error}", err=True)
        sys.exit(1)
    click.echo(f"Copied {folder} to {file}.")


def _folder_of(data: str) -> Path | None:
    return None if data == _MEMORY else Path(data).expanduser()
