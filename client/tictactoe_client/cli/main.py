"""The command `tictactoe-client`: what can be typed after it, and its way out with the right exit code.

Commands only read their options; what does the work is imported then, so that `--help` imports no network.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import update_wrapper
from importlib import import_module
from typing import Any, Final, NoReturn

import click
from click.core import ParameterSource
from click.shell_completion import shell_complete

from tictactoe_client.cli.options import Manual, ManualGroup, Words, configure, settings_of
from tictactoe_client.files.config import load_config
from tictactoe_client.files.writer import keeping_debug_log
from tictactoe_client.settings import FILE_OPTIONS, OPTIONS, PROGRAM, ExitCode, Misuse, Settings
from tictactoe_client.streams import output
from tictactoe_client.text.language import find_chosen, speak_as_chosen
from tictactoe_client.tui.keymap import ACTIONS
from tictactoe_engine import PRESETS

Begun = int | tuple[Settings, Coroutine[Any, Any, int]]
"""What is still to be done for a command line, or the exit code where nothing is."""

_COMPLETION_VARIABLE: Final = "_TICTACTOE_CLIENT_COMPLETE"

LEVELS: Final = ("easy", "medium", "hard", "random", "rules", "perfect")
"""The computer's levels, in plain words and by strategy; the server has the last word."""
_FILE: Final = click.Path(readable=False)


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
@click.pass_context
def cli(context: click.Context, /, **_: Any) -> Begun | None:
    """Play tic-tac-toe and its whole family over the network, or watch a game.

    Without a command, on a terminal: the home screen, from where everything can be reached, with --plain the same as
    questions and answers. Commands go straight to one thing; off a terminal they play as a transcript (--plain) or as
    JSON lines (--json). Every option below may stand before or behind the command.
    """
    if context.invoked_subcommand is not None:
        return None
    settings = settings_of(context)
    if settings.mode == "screen":
        from tictactoe_client.tui.start import show_screen

        return settings, show_screen(settings)
    if settings.mode == "plain" and settings.asks and output.is_terminal(0, 1):
        from tictactoe_client.cli.plain_home import PlainHome

        before = context.meta["arguments"]
        return settings, PlainHome(settings, list(cli.commands), lambda words: begin([*before, *words])).run()
    from tictactoe_client.text.programs import own_command

    match = f"A match in a pipe: {own_command('play', '--plain')}, or --json."
    raise click.UsageError(f"Say what to do: {', '.join(cli.commands)}. {match}", context)


