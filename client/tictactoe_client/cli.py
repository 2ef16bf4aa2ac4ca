"""The command `tictactoe-client`: what can be typed after it, and its way out with the right exit code.

Commands only read their options and hand over; the network is imported by the command that needs it, so that
`--help` imports none.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType
from typing import Any, NoReturn

import click

from tictactoe_client.config import config_path, load_config
from tictactoe_client.manual import PROGRAM, ManualGroup
from tictactoe_client.options import (
    LEVELS,
    Words,
    complete_file,
    has_chosen_mode,
    name_variable,
    rules_option,
    settings_of,
    shared_options,
)
from tictactoe_client.screen import is_terminal, open_missing_streams, print_error, silence_output
from tictactoe_client.settings import ExitCode, Misuse
from tictactoe_engine import PRESETS

_COMPLETION_VARIABLE = "_TICTACTOE_CLIENT_COMPLETE"


@click.group(
    cls=ManualGroup,
    invoke_without_command=True,
    examples=(
        "--server ws://192.168.1.20:8765 --name ana",
        "bot --level hard",
        "new --board 15x15 --win 5",
        "join K7M4PQ",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@shared_options
@click.pass_context
def cli(context: click.Context, /, **_: Any) -> int | None:
    """Play tic-tac-toe and its whole family over the network, or watch a game.

    Without a command, on a terminal: the home screen, from where everything can be reached. Commands go straight to one
    thing; off a terminal they play as a transcript (--plain) or as JSON lines (--json). Every option below may stand
    before or behind the command.
    """
    if context.invoked_subcommand is not None:
        return None
    if not is_terminal(0, 1, 2) and not has_chosen_mode(context):
        from tictactoe_client.program import own_command

        print_error(f"{context.get_usage()}\n\nSay what to do: {', '.join(cli.list_commands(context))}.")
        print_error(f"Try '{own_command('--help')}'. A match in a pipe: {own_command('play', '--plain')}, or --json.")
        return ExitCode.USAGE
    settings = settings_of(context)
    if settings.mode == "screen":
        from tictactoe_client.errands import go_home

        return go_home(settings)
    return _play(context, PRESETS["classic"].preset, None)


@cli.command(
    short_help="Play whoever comes.",
    examples=(
        "play",
        "play --rules gomoku --name ana",
        "play --rules connect-four --clock 3+2",
    ),
)
@rules_option
@click.option("--clock", metavar="CLOCK", help="3+2 (minutes, and seconds more a move) or 10/move (seconds).")
@shared_options
@click.pass_context
def play(context: click.Context, /, rules: str | None, clock: str | None, **_: Any) -> int:
    """Play whoever comes: a quick match.

    Joins the oldest open room with the same rules and the same clock, or opens one and waits in it. What is not said is
    classic tic-tac-toe without a clock.
    """
    return _play(context, rules, clock)


def _play(context: click.Context, rules: str | None, clock: str | None) -> int:
    settings = settings_of(context)
    from tictactoe_client.rule_options import RuleOptions, parse_clock, parse_rules

    chosen, limits = parse_rules(RuleOptions(rules=rules)), parse_clock(clock)
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, None, Choice("match", chosen, limits))


@cli.command(
    short_help="Open a room and invite others.",
    examples=(
        "new",
        "new --rules gomoku --clock 3+2",
        "new --board 7x7 --win 4 --marks XOA --blocked d4",
        "new --bot hard",
    ),
)
@rules_option
@click.option("--board", metavar="ROWSxCOLUMNS", help="The board's size, up to 32x32.")
@click.option("--win", type=int, metavar="N", help="How many in a row win.")
@click.option("--marks", metavar="LETTERS", help="Two to six marks in turn order, such as XOA for three players.")
@click.option("--blocked", metavar="CELLS", help="Cells that nobody may take, such as b2,c3.")
@click.option("--misere", is_flag=True, help="Whoever completes a line loses.")
@click.option("--gravity", is_flag=True, help="Marks fall to the lowest free cell of their column.")
@click.option("--clock", metavar="CLOCK", help="3+2 (minutes, and seconds more a move) or 10/move (seconds).")
@click.option("--private", is_flag=True, help="Keep the room out of the public list.")
@click.option("--seat", metavar="MARK", help="The mark to play; the first by default, which begins.")
@click.option("--bot", "bots", multiple=True, type=Words(LEVELS), help="Let the computer take a seat; repeatable.")
@shared_options
@click.pass_context
def new(
    context: click.Context, /, clock: str | None, private: bool, seat: str | None, bots: tuple[str, ...], **rules: Any
) -> int:
    """Open a room of your own, show its code and link, and wait for the others.

    The rules are those of a game with a name (--rules), or made of a board, a length to win and what else makes it
    different. Whoever has the code or the link may join.
    """
    settings = settings_of(context)
    from tictactoe_client.rule_options import RuleOptions, check_bots, parse_clock, parse_rules, parse_seat

    chosen = parse_rules(RuleOptions(**{name: rules[name] for name in RuleOptions.__dataclass_fields__}))
    limits, mark = parse_clock(clock), parse_seat(seat, chosen)
    check_bots(bots, chosen)
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, None, Choice("create", chosen, limits, private, mark, bots))


@cli.command(
    short_help="Play the computer; needs no server.",
    examples=(
        "bot",
        "bot --level hard --first bot",
        "bot --rules gomoku --clock 5+3",
    ),
)
@click.option("--level", type=Words(LEVELS), default="medium", help="How well the computer plays (medium).")
@click.option("--first", type=Words(["me", "bot", "random"]), default="me", help="Who begins (me).")
@rules_option
@click.option("--clock", metavar="CLOCK", help="3+2 (minutes, and seconds more a move) or 10/move (seconds).")
@shared_options
@click.pass_context
def bot(context: click.Context, /, level: str, first: str, rules: str | None, clock: str | None, **_: Any) -> int:
    """Play the computer.

    Where no server runs on this machine, one is started for the game, and ends with it. With --server the game is
    played there.
    """
    settings = settings_of(context)
    if settings.server is None:
        settings = replace(settings, local=True)
    from tictactoe_client.rule_options import RuleOptions, choose_seat, parse_clock, parse_rules

    chosen, limits = parse_rules(RuleOptions(rules=rules)), parse_clock(clock)
    seat = choose_seat(first, chosen)
    from tictactoe_client.choosing import against_computer
    from tictactoe_client.errands import visit

    return visit(settings, None, against_computer(level, chosen, seat, limits))


@cli.command(
    short_help="Take a free seat in a room.",
    examples=(
        "join K7M4PQ",
        "join ws://192.168.1.20:8765/K7M4PQ --name bo",
    ),
)
@click.argument("room", nargs=-1, required=True, metavar="CODE|LINK")
@shared_options
@click.pass_context
def join(context: click.Context, /, room: Sequence[str], **_: Any) -> int:
    """Take a free seat in a room, or the seat there that an earlier run left behind.

    A code has six letters and digits; case, dashes and spaces do not matter. A link names its server too.
    """
    settings = settings_of(context)
    from tictactoe_client.rule_options import parse_room_argument

    code, address = parse_room_argument(" ".join(room))
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, address, Choice("join", code=code))


@cli.command(
    short_help="Watch a game.",
    examples=(
        "watch",
        "watch K7M4PQ",
        "watch ws://192.168.1.20:8765/K7M4PQ --plain",
    ),
)
@click.argument("room", nargs=-1, metavar="[CODE|LINK]")
@shared_options
@click.pass_context
def watch(context: click.Context, /, room: Sequence[str], **_: Any) -> int:
    """Watch a game from its first move or from the middle; nothing that you do disturbs it.

    Without a code or a link, choose from the list of running games.
    """
    settings = settings_of(context)
    if not room:
        from tictactoe_client.errands import watch_any

        return watch_any(settings)
    from tictactoe_client.rule_options import parse_room_argument

    code, address = parse_room_argument(" ".join(room))
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, address, Choice("watch", code=code))


@cli.command(
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
    from tictactoe_client.errands import show_rooms

    return show_rooms(settings)


@cli.command(
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
    from tictactoe_client.past_games import show_history

    return show_history(settings, limit)


@cli.command(
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
    from tictactoe_client.past_games import Wish
    from tictactoe_client.past_games import replay as replay_game

    return replay_game(settings, Wish(source, number, at, export))


@cli.command(
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
    from tictactoe_client.errands import check as check_server

    return check_server(settings)


@cli.command(
    short_help="Say what is set, and by what.",
    examples=(
        "config show",
        "config path",
        "config show --theme night",
    ),
)
@click.argument("what", type=Words(["path", "show"]), required=False, metavar="[path|show]")
@shared_options
@click.pass_context
def config(context: click.Context, /, what: str | None, **_: Any) -> int:
    """Say where the configuration file is (path), or what is set and by what (show).

    Options count before the environment, and that before the file. The file holds lines such as theme = "night"; the
    settings page of the full screen writes it too.
    """
    settings_of(context)
    if what == "show":
        from tictactoe_client.config_report import describe_settings

        click.echo("\n".join(describe_settings(context)))
    elif what == "path":
        click.echo(config_path())
    else:
        click.echo(f"{context.get_help()}\n\nThe file: {config_path()}")
    return ExitCode.NORMAL


@cli.command(
    short_help="Print the completion of a shell.",
    examples=(
        "completion bash",
        "completion zsh",
        "completion fish",
    ),
)
@click.argument("shell", type=Words(["bash", "zsh", "fish"]))
@shared_options
def completion(shell: str, **_: Any) -> int:
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
    click.echo(kind(cli, {}, PROGRAM, _COMPLETION_VARIABLE).source())
    return ExitCode.NORMAL


def main() -> NoReturn:
    """Run the command line and exit."""
    open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _exit_by_signal)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code, everything having been told."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
        return code
    except Misuse as misuse:
        return _refuse(arguments, misuse.message)
    except click.BadParameter as error:
        variable = name_variable(error.param, error.ctx)
        _show(click.BadParameter(f"{variable}{error.message}", error.ctx, error.param) if variable else error)
        return _refuse(arguments, None)
    except click.UsageError as error:
        _show(error)
        return _refuse(arguments, None)
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        silence_output()
        return ExitCode.BROKEN_PIPE


def _invoke(arguments: Sequence[str]) -> int:
    """Do what click's own `main` does, but for swallowing closed pipes and keyboard interrupts."""
    instruction = os.environ.get(_COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, _COMPLETION_VARIABLE, instruction)
    config = load_config()
    for warning in config.warnings:
        print_error(warning)
    defaults = config.defaults()
    default_map = {**defaults, **dict.fromkeys(cli.commands, defaults)}
    try:
        with cli.make_context(PROGRAM, list(arguments), obj=config, default_map=default_map) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code


def _show(error: click.ClickException) -> None:
    """Tell what click found wrong; it quotes what was typed, or pasted."""
    told = io.StringIO()
    error.show(told)
    print_error(told.getvalue().rstrip("\n"))


def _refuse(arguments: Sequence[str], message: str | None) -> int:
    """Say why the command line makes no sense, in JSON mode also as its last line."""
    if message is not None:
        print_error(message)
    if "--json" in arguments:
        from tictactoe_client.session import print_closed

        return print_closed(ExitCode.USAGE)
    return ExitCode.USAGE


def _exit_by_signal(number: int, _: FrameType | None) -> NoReturn:
    """Exit as a shell expects while nothing is open yet."""
    os._exit(128 + number)
