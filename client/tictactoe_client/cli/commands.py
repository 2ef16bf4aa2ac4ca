"""The commands: what each may be told, how its help reads, and to whom it hands over.

Who does the work is imported by the command that needs it, so that `--help` imports no network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Final

import click

from tictactoe_client.cli.manual import COMPLETION_VARIABLE, PROGRAM, Manual
from tictactoe_client.cli.options import Decorated, Words, settings_of, shared_options
from tictactoe_client.files.debug_log import keeping_debug_log
from tictactoe_client.options import FILE_OPTIONS, OPTIONS
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_engine import PRESETS

LEVELS: Final = ("easy", "medium", "hard", "random", "rules", "perfect")
"""The computer's levels, in plain words and by strategy; the server has the last word."""

_FILE: Final = click.Path(readable=False)
"""The name of a file, which the shell completes."""


def _command(
    short_help: str, *examples: str, needs_server: bool = True
) -> Callable[[Callable[..., int]], click.Command]:
    """Return what makes a command of a function of the settings and of what this command alone takes."""

    def make(work: Callable[..., int]) -> click.Command:
        def run(**values: Any) -> int:
            settings = settings_of(click.get_current_context(), needs_server=needs_server)
            return work(settings, **{name: value for name, value in values.items() if name not in OPTIONS})

        named = click.command(cls=Manual, short_help=short_help, examples=examples)
        return named(shared_options(update_wrapper(run, work)))

    return make


def _rules_option(command: Decorated) -> Decorated:
    names = Words(list(PRESETS))
    return click.option("--rules", envvar="TICTACTOE_RULES", type=names, help="A game that has a name.")(command)


def _clock_option(command: Decorated) -> Decorated:
    told = "3+2 (minutes, and seconds more a move) or 10/move (seconds)."
    return click.option("--clock", metavar="CLOCK", help=told)(command)


@_command("Play whoever comes.", "play", "play --rules gomoku --name ana", "play --rules connect-four --clock 3+2")
@_rules_option
@_clock_option
def play(settings: Settings, rules: str | None, clock: str | None) -> int:
    """Play whoever comes: a quick match.

    Joins the oldest open room with the same rules and the same clock, or opens one and waits in it. What is not said is
    classic tic-tac-toe without a clock.
    """
    from tictactoe_client.cli.visits import play_anyone

    return play_anyone(settings, rules, clock)


@_command(
    "Open a room and invite others.",
    "new",
    "new --rules gomoku --clock 3+2",
    "new --board 7x7 --win 4 --marks XOA --blocked d4",
    "new --bot hard",
)
@_rules_option
@click.option("--board", metavar="ROWSxCOLUMNS", help="The board's size, up to 32x32.")
@click.option("--win", type=int, metavar="N", help="How many in a row win.")
@click.option("--marks", metavar="LETTERS", help="Two to six marks in turn order, such as XOA for three players.")
@click.option("--blocked", metavar="CELLS", help="Cells that nobody may take, such as b2,c3.")
@click.option("--misere", is_flag=True, help="Whoever completes a line loses.")
@click.option("--gravity", is_flag=True, help="Marks fall to the lowest free cell of their column.")
@_clock_option
@click.option("--private", is_flag=True, help="Keep the room out of the public list.")
@click.option("--seat", metavar="MARK", help="The mark to play; the first by default, which begins.")
@click.option("--bot", "bots", multiple=True, type=Words(LEVELS), help="Let the computer take a seat; repeatable.")
@click.option(
    "--analysis", type=Words(["closed", "open"]), default="closed", help="open: analyse the running game, for a lesson."
)
@click.option("--chat", type=Words(["all", "players"]), default="all", help="players: those who watch only read.")
def new(settings: Settings, **wish: Any) -> int:
    """Open a room of your own, show its code and link, and wait for the others.

    The rules are those of a game with a name (--rules), or made of a board, a length to win and what else makes it
    different. Whoever has the code or the link may join.
    """
    from tictactoe_client.cli.visits import open_room

    return open_room(settings, **wish)


@_command(
    "Play the computer; needs no server.", "bot", "bot --level hard --first bot", "bot --rules gomoku --clock 5+3"
)
@click.option("--level", type=Words(LEVELS), default="medium", help="How well the computer plays (medium).")
@click.option("--first", type=Words(["me", "bot", "random"]), default="me", help="Who begins (me).")
@_rules_option
@_clock_option
def bot(settings: Settings, level: str, first: str, rules: str | None, clock: str | None) -> int:
    """Play the computer.

    Where no server runs on this machine, one is started for the game, and ends with it. With --server the game is
    played there.
    """
    from tictactoe_client.cli.visits import play_computer

    return play_computer(settings, level, first, rules, clock)


@_command("Take a free seat in a room.", "join K7M4PQ", "join ws://192.168.1.20:8765/K7M4PQ --name bo")
@click.argument("room", nargs=-1, required=True, metavar="CODE|LINK")
def join(settings: Settings, room: Sequence[str]) -> int:
    """Take a free seat in a room, or the seat there that an earlier run left behind.

    A code has six letters and digits; case, dashes and spaces do not matter. A link names its server too.
    """
    from tictactoe_client.cli.visits import enter

    return enter(settings, "join", " ".join(room))


