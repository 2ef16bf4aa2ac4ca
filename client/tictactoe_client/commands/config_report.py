"""What `config show` prints: each setting with its value and where that came from; what is secret is left out."""

from __future__ import annotations

import os
from typing import Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.commands.option_values import Values
from tictactoe_client.commands.options import ENVIRONMENT_PREFIX
from tictactoe_client.kept.config import KNOWN, Config, config_path
from tictactoe_client.wire.address import DEFAULT_SERVER, hide_credentials
from tictactoe_protocol import clean_text

_DEFAULTS: Final = {"server": DEFAULT_SERVER, "confirm": False}
_SWITCHES: Final = {"no_color": "NO_COLOR", "plain": "ACCESSIBLE", "no_board": "ACCESSIBLE"}
"""What variables of other programs switch on here."""


def describe_settings(context: click.Context) -> list[str]:
    """Return a line for every setting that the configuration file knows, and for every key that it binds."""
    return [f"{name:<12} {clean_text(shown):<24} {origin}" for name, shown, origin in list_settings(context)]


def list_settings(context: click.Context) -> list[tuple[str, str, str]]:
    """Return each setting and each key that is bound: name, value as it is shown, and what it was set by."""
    config = context.find_object(Config) or Config(config_path())
    rows = [(name, *_find(name, Values(context), config)) for name in KNOWN]
    return rows + [(action, " ".join(keys), str(config.path)) for action, keys in config.bindings.items()]


def _find(name: str, value: Values, config: Config) -> tuple[str, str]:
    """Return a setting as it is shown, and its origin."""
    if name == "confirm":
        source = ParameterSource.DEFAULT_MAP if name in config.values else ParameterSource.DEFAULT
        chosen = config.values.get(name)
    else:
        source, chosen = value.source_of(name), value[name]
    if name in _SWITCHES and not chosen and os.environ.get(_SWITCHES[name]):
        return "true", _SWITCHES[name]
    origin = {
        ParameterSource.COMMANDLINE: "command line",
        ParameterSource.ENVIRONMENT: f"{ENVIRONMENT_PREFIX}_{name.upper()}",
        ParameterSource.DEFAULT_MAP: str(config.path),
    }.get(source, "default")
    return _show(name, _DEFAULTS.get(name) if chosen is None else chosen), origin


def _show(name: str, chosen: Any) -> str:
    if chosen is None:
        return "-"
    if isinstance(chosen, bool):
        return str(chosen).lower()
    if isinstance(chosen, float):
        return f"{chosen:g}"
    return hide_credentials(str(chosen)) if name == "server" else str(chosen)