def _command(
    work: str, *examples: str, needs_server: bool = True
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Return what makes a command of a function that is only described, or else does its work at once.

    `work` is the module and the coroutine function that does it, imported when it is to be done. Both are called with
    the settings and what this command alone takes.
    """

    def make(described: Callable[..., int | None]) -> click.Command:
        def start(**values: Any) -> Begun:
            settings = settings_of(click.get_current_context(), needs_server=needs_server)
            own = {key: value for key, value in values.items() if key not in OPTIONS}
            if not work:
                with keeping_debug_log(is_wanted=settings.debug):
                    return output.report_end(settings, described(settings, **own) or 0)
            module, name = work.split(".")
            return settings, getattr(import_module(f"{__package__}.{module}"), name)(settings, **own)

        name = described.__name__.rstrip("_")
        lines = [f"{name} {example}".rstrip() for example in examples]
        return cli.command(name, cls=Manual, examples=lines)(update_wrapper(start, described))

    return make


_rules = click.option("--rules", envvar="TICTACTOE_RULES", type=Words(list(PRESETS)), help="A game that has a name.")
_clock = click.option("--clock", metavar="CLOCK", help="3+2 (minutes, and seconds more a move) or 10/move (seconds).")


@_command("visits.play_anyone", "", "--rules gomoku --name ana", "--rules connect-four --clock 3+2")
@_rules
@_clock
def play() -> None:
    """Play whoever comes.

    A quick match joins the oldest open room with the same rules and the same clock, or opens one and waits in it. What
    is not said is classic tic-tac-toe without a clock.
    """


@_command(
    "visits.open_room", "", "--rules gomoku --clock 3+2", "--board 7x7 --win 4 --marks XOA --blocked d4", "--bot hard"
)
@_rules
@click.option("--board", metavar="ROWSxCOLUMNS", help="The board's size, up to 32x32.")
@click.option("--win", type=int, metavar="N", help="How many in a row win.")
@click.option("--marks", metavar="LETTERS", help="Two to six marks in turn order, such as XOA for three players.")
@click.option("--blocked", metavar="CELLS", help="Cells that nobody may take, such as b2,c3.")
@click.option("--misere", is_flag=True, help="Whoever completes a line loses.")
@click.option("--gravity", is_flag=True, help="Marks fall to the lowest free cell of their column.")
@_clock
@click.option("--private", is_flag=True, help="Keep the room out of the public list.")
@click.option("--seat", metavar="MARK", help="The mark to play; the first by default, which begins.")
@click.option("--bot", "bots", multiple=True, type=Words(LEVELS), help="Let the computer take a seat; repeatable.")
@click.option(
    "--analysis", type=Words(["closed", "open"]), default="closed", help="open: analyse the running game, for a lesson."
)
@click.option("--chat", type=Words(["all", "players"]), default="all", help="players: those who watch only read.")
def new() -> None:
    """Open a room and invite others.

    It is your own: its code and link are shown, and whoever has one of them may join. The rules are those of a game
    with a name (--rules), or made of a board, a length to win and what else makes it different.
    """


@_command("visits.play_computer", "", "--level hard --first bot", "--rules gomoku --clock 5+3")
@click.option("--level", type=Words(LEVELS), default="medium", help="How well the computer plays (medium).")
@click.option("--first", type=Words(["me", "bot", "random"]), default="me", help="Who begins (me).")
@_rules
@_clock
def bot() -> None:
    """Play the computer; needs no server.

    Where no server runs on this machine, one is started for the game, and ends with it. With --server the game is
    played there.
    """


@_command("visits.join", "K7M4PQ", "http://192.168.1.20:8765/K7M4PQ --name bo")
@click.argument("room", nargs=-1, required=True, metavar="CODE|LINK")
def join() -> None:
    """Take a free seat in a room.

    The seat there that an earlier run left behind comes first. A code has six letters and digits; case, dashes and
    spaces do not matter. A link names its server too.
    """


@_command("visits.watch", "", "K7M4PQ", "http://192.168.1.20:8765/K7M4PQ --plain")
@click.argument("room", nargs=-1, metavar="[CODE|LINK]")
def watch() -> None:
    """Watch a game.

    From the first move on or from the middle, and nothing that you do disturbs it. Without a code or a link, choose
    from the list of running games.
    """


@_command("visits.show_rooms", "", "--server ws://192.168.1.20:8765", "--json")
def rooms() -> None:
    """List the public rooms and exit.

    The newest come first. Rooms that were opened with --private are not among them.
    """


@_command("visits.show_servers", "", "--json", needs_server=False)
def servers() -> None:
    """List the servers of this network.

    They announce themselves on the local network, and anybody there may announce anything: a name is no promise.
    """


@_command("visits.open_page", "", "K7M4PQ", "--server wss://example.org K7M4PQ")
@click.argument("room", nargs=-1, metavar="[CODE|LINK]")
def open_() -> None:
    """Open the game's page in a browser.

    That is the server's page in the system's browser, at a room or at home; its link is printed.
    """


@_command("past_games.show_history", "", "--limit 5", "--name ana --json")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", help="How many games at most (20; on the full screen all)."
)
def history() -> None:
    """List one's own finished games.

    The newest come first. Each has a number, with which replay shows it. They are those of the player that you were
    last on the server, or with --name of the one of that name.
    """


@_command("past_games.replay", "", "17 --export game.txt", "game.txt --at 12", "17 --share")
@click.argument("source", required=False, metavar="[FILE|ID]", type=_FILE)
@click.option("--game", type=click.IntRange(1), metavar="K", help="Which game of a file with several (1).")
@click.option("--at", type=click.IntRange(0), metavar="N", help="Begin at this move; off a terminal, show it alone.")
@click.option("--export", metavar="FILE", type=_FILE, help="Write its record to a new file, or - for standard output.")
@click.option("--share/--unshare", default=None, help="Show a game of your own to all who get its link, or no more.")
def replay() -> None:
    """Step through a finished game.

    It is one of a file, one of your history by its number, or your last. Files are in the format of docs/records.md, as
    --export and the save command in a game write them; - is standard input.
    """


@_command("visits.check", "", "--server wss://example.org --timeout 10")
def check() -> None:
    """Try every step to the server.

    The steps are its name, the connection, hello, and three pings, with the time that each takes. The exit code says
    which of them failed.
    """


def _complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the values that a setting may have, where these are some words."""
    option = FILE_OPTIONS.get(context.params["key"])
    words = () if option is None else option.words or (("true", "false") if option.kind is bool else ())
    return [word for word in words if word.startswith(incomplete)]


@_command("", "show", "set server ws://192.168.1.20:8765", "set theme night", "unset theme", needs_server=False)
@click.argument("what", type=Words(["path", "show", "set", "unset"]), required=False, metavar="[path|show|set|unset]")
@click.argument("key", type=Words(list(FILE_OPTIONS)), required=False, metavar="[KEY]")
@click.argument("value", required=False, metavar="[VALUE]", shell_complete=_complete)
def config(settings: Settings, what: str | None, key: str | None, value: str | None) -> int:
    """Say or change what is set.

    The word path asks where the configuration file is, show what is set and by what; set and unset change it. Options
    count before the environment, and that before the file. The file holds lines such as theme = "night"; the settings
    page of the full screen writes it too.
    """
    return configure(settings, what, key, value)


@_command("", "bash", "zsh", "fish", needs_server=False)
@click.argument("shell", type=Words(["bash", "zsh", "fish"]))
def completion(_: Settings, shell: str) -> int:
    """Print the completion of a shell.

    It is a script that completes commands, options and their values.

    \b
    In ~/.bashrc:                   eval "$(tictactoe-client completion bash)"
    In ~/.zshrc, after compinit:    eval "$(tictactoe-client completion zsh)"
    In ~/.config/fish/config.fish:  tictactoe-client completion fish | source
    """
    return shell_complete(cli, {}, PROGRAM, _COMPLETION_VARIABLE, f"{shell}_source")


def main() -> NoReturn:
    """Run the command line and exit."""
    output.open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda received, _: os._exit(128 + received))  # as a shell expects
    code = run(sys.argv[1:])
    output.close_output()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code, everything having been told."""
    try:
        code = begin(arguments)
        if not isinstance(code, int):
            from tictactoe_client.cli.run import run_until_signal

            code = run_until_signal(*code)
        with output.writing():
            sys.stdout.flush()
        return code
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except output.OutputFailed as failed:
        if failed.message:
            output.print_error(failed.message)
        return failed.exit_code


def begin(arguments: Sequence[str]) -> Begun:
    """Do what click's own `main` does, but for swallowing closed pipes and keyboard interrupts."""
    if instruction := os.environ.get(_COMPLETION_VARIABLE):
        return shell_complete(cli, {}, PROGRAM, _COMPLETION_VARIABLE, instruction)
    speak_as_chosen(chosen := find_chosen(arguments))
    config = load_config(actions=ACTIONS)
    if chosen is None and (kept := config.values.get("language")) is not None:
        speak_as_chosen(kept)
        config = load_config(actions=ACTIONS) if config.warnings else config
    for warning in config.warnings:
        output.print_error(warning)
    values = config.defaults()
    defaults = {**values, **dict.fromkeys(cli.commands, values)}
    try:
        with output.writing(), cli.make_context(PROGRAM, [*arguments], obj=config, default_map=defaults) as context:
            context.meta["arguments"] = tuple(arguments)
            begun: Begun = cli.invoke(context)
            return begun
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (Misuse, click.ClickException) as error:
        return _refuse(error, Settings("json" if _wants_json(arguments) else "plain"))