@_command("Watch a game.", "watch", "watch K7M4PQ", "watch ws://192.168.1.20:8765/K7M4PQ --plain")
@click.argument("room", nargs=-1, metavar="[CODE|LINK]")
def watch(settings: Settings, room: Sequence[str]) -> int:
    """Watch a game from its first move or from the middle; nothing that you do disturbs it.

    Without a code or a link, choose from the list of running games.
    """
    from tictactoe_client.cli.visits import enter, watch_any

    return enter(settings, "watch", " ".join(room)) if room else watch_any(settings)


@_command("List the public rooms and exit.", "rooms", "rooms --server ws://192.168.1.20:8765", "rooms --json")
def rooms(settings: Settings) -> int:
    """List the public rooms of a server, newest first, and exit.

    Rooms that were opened with --private are not among them.
    """
    from tictactoe_client.cli.visits import show_rooms

    return show_rooms(settings)


@_command("List one's own finished games.", "history", "history --limit 5", "history --name ana --json")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", help="How many games at most (20; on the full screen all)."
)
def history(settings: Settings, limit: int | None) -> int:
    """List one's own finished games on a server, newest first.

    Each has a number, with which replay shows it. The games are those of the player that this machine was last on that
    server, or with --name of the one of that name.
    """
    from tictactoe_client.cli.past_games import show_history

    return show_history(settings, limit)


@_command(
    "Step through a finished game.",
    "replay",
    "replay 17 --export game.txt",
    "replay game.txt --at 12",
    "replay 17 --plain --no-input",
)
@click.argument("source", required=False, metavar="[FILE|ID]", type=_FILE)
@click.option("--game", type=click.IntRange(1), metavar="K", help="Which game of a file with several (1).")
@click.option("--at", type=click.IntRange(0), metavar="N", help="Begin at this move; off a terminal, show it alone.")
@click.option("--export", metavar="FILE", type=_FILE, help="Write its record to a new file, or - for standard output.")
def replay(settings: Settings, source: str | None, game: int | None, at: int | None, export: str | None) -> int:
    """Step through a finished game: of a file, of one's history by its number, or one's last.

    Files are in the format of docs/records.md, as --export and the save command in a game write them; - is standard
    input.
    """
    from tictactoe_client.cli.past_games import Wish
    from tictactoe_client.cli.past_games import replay as replay_game

    return replay_game(settings, Wish(source, game, at, export))


@_command("Try every step to the server.", "check", "check --server wss://example.org --timeout 10")
def check(settings: Settings) -> int:
    """Try every step to the server: its name, the connection, hello, and three pings, with the time that each takes.

    The exit code says which step failed.
    """
    from tictactoe_client.cli.check import check as check_server

    return check_server(settings)


def _complete_key(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the keys of settings that begin so, where one may stand."""
    wants_key = context.params.get("what") in ("set", "unset")
    return [key for key in FILE_OPTIONS if wants_key and key.startswith(incomplete)]


def _complete_value(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the values that begin so, of a setting that is one of some words."""
    option = FILE_OPTIONS.get(context.params.get("key") or "")
    if option is None or context.params.get("what") != "set":
        return []
    words = option.words or (("true", "false") if option.kind is bool else ())
    return [word for word in words if word.startswith(incomplete)]


@_command(
    "Say or change what is set.",
    "config show",
    "config set server ws://192.168.1.20:8765",
    "config set theme night",
    "config unset theme",
    needs_server=False,
)
@click.argument("what", type=Words(["path", "show", "set", "unset"]), required=False, metavar="[path|show|set|unset]")
@click.argument("key", required=False, metavar="[KEY]", shell_complete=_complete_key)
@click.argument("value", required=False, metavar="[VALUE]", shell_complete=_complete_value)
def config(settings: Settings, what: str | None, key: str | None, value: str | None) -> int:
    """Say where the configuration file is (path), or what is set and by what (show), or change it (set, unset).

    Options count before the environment, and that before the file. The file holds lines such as theme = "night"; the
    settings page of the full screen writes it too.
    """
    from tictactoe_client.cli.config import configure

    return configure(settings, what, key, value)


@_command(
    "Print the completion of a shell.", "completion bash", "completion zsh", "completion fish", needs_server=False
)
@click.argument("shell", type=Words(["bash", "zsh", "fish"]))
def completion(settings: Settings, shell: str) -> int:
    """Print the script that completes commands, options and their values in a shell.

    \b
    In ~/.bashrc:                   eval "$(tictactoe-client completion bash)"
    In ~/.zshrc, after compinit:    eval "$(tictactoe-client completion zsh)"
    In ~/.config/fish/config.fish:  tictactoe-client completion fish | source
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise Misuse(f"There is no completion for {shell}.")
    with keeping_debug_log(is_wanted=settings.debug):
        click.echo(kind(click.get_current_context().find_root().command, {}, PROGRAM, COMPLETION_VARIABLE).source())
    return ExitCode.NORMAL


COMMANDS: Final = (play, new, bot, join, watch, rooms, history, replay, check, config, completion)
"""All of them, in the order of the help."""
