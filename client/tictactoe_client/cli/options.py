"""The table of options as `click` reads it, and what a command line, the environment and the file add up to.

An option counts from where it was typed: after the command, else before it, else from the environment, else from the
file. Nothing here imports the network, so that help and completion stay quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from tictactoe_client.files.config import Config
from tictactoe_client.options import MAX_TIMEOUT_SECONDS, OPTIONS, Option, find_meaningless, suggest
from tictactoe_client.settings import Misuse, Mode, Settings
from tictactoe_client.streams.output import is_terminal, print_error, wants_colour

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_TYPED_OR_SET: Final = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


class Words(click.Choice[str]):
    """One of these words; a mistyped one is answered with what was perhaps meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the sentence of click, and a suggestion."""
        hint = suggest(str(value).lower(), self.choices, quote="'")
        return f"{super().get_invalid_choice_message(value, ctx)}{hint}"


def shared_options(command: Decorated) -> Decorated:
    """Give a command the options that all of them take."""
    version = click.option(
        "--version",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda context, parameter, wanted: _print_version(context, wanted=wanted),
        help="Print the versions of client and protocol, and exit.",
    )
    command = version(command)
    for option in reversed(OPTIONS.values()):
        command = _make_option(option)(command)
    return command


def _make_option(option: Option) -> Callable[[Decorated], Decorated]:
    names = [f"--{option.name}"] if option.short is None else [f"-{option.short}", f"--{option.name}"]
    attributes: dict[str, Any] = {"envvar": option.variable, "help": option.help, "metavar": option.metavar}
    if option.kind is bool:
        return click.option(*names, is_flag=True, **attributes)
    if option.is_list:
        return click.option(*names, multiple=True, callback=lambda _, __, given: ",".join(given) or None, **attributes)
    return click.option(
        *names, type=Words(option.words) if option.words else option.kind, default=option.default, **attributes
    )


def name_variable(parameter: click.Parameter | None, context: click.Context | None) -> str:
    """Return the variable that the value of a parameter came from, and a colon; empty where it came from elsewhere."""
    if parameter is None or context is None or parameter.name is None:
        return ""
    is_variable = context.get_parameter_source(parameter.name) is ParameterSource.ENVIRONMENT
    return f"{parameter.envvar}: " if is_variable else ""


def _print_version(context: click.Context, *, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions

    click.echo(f"tictactoe-client {client_version()} (protocol {format_versions(PROTOCOL_VERSIONS)})")
    context.exit()


class Values:
    """Options by their keys, from the command where they were typed there, else from the group before it."""

    def __init__(self, context: click.Context) -> None:
        self._contexts = [context] if context.parent is None else [context, context.parent]

    def __getitem__(self, key: str) -> Any:
        return self._context_of(key).params[key]

    def source_of(self, key: str) -> ParameterSource:
        """Return where the value came from."""
        return self._context_of(key).get_parameter_source(key) or ParameterSource.DEFAULT

    def is_typed(self, key: str) -> bool:
        """Tell whether it was typed on the command line."""
        return self.source_of(key) is ParameterSource.COMMANDLINE

    def _context_of(self, key: str) -> click.Context:
        typed = (each for each in self._contexts if each.get_parameter_source(key) is ParameterSource.COMMANDLINE)
        return next(typed, self._contexts[0])


def settings_of(context: click.Context, *, needs_server: bool = True) -> Settings:
    """Return what options, environment and file add up to; raises `Misuse`.

    Where the server stands in the file and cannot be read there, no other one is taken in its place.
    """
    value = Values(context)
    for one, other in (("json", "plain"), ("local", "server")):
        if value.is_typed(one) and value.is_typed(other):
            raise Misuse(f"Choose one of --{one} and --{other}.")
    if not 0 < value["timeout"] <= MAX_TIMEOUT_SECONDS:
        raise Misuse(f"--timeout is more than 0 and at most {MAX_TIMEOUT_SECONDS} seconds.")
    config = context.find_object(Config)
    doubts = _find_doubts(value, config)
    for doubt in doubts.values():
        print_error(doubt)
    server, name = (None if key in doubts else value[key] for key in ("server", "name"))
    hides_server = "server" in doubts or (config is not None and config.hides_server)
    if needs_server and hides_server and not value["local"] and value.source_of("server") not in _TYPED_OR_SET:
        raise Misuse("Your server stands in that file: mend it, or say --server.")
    mode = _choose_mode(value)
    filled: dict[str, Any] = {
        option.fills: option.setting_of(value[key]) for key, option in OPTIONS.items() if option.fills
    }
    return Settings(
        **{
            **filled,
            "mode": mode,
            "server": None if value.is_typed("local") else server,
            "name": name or None,
            "name_is_for_now": bool(name) and value.source_of("name") in _TYPED_OR_SET,
            "colour": wants_colour(os.environ, no_colour=value["no_color"], on_screen=mode == "screen"),
            "draws_board": filled["draws_board"] and not os.environ.get("ACCESSIBLE"),
            "changed_keys": config.bindings if config else {},
            "doubts": (*(config.warnings if config else ()), *doubts.values()),
        }
    )


def _find_doubts(value: Values, config: Config | None) -> dict[str, str]:
    """Return what is wrong with values of the file that are texts; those then count as not set."""
    if config is None:
        return {}
    texts = {key: value[key] for key in config.places if value.source_of(key) is ParameterSource.DEFAULT_MAP}
    faults = {key: find_meaningless(key, text) for key, text in texts.items() if text is not None}
    return {key: f"{config.places[key]}: {fault}" for key, fault in faults.items() if fault is not None}


def _choose_mode(value: Values) -> Mode:
    """Return JSON or plain where asked for, else the full screen where there is one: a terminal, or a page's."""
    if value["json"] and not value.is_typed("plain"):
        return "json"
    if value["plain"] or os.environ.get("ACCESSIBLE"):
        return "plain"
    is_screen = is_terminal(0, 1, 2) and os.environ.get("TERM", "") not in ("", "dumb")
    return "screen" if is_screen or os.environ.get("TEXTUAL_DRIVER") else "plain"
