"""The command `tictactoe-client`: what can be typed after it, and its way out with the right exit code.

Commands only read their options and hand over; the network is imported by the command that needs it, so that
`--help` imports none.
"""

from __future__ import annotations

import difflib
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
from tictactoe_client.options import (
    LEVELS,
    describe_settings,
    has_chosen_mode,
    rules_option,
    settings_of,
    shared_options,
)
from tictactoe_client.screen import is_terminal, open_missing_streams, print_error, silence_output
from tictactoe_client.settings import ExitCode, Misuse
from tictactoe_engine import PRESETS

PROGRAM = "tictactoe-client"
_COMPLETION_VARIABLE = "_TICTACTOE_CLIENT_COMPLETE"
_EXAMPLES = """\b
Examples:
  tictactoe-client -s ws://192.168.1.20:8765 play
  tictactoe-client bot --level hard
  tictactoe-client new --board 15x15 --win 5
  tictactoe-client join K7M4PQ -n bo
  tictactoe-client watch ws://192.168.1.20:8765/K7M4PQ
"""


class Commands(click.Group):
    """The group, which knows what a mistyped command was meant to be."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or fail with a suggestion."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            close = difflib.get_close_matches(name.lower(), self.list_commands(ctx), 1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@shared_options
@click.pass_context
def cli(context: click.Context, /, **_: Any) -> int | None:
    """Play tic-tac-toe and its whole family over the network, or watch a game.

    Without a command: the home screen, on a terminal.
    """
    if context.invoked_subcommand is not None:
        return None
    if not is_terminal(0, 1, 2) and not has_chosen_mode(context):
        print_error(f"{context.get_usage()}\n\nSay what to do: {', '.join(cli.list_commands(context))}.")
        print_error(f"Try '{PROGRAM} --help'. A match in a pipe: {PROGRAM} play --plain, or --json.")
        return ExitCode.USAGE
    settings = settings_of(context)
    if settings.mode == "screen":
        from tictactoe_client.errands import go_home

        return go_home(settings)
    return _play(context, PRESETS["classic"].preset, None)


@cli.command(epilog=f"\b\nExample:\n  {PROGRAM} play --rules gomoku -n ana\n")
@rules_option
@click.option("--clock", metavar="CLOCK", help="3+2 (minutes, and seconds more a move) or 10/move (seconds).")
@shared_options
@click.pass_context
def play(context: click.Context, /, rules: str | None, clock: str | None, **_: Any) -> int:
    """Play whoever comes: quick match by rules and clock."""
    return _play(context, rules, clock)


def _play(context: click.Context, rules: str | None, clock: str | None) -> int:
    settings = settings_of(context)
    from tictactoe_client.rule_options import RuleOptions, parse_clock, parse_rules

    chosen, limits = parse_rules(RuleOptions(rules=rules)), parse_clock(clock)
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, None, Choice("match", chosen, limits))


@cli.command(epilog=f"\b\nExample:\n  {PROGRAM} new --board 15x15 --win 5 --marks XOA --blocked b2,c3 --private\n")
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
@click.option(
    "--bot", "bots", multiple=True, type=click.Choice(LEVELS), help="Let the computer take a seat; repeatable."
)
@shared_options
@click.pass_context
def new(
    context: click.Context, /, clock: str | None, private: bool, seat: str | None, bots: tuple[str, ...], **rules: Any
) -> int:
    """Open a room, show its code and link, and wait for the others."""
    settings = settings_of(context)
    from tictactoe_client.rule_options import RuleOptions, check_bots, parse_clock, parse_rules, parse_seat

    chosen = parse_rules(RuleOptions(**{name: rules[name] for name in RuleOptions.__dataclass_fields__}))
    limits, mark = parse_clock(clock), parse_seat(seat, chosen)
    check_bots(bots, chosen)
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, None, Choice("create", chosen, limits, private, mark, bots))


@cli.command(epilog=f"\b\nExamples:\n  {PROGRAM} bot\n  {PROGRAM} bot --level hard --first bot --rules gomoku\n")
@click.option("--level", type=click.Choice(LEVELS), default="medium", help="How well the computer plays (medium).")
@click.option("--first", type=click.Choice(["me", "bot", "random"]), default="me", help="Who begins (me).")
@rules_option
@click.option("--clock", metavar="CLOCK", help="3+2 (minutes, and seconds more a move) or 10/move (seconds).")
@shared_options
@click.pass_context
def bot(context: click.Context, /, level: str, first: str, rules: str | None, clock: str | None, **_: Any) -> int:
    """Play the computer; without a server on this machine, one is started for the game."""
    settings = settings_of(context)
    if settings.server is None:
        settings = replace(settings, local=True)
    from tictactoe_client.rule_options import RuleOptions, choose_seat, parse_clock, parse_rules

    chosen, limits = parse_rules(RuleOptions(rules=rules)), parse_clock(clock)
    seat = choose_seat(first, chosen)
    from tictactoe_client.choosing import against_computer
    from tictactoe_client.errands import visit

    return visit(settings, None, against_computer(level, chosen, seat, limits))


@cli.command(epilog=f"\b\nExamples:\n  {PROGRAM} join K7M4PQ\n  {PROGRAM} join ws://192.168.1.20:8765/K7M4PQ\n")
@click.argument("room", nargs=-1, required=True, metavar="CODE|LINK")
@shared_options
@click.pass_context
def join(context: click.Context, /, room: Sequence[str], **_: Any) -> int:
    """Take a free seat in a room; a link names its server too."""
    settings = settings_of(context)
    from tictactoe_client.rule_options import parse_room_argument

    code, address = parse_room_argument(" ".join(room))
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, address, Choice("join", code=code))


@cli.command(epilog=f"\b\nExamples:\n  {PROGRAM} watch\n  {PROGRAM} watch K7M4PQ\n")
@click.argument("room", nargs=-1, metavar="[CODE|LINK]")
@shared_options
@click.pass_context
def watch(context: click.Context, /, room: Sequence[str], **_: Any) -> int:
    """Watch a game; without a code, choose from the list of running ones."""
    settings = settings_of(context)
    if not room:
        from tictactoe_client.errands import watch_any

        return watch_any(settings)
    from tictactoe_client.rule_options import parse_room_argument

    code, address = parse_room_argument(" ".join(room))
    from tictactoe_client.choosing import Choice
    from tictactoe_client.errands import visit

    return visit(settings, address, Choice("watch", code=code))


@cli.command()
@shared_options
@click.pass_context
def rooms(context: click.Context, /, **_: Any) -> int:
    """List the public rooms and exit."""
    settings = settings_of(context)
    from tictactoe_client.errands import show_rooms

    return show_rooms(settings)


@cli.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, metavar="N", help="How many games at most (20).")
@shared_options
@click.pass_context
def history(context: click.Context, /, limit: int, **_: Any) -> int:
    """List one's own finished games on a server, newest first."""
    settings = settings_of(context)
    from tictactoe_client.past_games import show_history

    return show_history(settings, limit)


