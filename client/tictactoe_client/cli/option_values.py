"""What options, environment and configuration file add up to: the settings of this run.

An option counts from where it was typed: after the command, else before it, else from the environment, else from the
file.
"""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from tictactoe_client.files.config import MAX_TIMEOUT_SECONDS, Config
from tictactoe_client.files.config_values import find_fault
from tictactoe_client.settings import Misuse, Mode, Settings
from tictactoe_client.streams.output import is_terminal, print_error, wants_colour
from tictactoe_engine import Coordinates, Keys


class Values:
    """Options by name, from the command where they were typed there, else from the group before it."""

    def __init__(self, context: click.Context) -> None:
        self._contexts = [context] if context.parent is None else [context, context.parent]

    def is_typed(self, name: str) -> bool:
        """Tell whether it was typed on the command line."""
        return any(self._is_typed_in(context, name) for context in self._contexts)

    def __getitem__(self, name: str) -> Any:
        for context in self._contexts:
            if self._is_typed_in(context, name):
                return context.params[name]
        return self._contexts[0].params[name]

    def source_of(self, name: str) -> ParameterSource:
        """Return where the value came from."""
        for context in self._contexts:
            if self._is_typed_in(context, name):
                return ParameterSource.COMMANDLINE
        return self._contexts[0].get_parameter_source(name) or ParameterSource.DEFAULT

    @staticmethod
    def _is_typed_in(context: click.Context, name: str) -> bool:
        return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def settings_of(context: click.Context, *, needs_server: bool = True) -> Settings:
    """Return what options and environment add up to; raises `Misuse`.

    Where the server stands in the file and cannot be read there, no other one is taken in its place.
    """
    value = Values(context)
    if value.is_typed("json") and value.is_typed("plain"):
        raise Misuse("Choose one of --json and --plain.")
    if value.is_typed("local") and value.is_typed("server"):
        raise Misuse("Choose one of --local and --server.")
    if not 0 < value["timeout"] <= MAX_TIMEOUT_SECONDS:
        raise Misuse(f"--timeout is more than 0 and at most {MAX_TIMEOUT_SECONDS} seconds.")
    config = context.find_object(Config)
    server, name, doubts, unreadable = _check_file(value, config)
    for doubt in doubts:
        print_error(doubt)
    if needs_server and config is not None and (config.hides_server or (doubts and "server" in unreadable)):
        _demand_server(value)
    return Settings(
        mode=_choose_mode(value),
        theme=value["theme"],
        mouse=not value["no_mouse"],
        bell=value["bell"],
        confirm=bool(config and config.values.get("confirm")),
        changed_keys=config.bindings if config else {},
        doubts=(*(config.warnings if config else ()), *doubts),
        server=None if value.is_typed("local") else server,
        ca=value["ca"],
        name=name or None,
        name_is_for_now=bool(name)
        and value.source_of("name") in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT),
        colour=wants_colour(os.environ, no_colour=value["no_color"]),
        ascii=value["ascii"],
        draws_board=not (value["no_board"] or os.environ.get("ACCESSIBLE")),
        asks=not value["no_input"],
        quiet=value["quiet"],
        debug=value["debug"],
        local=value["local"],
        stay=value["stay"],
        result_code=value["result_code"],
        timeout_seconds=value["timeout"],
        keys=Keys(value["keys"]),
        coordinates=Coordinates(value["coordinates"]),
    )


def _check_file(value: Values, config: Config | None) -> tuple[str | None, str | None, tuple[str, ...], frozenset[str]]:
    """Return server and name, and what is wrong with those of the file, which then count as not set."""
    chosen: dict[str, str | None] = {name: value[name] for name in ("server", "name")}
    doubts = []
    for name, text in chosen.items():
        if config is not None and text is not None and value.source_of(name) is ParameterSource.DEFAULT_MAP:
            told = find_fault(name, text)
            if told is not None:
                chosen[name] = None
                doubts.append(f"{config.places[name]}: {told}")
    unreadable = frozenset(name for name, text in chosen.items() if text is None and value[name] is not None)
    return chosen["server"], chosen["name"], tuple(doubts), unreadable


def _demand_server(value: Values) -> None:
    """Refuse to go to the default server where another one was meant."""
    is_named = value.source_of("server") in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    if not is_named and not value["local"]:
        raise Misuse("Your server stands in that file: mend it, or say --server.")


def _choose_mode(value: Values) -> Mode:
    """Return JSON or plain where asked for, else the full screen where there is one."""
    if value["json"] and not value.is_typed("plain"):
        return "json"
    if value["plain"] or os.environ.get("ACCESSIBLE"):
        return "plain"
    return "screen" if is_terminal(0, 1, 2) and os.environ.get("TERM", "") not in ("", "dumb") else "plain"
