"""What `config show` prints: each setting with its value and where that came from; what is secret is left out."""

from __future__ import annotations

import os
from typing import Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.cli.option_values import Values
from tictactoe_client.cli.options import ENVIRONMENT_PREFIX
from tictactoe_client.files.config import KNOWN, Config, config_path
from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials
from tictactoe_protocol import clean_text

Setting = str | bool | int | float | list[str] | None

_DEFAULTS: Final = {"server": DEFAULT_SERVER, "confirm": False}
_SWITCHES: Final = {"no_color": "NO_COLOR", "plain": "ACCESSIBLE", "no_board": "ACCESSIBLE"}
"""What variables of other programs switch on here."""


def describe_settings(context: click.Context) -> list[str]:
    """Return a line for every setting that the configuration file knows, and for every key that it binds."""
    return [f"{name:<12} {clean_text(_show(value)):<24} {origin}" for name, value, origin in list_settings(context)]


def list_settings(context: click.Context) -> list[tuple[str, Setting, str]]:
    """Return each setting and each action with keys of its own: name, value, and what it was set by."""
    config = context.find_object(Config) or Config(config_path())
    rows = [(name, *_find(name, Values(context), config)) for name in KNOWN]
    return rows + [(action, list(keys), str(config.path)) for action, keys in config.bindings.items()]


def _find(name: str, value: Values, config: Config) -> tuple[Setting, str]:
    """Return a setting and its origin, None for one that is not set."""
    if name == "confirm":
        source = ParameterSource.DEFAULT_MAP if name in config.values else ParameterSource.DEFAULT
        chosen = config.values.get(name)
    else:
        source, chosen = value.source_of(name), value[name]
    if name in _SWITCHES and not chosen and os.environ.get(_SWITCHES[name]):
        return True, _SWITCHES[name]
    origin = {
        ParameterSource.COMMANDLINE: "command line",
        ParameterSource.ENVIRONMENT: f"{ENVIRONMENT_PREFIX}_{name.upper()}",
        ParameterSource.DEFAULT_MAP: str(config.path),
    }.get(source, "default")
    return _state(name, _DEFAULTS.get(name) if chosen is None else chosen), origin


def _state(name: str, chosen: Any) -> Setting:
    """Return a value as it may be told: a whole number as such, an address without its password."""
    if isinstance(chosen, float) and chosen.is_integer():
        return int(chosen)
    if chosen is None or isinstance(chosen, (bool, float)):
        return chosen
    return hide_credentials(str(chosen)) if name == "server" else str(chosen)


def _show(value: Setting) -> str:
    """Return a value in a table for people."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return " ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
