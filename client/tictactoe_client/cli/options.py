"""The options that every command takes, in any place of the line; what they add up to is `option_values`'.

Nothing here imports the network, so that help and completion stay quick.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from tictactoe_client.settings import Misuse
from tictactoe_client.tui.themes import THEMES
from tictactoe_engine import PRESETS, Coordinates, Keys

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ENVIRONMENT_PREFIX = "TICTACTOE"

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Words(click.Choice[str]):
    """One of these words; a mistyped one is answered with what was perhaps meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the sentence of click, and a suggestion."""
        close = difflib.get_close_matches(str(value).lower(), self.choices, 1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        return f"{super().get_invalid_choice_message(value, ctx)}{hint}"


class ThemeName(Words):
    """The name of a theme."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; raises `Misuse` for a theme that does not exist."""
        if value in THEMES:
            return str(value)
        close = difflib.get_close_matches(str(value), THEMES, 1)
        hint = f'Did you mean "{close[0]}"?' if close else f"Themes: {', '.join(THEMES)}."
        raise Misuse(f'{name_variable(param, ctx)}There is no theme "{value}". {hint}')


def name_variable(parameter: click.Parameter | None, context: click.Context | None) -> str:
    """Return the variable that the value of a parameter came from, and a colon; empty where it came from elsewhere."""
    if parameter is None or context is None or parameter.name is None:
        return ""
    is_variable = context.get_parameter_source(parameter.name) is ParameterSource.ENVIRONMENT
    return f"{parameter.envvar}: " if is_variable else ""


def option(*declarations: str, **attributes: Any) -> Callable[[Decorated], Decorated]:
    """Return an option with a variable of its name: ``TICTACTOE_NO_MOUSE`` for ``--no-mouse``."""
    name = max(declarations, key=len).lstrip("-").upper().replace("-", "_")
    return click.option(*declarations, envvar=f"{ENVIRONMENT_PREFIX}_{name}", **attributes)


_SHARED = (
    option(
        "-s",
        "--server",
        metavar="URL",
        multiple=True,
        callback=lambda context, parameter, given: ",".join(given) or None,
        help="The server: ws://host:port, wss://host, or just host. Again for each other server of the same house.",
    ),
    option("--ca", metavar="FILE", help="Trust the authority in this file (PEM), too, for wss://."),
    option("--local", is_flag=True, help="Where no server runs on this machine, start one for this run."),
    option("-n", "--name", metavar="NAME", help="Your name; without one the server chooses guest-…"),
    option("--plain", is_flag=True, help="A growing transcript, one fact a line."),
    option("--json", is_flag=True, help="JSON lines in and out, for programs."),
    option(
        "--keys",
        type=Words([str(key) for key in Keys]),
        default=str(Keys.PHONE),
        help="Keys of a 3x3 board: 1 2 3 on top (phone), 7 8 9 on top (pad), or q w e / a s d / z x c (letters).",
    ),
    option(
        "--coordinates",
        type=Words([str(style) for style in Coordinates]),
        default=str(Coordinates.ROW_COLUMN_1),
        help="What two numbers mean as a move.",
    ),
    option("--no-board", is_flag=True, help="Draw the board only when asked (for screen readers)."),
    option("--ascii", is_flag=True, help="Use no characters but ASCII."),
    option(
        "--theme",
        type=ThemeName(list(THEMES)),
        metavar="NAME",
        default="terminal",
        help="Colours of the full screen: terminal, night, paper, contrast.",
    ),
    option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
    option(
        "--bell",
        type=Words(["off", "away", "always"]),
        default="away",
        help="When to ring at your turn (away: while you look elsewhere).",
    ),
    option("--no-color", is_flag=True, help="Use no colour."),
    option("--stay", is_flag=True, help="Stay in the game when the input has ended."),
    option("--result-code", is_flag=True, help="Exit with 0 won, 10 lost, 11 drawn, 12 abandoned."),
    option("--no-input", is_flag=True, help="Ask nothing, and end with the game."),
    option("--timeout", type=float, default=5.0, metavar="SECONDS", help="How long to wait for the server (5)."),
    option("-q", "--quiet", is_flag=True, help="Leave out what is not the game."),
    option("--debug", is_flag=True, help="Log to a file; its path is printed at the end."),
    click.option(
        "--version",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda context, parameter, wanted: _print_version(context, parameter, wanted=wanted),
        help="Print the versions of client and protocol, and exit.",
    ),
)


def shared_options(command: Decorated) -> Decorated:
    """Give a command the options that all of them take."""
    for decorate in reversed(_SHARED):
        command = decorate(command)
    return command


LEVELS: Final = ("easy", "medium", "hard", "random", "rules", "perfect")
"""The computer's levels, in plain words and by strategy; the server has the last word."""


def rules_option(command: Decorated) -> Decorated:
    """Give a command the option that names a preset."""
    return option("--rules", type=Words(list(PRESETS)), help="A game that has a name.")(command)


def complete_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _print_version(context: click.Context, _: click.Parameter, *, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from tictactoe_client.online.installation import client_version
    from tictactoe_client.online.version import PROTOCOL_VERSIONS, format_versions

    click.echo(f"tictactoe-client {client_version()} (protocol {format_versions(PROTOCOL_VERSIONS)})")
    context.exit()
