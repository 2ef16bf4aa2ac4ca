"""The command `config`: where the file with one's own defaults is, what is set by what, and a change of it."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from tictactoe_client.cli.options import PROGRAM, is_switched_on
from tictactoe_client.files.config import Config, config_path, find_option, keep_setting
from tictactoe_client.files.writer import NotKept
from tictactoe_client.settings import FILE_OPTIONS, ExitCode, Misuse, Option, Settings
from tictactoe_client.streams.output import print_own

Setting = str | bool | int | float | list[str] | None


def configure(settings: Settings, what: str | None, key: str | None, value: str | None) -> int:
    """Say where the file is, what is set by what, or change it; raises `Misuse`."""
    if what == "set" and (key is None or value is None):
        raise Misuse(f"Say what to set, and to what: {PROGRAM} config set theme night")
    if what == "unset" and (key is None or value is not None):
        raise Misuse(f"Say what to unset: {PROGRAM} config unset theme")
    if what not in ("set", "unset") and key is not None:
        raise Misuse(f"config {what} takes nothing more.")
    context, file, in_json = click.get_current_context(), str(config_path()), settings.mode == "json"
    if key is not None:
        told = _change(key, value)
        if in_json:
            print_own("written", key=key, file=file)
        else:
            click.echo(told)
    elif what == "show":
        _show_settings(context, in_json=in_json)
    elif in_json:
        print_own("config", file=file)
    else:
        click.echo(file if what == "path" else f"{context.get_help()}\n\nThe file: {file}")
    return ExitCode.NORMAL


def _change(key: str, text: str | None) -> str:
    """Write one setting, or strike it out where there is no text; return what was done, where."""
    try:
        if text is not None:
            value = find_option(key).parse(text)
            keep_setting(key, value)
            shown = f'"{value}"' if isinstance(value, str) else _show(value)
            return f"{key} = {shown} is now in {config_path()}"
        is_gone = keep_setting(key, None)
    except NotKept as error:
        raise Misuse(f"Nothing was written: {error.message}. The file: {config_path()}") from None
    return f"{key} is no longer in {config_path()}" if is_gone else f"{key} was not set in {config_path()}"


def _show_settings(context: click.Context, *, in_json: bool) -> None:
    """Print each setting and each action with keys of its own: name, value, and what it was set by."""
    from tictactoe_protocol import clean_text

    config = context.find_object(Config) or Config(config_path())
    rows = [(key, *_find(option, context, config)) for key, option in FILE_OPTIONS.items()]
    rows += [(action, list(keys), str(config.path)) for action, keys in config.bindings.items()]
    for name, value, origin in rows:
        if in_json:
            print_own("setting", key=name, value=value, origin=origin)
        else:
            click.echo(f"{name:<12} {clean_text(_show(value)):<24} {origin}")


def _find(option: Option, context: click.Context, config: Config) -> tuple[Setting, str]:
    """Return a setting and its origin, without what is secret; None for one that is not set."""
    from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials

    chosen: Any = context.params[option.key]
    if not chosen and is_switched_on(option):
        return True, str(option.other_variable)
    origin = {
        ParameterSource.COMMANDLINE: "command line",
        ParameterSource.ENVIRONMENT: option.variable,
        ParameterSource.DEFAULT_MAP: str(config.path),
    }.get(context.get_parameter_source(option.key) or ParameterSource.DEFAULT, "default")
    if option.key == "server":
        return hide_credentials(chosen or DEFAULT_SERVER), origin
    return int(chosen) if isinstance(chosen, float) and chosen.is_integer() else chosen, origin


def _show(value: Setting) -> str:
    """Return a value in a table for people."""
    if isinstance(value, list):
        return " ".join(value)
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