def _wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether a program reads along, though the command line could not be understood."""
    is_set = click.BOOL.str_to_bool(os.environ.get(OPTIONS["json"].variable, ""))
    return "--json" in arguments or (bool(is_set) and "--plain" not in arguments)


def _refuse(error: Misuse | click.ClickException, settings: Settings) -> int:
    """Say why a command line makes no sense, in click's words with how it is used; return the code for it."""
    if isinstance(error, Misuse):
        message = told = error.message
    else:
        if isinstance(error, click.BadParameter):
            source = error.ctx and error.param and error.ctx.get_parameter_source(str(error.param.name))
            if error.param and source is ParameterSource.ENVIRONMENT:
                error = click.BadParameter(f"{error.param.envvar}: {error.message}", error.ctx, error.param)
        elif isinstance(error, click.NoSuchCommand) and not error.possibilities:
            error = click.UsageError(f"{error.message}{_guide(error.command_name)}", error.ctx)
        page = io.StringIO()
        error.show(page)
        message, told = error.format_message(), page.getvalue().rstrip("\n")
    output.report_failure(settings, "usage", message, told)
    return output.report_end(settings, ExitCode.USAGE)


def _guide(word: str) -> str:
    """Return what to type where a room or a server stands in the place of a command, else nothing."""
    from tictactoe_client.online.address import parse_room
    from tictactoe_client.online.errors import BadAddress, BadRoomCode

    with suppress(BadAddress, BadRoomCode):
        parse_room(word)
        return f" To join a room: {PROGRAM} join {word}"
    return f" To play there: {PROGRAM} --server {word}" if ":" in word else ""