@cli.command(epilog=f"\b\nExamples:\n  {PROGRAM} replay\n  {PROGRAM} replay 17 --export game.txt\n")
@click.argument("source", required=False, metavar="[FILE|ID]")
@click.option(
    "--game", "number", type=click.IntRange(min=1), metavar="K", help="Which game of a file with several (1)."
)
@click.option(
    "--at", type=click.IntRange(min=0), metavar="N", help="Begin at this move; off a terminal, show it alone."
)
@click.option("--export", metavar="FILE", help="Write the game's record to a new file, or to - for standard output.")
@shared_options
@click.pass_context
def replay(
    context: click.Context, /, source: str | None, number: int | None, at: int | None, export: str | None, **_: Any
) -> int:
    """Step through a recorded game: of a file, of one's history by its id, or one's last."""
    settings = settings_of(context)
    from tictactoe_client.past_games import Wish
    from tictactoe_client.past_games import replay as replay_game

    return replay_game(settings, Wish(source, number, at, export))


@cli.command()
@shared_options
@click.pass_context
def check(context: click.Context, /, **_: Any) -> int:
    """Try every step to the server; the exit code says which failed."""
    settings = settings_of(context)
    from tictactoe_client.errands import check as check_server

    return check_server(settings)


@cli.command(epilog=f"\b\nExamples:\n  {PROGRAM} config path\n  {PROGRAM} config show\n")
@click.argument("what", type=click.Choice(["path", "show"]), default="show")
@shared_options
@click.pass_context
def config(context: click.Context, /, what: str, **_: Any) -> int:
    """Say where the configuration file is, or what is set and by what."""
    settings_of(context)
    lines = [str(config_path())] if what == "path" else describe_settings(context)
    click.echo("\n".join(lines))
    return ExitCode.NORMAL


@cli.command(epilog=f'\b\nExample, for ~/.bashrc:\n  eval "$({PROGRAM} completion bash)"\n')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@shared_options
def completion(shell: str, **_: Any) -> int:
    """Print the script that completes commands and options in a shell."""
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
