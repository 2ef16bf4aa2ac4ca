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
from types import FrameType
from typing import Any, Final, NoReturn

import click

from tictactoe_client.cli.commands import COMMANDS
from tictactoe_client.cli.manual import COMPLETION_VARIABLE, PROGRAM, ManualGroup
from tictactoe_client.cli.options import name_variable, settings_of, shared_options
from tictactoe_client.files.config import load_config
from tictactoe_client.settings import ExitCode, Misuse
from tictactoe_client.streams.output import (
    OutputFailed,
    close_output,
    give_output_up,
    is_terminal,
    open_missing_streams,
    print_error,
    print_own,
    silence_output,
    writing,
)

_ARGUMENTS: Final = "tictactoe arguments"
"""Under which name click's context keeps the words that the program was started with."""


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

    Without a command, on a terminal: the home screen, from where everything can be reached, with --plain the same as
    questions and answers. Commands go straight to one thing; off a terminal they play as a transcript (--plain) or as
    JSON lines (--json). Every option below may stand
    before or behind the command.
    """
    if context.invoked_subcommand is not None:
        return None
    settings = settings_of(context)
    if settings.mode == "screen":
        from tictactoe_client.cli.visits import go_home

        return go_home(settings)
    if settings.mode == "json" or not settings.asks or not is_terminal(0, 1):
        return _ask_for_command(context, in_json=settings.mode == "json")
    from tictactoe_client.cli.plain_home import stay_home

    before = context.meta[_ARGUMENTS]
    return stay_home(settings, cli.list_commands(context), lambda words: run([*before, *words]))


def _ask_for_command(context: click.Context, *, in_json: bool) -> int:
    """Say that nothing can be done without a command where nobody can be asked for one."""
    from tictactoe_client.text.help import own_command

    told = f"Say what to do: {', '.join(cli.list_commands(context))}."
    print_error(f"{context.get_usage()}\n\n{told}")
    print_error(f"Try '{own_command('--help')}'. A match in a pipe: {own_command('play', '--plain')}, or --json.")
    return _refuse(told, in_json=in_json)


for _command in COMMANDS:
    cli.add_command(_command)


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
    code = run(sys.argv[1:])
    close_output()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code, everything having been told."""
    try:
        try:
            code = _invoke(arguments)
        except Misuse as misuse:
            print_error(misuse.message)
            code = _refuse(misuse.message, in_json="--json" in arguments)
        except click.ClickException as error:
            code = _refuse(_show(error), in_json="--json" in arguments)
        with writing():
            sys.stdout.flush()
        return code
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        silence_output()
        return ExitCode.BROKEN_PIPE
    except OutputFailed as failed:
        print_error(failed.message)
        return failed.exit_code


def _invoke(arguments: Sequence[str]) -> int:
    """Do what click's own `main` does, but for swallowing closed pipes and keyboard interrupts."""
    instruction = os.environ.get(COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    config = load_config()
    for warning in config.warnings:
        print_error(warning)
    defaults = config.defaults()
    default_map = {**defaults, **dict.fromkeys(cli.commands, defaults)}
    try:
        with cli.make_context(PROGRAM, list(arguments), obj=config, default_map=default_map) as context:
            context.meta[_ARGUMENTS] = tuple(arguments)
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except OSError as error:
        if error.filename is not None or isinstance(error, BrokenPipeError):
            raise
        raise give_output_up(error) from error  # click prints help by itself


def _show(error: click.ClickException) -> str:
    """Tell what click found wrong, which quotes what was typed, or pasted, and where that stood; return the message."""
    if isinstance(error, click.BadParameter) and (variable := name_variable(error.param, error.ctx)):
        error = click.BadParameter(f"{variable}{error.message}", error.ctx, error.param)
    told = io.StringIO()
    error.show(told)
    print_error(told.getvalue().rstrip("\n"))
    return error.format_message()


def _refuse(message: str, *, in_json: bool) -> int:
    """Return the code for a command line that makes no sense, having said so in JSON mode's last lines."""
    if in_json:
        print_own("error", code="usage", message=message)
        print_own("closed", exit=int(ExitCode.USAGE))
    return ExitCode.USAGE


def _exit_by_signal(number: int, _: FrameType | None) -> NoReturn:
    """Exit as a shell expects while nothing is open yet."""
    os._exit(128 + number)
