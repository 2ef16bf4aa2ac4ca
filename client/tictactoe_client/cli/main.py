"""The command `tictactoe-client`: its subcommands, options and exit code. The catalogue has their help texts."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import click
from click.shell_completion import shell_complete

from tictactoe_client.cli.commands import Begun, CommandElsewhere, ManualGroup, describe_mistake, make_command
from tictactoe_client.cli.options import CLOCK, FILE, LEVELS, RULES, Count, Named, Placed, Words, configure, settings_of
from tictactoe_client.files.config import load_config
from tictactoe_client.settings import OPTIONS, PROGRAM, ExitCode, Misuse, Settings
from tictactoe_client.streams import output
from tictactoe_client.text.language import find_chosen, speak_as_chosen
from tictactoe_engine import PRESETS
from tictactoe_engine.opening import RULES as OPENINGS
from tictactoe_protocol.text import find_undecodable
from tictactoe_words.catalogue import say

_COMPLETION_VARIABLE: Final = "_TICTACTOE_CLIENT_COMPLETE"
_KINDS: Final = ("round_robin", "swiss", "knock_out")
_SHELLS: Final = ("bash", "zsh", "fish")


@click.group(
    cls=ManualGroup,
    invoke_without_command=True,
    sections={
        "play": ("play", "new", "bot", "local", "join", "challenge", "accept", "block", "event"),
        "look": ("turns", "watch", "rooms", "servers", "open", "ladder", "player", "history", "replay"),
        "programs": ("brain", "cup"),
        "setup": ("name", "notify", "check", "config", "completion", "verify"),
    },
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
    """Without a command, open the home screen or the prompt of plain mode, or else raise `UsageError`."""
    if context.invoked_subcommand is not None:
        return None
    settings = settings_of(context)
    if settings.mode == "screen":
        from tictactoe_client.tui.start import show_screen

        return settings, show_screen(settings)
    if settings.mode == "plain" and settings.asks and output.is_terminal(0, 1):
        from tictactoe_client.cli.plain_home import PlainHome

        before = context.meta["arguments"]
        return settings, PlainHome(settings, cli.list_commands(context), lambda words: begin([*before, *words])).run()
    from tictactoe_client.text.programs import own_command

    match = own_command("play", "--plain")
    raise click.UsageError(say("say what to do", commands=", ".join(cli.list_commands(context)), match=match), context)


def _command(name: str, work: str | Callable[..., int], *rest: Any, **options: Any) -> None:
    """Make a command and add it to the program; if `work` is a string, its module is in this package."""
    cli.add_command(make_command(name, work if callable(work) else f"{__package__}.{work}", *rest, **options))


_RATED: Final = Named(["--rated"], is_flag=True)
_TERMS: Final = (RULES, CLOCK, _RATED)
_PLAYER: Final = Placed(["player"], metavar="NAME|ID", required=False)
_ROOM: Final = Placed(["room"], metavar="CODE|LINK", nargs=-1, required=True)
_ANY_ROOM: Final = Placed(["room"], metavar="[CODE|LINK]", nargs=-1)

_GAME: Final = (
    RULES,
    Named(["--board"], metavar="NxN"),
    Named(["--win"], type=Count(), metavar="N"),
    Named(["--marks"], metavar="XOA"),
    Named(["--blocked"], metavar="b2,c3"),
    Named(["--misere"], is_flag=True),
    Named(["--gravity"], is_flag=True),
    Named(["--exact"], is_flag=True),
    Named(["--opening"], type=Words(("none", *OPENINGS))),
    CLOCK,
)

_command(
    "play",
    "rooms.play_anyone",
    ("", "--rules gomoku --name ana", "--rules connect-four --clock 3+2 --rated"),
    *_TERMS,
)
_command(
    "new",
    "rooms.open_room",
    ("", "--rules gomoku --clock 3+2", "--board 7x7 --win 4 --marks XOA --blocked d4", "--bot hard"),
    *_GAME,
    Named(["--private"], is_flag=True),
    Named(["--seat"], metavar="X"),
    Named(["--bot", "bots"], multiple=True, type=Words(LEVELS)),
    Named(["--analysis"], type=Words(("closed", "open")), default="closed"),
    Named(["--chat"], type=Words(("all", "players")), default="all"),
    _RATED,
)
_command(
    "bot",
    "rooms.play_computer",
    ("", "--level hard --first bot", "--rules gomoku --clock 5+3"),
    Named(["--level"], type=Words(LEVELS), default="medium"),
    Named(["--first"], type=Words(("me", "bot", "random")), default="me"),
    RULES,
    CLOCK,
)
_command(
    "local",
    "rooms.play_together",
    ("", "Ana Bo --clock 3+2", "Ana Bo --rules gomoku --opening swap2"),
    Placed(["names"], metavar="[NAME]...", nargs=-1),
    *_GAME,
)
cli.add_command(CommandElsewhere("brain"))
cli.add_command(CommandElsewhere("cup"))
_command("join", "rooms.join", ("K7M4PQ", "http://192.168.1.20:8765/K7M4PQ --name bo"), _ROOM)
_command("watch", "rooms.watch", ("", "K7M4PQ", "http://192.168.1.20:8765/K7M4PQ --plain"), _ANY_ROOM)
_command("turns", "days.show_turns", ("", "--quiet", "--json"))
_command("rooms", "rooms.show_rooms", ("", "--server ws://192.168.1.20:8765", "--json"))
_command(
    "challenge",
    "rooms.challenge",
    ("bo", "bo --rules connect-four --clock 3+2 --rated --side X"),
    Placed(["player"], metavar="NAME|ID"),
    *_TERMS,
    Named(["--side"], metavar="X"),
)
_command("accept", "rooms.accept", ("c7Kq2MxW4n", "c7Kq2MxW4n --name ana"), Placed(["challenge"], metavar="ID"))
_command(
    "block",
    "players.block",
    ("", "bo", "bo --off", "--strangers"),
    _PLAYER,
    Named(["--strangers"], is_flag=True),
    Named(["--off"], is_flag=True),
)
_command(
    "ladder",
    "players.show_ladder",
    ("", "connect-four", "gomoku-standard --json"),
    Placed(["rules"], metavar="[RULES]", type=Words(tuple(PRESETS)), required=False),
)
_command("player", "players.show_player", ("", "bo", "bo --json"), _PLAYER)
_command(
    "event",
    "rooms.use_event",
    ("", "K7M4PQ join ana", "new --kind swiss --title Friday --clock 3+2 --roster class.txt", "K7M4PQ begin"),
    Placed(["words"], metavar="[CODE|LINK|new] [ACTION]...", nargs=-1),
    Named(["--ticket"], metavar="TICKET"),
    Named(["--kind"], type=Words(_KINDS), default="round_robin"),
    Named(["--title"], metavar="TEXT"),
    RULES,
    Named(["--clock"], metavar="3+2", default="3+2"),
    Named(["--rounds"], type=Count(1, 50), metavar="N"),
    Named(["--double"], is_flag=True),
    Named(["--entry"], type=Words(("open", "code")), default="open"),
    Named(["--roster"], metavar="FILE", type=FILE),
    Named(["--bot", "bots"], multiple=True, type=Words(LEVELS)),
    Named(["--size"], type=Count(2, 200), metavar="N"),
    Named(["--advance"], type=Words(("auto", "hand")), default="auto"),
    Named(["--ready"], type=Count(1, 3600), default=60, metavar="N"),
    Named(["--break", "rest"], type=Count(0, 600), default=30, metavar="N"),
    Named(["--late"], type=Count(0, 50), default=0, metavar="N"),
    Named(["--chat"], type=Words(("all", "players")), default="all"),
)
_command("servers", "rooms.show_servers", ("", "--json"), needs_server=False)
_command("open", "rooms.open_page", ("", "K7M4PQ", "--server wss://example.org K7M4PQ"), _ANY_ROOM)
_command(
    "history",
    "past_games.show_history",
    ("", "--limit 5", "--name ana --json"),
    Named(["--limit"], type=Count(1, 10_000), metavar="N"),
)
_command(
    "name",
    "rooms.use_name",
    ("", "claim ana", "link", "rescue 7KQ2-M94F-X3ZW-8HTB --name ana"),
    Placed(
        ["what"],
        metavar="[devices|claim|link|revoke|rescue|export|forget]",
        type=Words(("devices", "claim", "link", "revoke", "rescue", "export", "forget")),
        default="devices",
    ),
    Placed(["value"], metavar="[VALUE]", required=False),
)
_command(
    "replay",
    "past_games.replay",
    ("", "K7M4PQ-1-1795208400000 --export game.txt", "game.txt --at 12", "K7M4PQ-1-1795208400000 --share"),
    Placed(["source"], metavar="[FILE|ID]", required=False, type=FILE),
    Named(["--game"], type=Count(1), metavar="N"),
    Named(["--at"], type=Count(0), metavar="N"),
    Named(["--export"], metavar="FILE", type=FILE),
    Named(["--share/--unshare"], default=None),
)
_command(
    "verify",
    "players.verify",
    ("ratings.jsonl", "ratings.jsonl --json"),
    Placed(["file"], metavar="FILE", type=FILE),
    needs_server=False,
)
_command(
    "notify",
    "days.notify",
    ("", "--feed --quiet-hours 22:00-07:00", "--webhook https://discord.com/api/webhooks/1/x", "--webhook none"),
    Named(["--feed/--no-feed"], default=None),
    Named(["--webhook"], metavar="URL"),
    Named(["--quiet-hours"], metavar="22:00-07:00"),
)
_command("check", "rooms.check", ("", "--server wss://example.org --timeout 10"))
_command(
    "config",
    configure,
    ("", "show", "path"),
    Placed(["what"], metavar="[path|show]", type=Words(("path", "show")), required=False),
    needs_server=False,
)
_command(
    "completion",
    lambda _, shell: shell_complete(cli, {}, PROGRAM, _COMPLETION_VARIABLE, f"{shell}_source"),
    _SHELLS,
    Placed(["shell"], type=Words(_SHELLS)),
    needs_server=False,
)


def main() -> NoReturn:
    output.open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda received, _: os._exit(128 + received))  # the exit code that shells expect
    code = run(sys.argv[1:])
    output.close_output()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line, print errors, and return the exit code."""
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
    """Parse the command line and start the command, like click's `main` but without its handling of broken pipes."""
    speak_as_chosen(chosen := find_chosen(arguments))
    config = load_config()
    if chosen is None and (saved := config.defaults.get("language")) is not None:
        speak_as_chosen(saved)
        config = load_config() if config.warnings else config
    cli.put_into_words()
    if instruction := os.environ.get(_COMPLETION_VARIABLE):
        return shell_complete(cli, {}, PROGRAM, _COMPLETION_VARIABLE, instruction)
    for warning in config.warnings:
        output.print_error(warning)
    try:
        if undecodable := find_undecodable(arguments, os.environ):
            raise Misuse(say("not utf-8", text=undecodable))
        with (
            output.writing(),
            cli.make_context(PROGRAM, [*arguments], obj=config, default_map=config.defaults) as context,
        ):
            context.meta["arguments"] = tuple(arguments)
            begun: Begun = cli.invoke(context)
            return begun
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (Misuse, click.ClickException) as error:
        settings = Settings("json" if _wants_json(arguments) else "plain")
        output.report_failure(settings, "usage", *describe_mistake(error))
        return output.report_end(settings, ExitCode.USAGE)


def _wants_json(arguments: Sequence[str]) -> bool:
    is_set = click.BOOL.str_to_bool(os.environ.get(OPTIONS["json"].variable, ""))
    return "--json" in arguments or (bool(is_set) and "--plain" not in arguments)
