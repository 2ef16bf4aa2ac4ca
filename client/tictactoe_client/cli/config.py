"""What the command `config` does: where the file with one's own defaults is, what is set by what, and one change."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from tictactoe_client.cli.manual import PROGRAM
from tictactoe_client.cli.options import Values
from tictactoe_client.files.config import Config, config_path, drop_setting, find_option, keep_setting
from tictactoe_client.files.debug_log import keeping_debug_log
from tictactoe_client.files.writer import NotKept
from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials
from tictactoe_client.options import FILE_OPTIONS, Option
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import print_own
from tictactoe_protocol import clean_text

Setting = str | bool | int | float | list[str] | None


def configure(settings: Settings, what: str | None, key: str | None, value: str | None) -> int:
    """Answer a line of the command, with what the options of the running one are; raises `Misuse`."""
    context = click.get_current_context()
    _check_words(what, key, value)
    with keeping_debug_log(is_wanted=settings.debug):
        if settings.mode == "json":
            _answer_in_json(context, what, key, value)
        else:
            click.echo(_answer(context, what, key, value))
    return ExitCode.NORMAL


def _check_words(what: str | None, key: str | None, value: str | None) -> None:
    """Refuse a line that lacks a word, or has one too many."""
    if what == "set" and (key is None or value is None):
        raise Misuse(f"Say what to set, and to what: {PROGRAM} config set theme night")
    if what == "unset" and (key is None or value is not None):
        raise Misuse(f"Say what to unset: {PROGRAM} config unset theme")
    if what not in ("set", "unset") and key is not None:
        raise Misuse(f"config {what} takes nothing more.")


def _answer(context: click.Context, what: str | None, key: str | None, value: str | None) -> str:
    """Do what a line asks for that makes sense, and return what people are told."""
    if key is not None:
        return _change(key, value)
    if what == "show":
        rows = _list_settings(context)
        return "\n".join(f"{name:<12} {clean_text(_show(setting)):<24} {origin}" for name, setting, origin in rows)
    return str(config_path()) if what == "path" else f"{context.get_help()}\n\nThe file: {config_path()}"


def _answer_in_json(context: click.Context, what: str | None, key: str | None, value: str | None) -> None:
    """Do the same, and say it in lines for programs."""
    if key is not None:
        _change(key, value)
        print_own("written", key=key, file=str(config_path()))
    elif what == "show":
        for name, setting, origin in _list_settings(context):
            print_own("setting", key=name, value=setting, origin=origin)
    else:
        print_own("config", file=str(config_path()))
    print_own("closed", exit=0)


def _change(key: str, text: str | None) -> str:
    """Write one setting, or strike it out where there is no text; return what was done, where."""
    try:
        if text is not None:
            value = find_option(key).parse(text)
            keep_setting(key, value)
            shown = f'"{value}"' if isinstance(value, str) else _show(value)
            return f"{key} = {shown} is now in {config_path()}"
        is_gone = drop_setting(key)
    except NotKept as error:
        raise Misuse(f"Nothing was written: {error.message}. The file: {config_path()}") from None
    return f"{key} is no longer in {config_path()}" if is_gone else f"{key} was not set in {config_path()}"


def _list_settings(context: click.Context) -> list[tuple[str, Setting, str]]:
    """Return each setting and each action with keys of its own: name, value, and what it was set by."""
    config, value = context.find_object(Config) or Config(config_path()), Values(context)
    rows = [(key, *_find(option, value[key], value.source_of(key), config)) for key, option in FILE_OPTIONS.items()]
    return rows + [(action, list(keys), str(config.path)) for action, keys in config.bindings.items()]


def _find(option: Option, chosen: Any, source: ParameterSource, config: Config) -> tuple[Setting, str]:
    """Return a setting and its origin, without what is secret; None for one that is not set."""
    if option.other_variable and not chosen and os.environ.get(option.other_variable):
        return True, option.other_variable
    origin = {
        ParameterSource.COMMANDLINE: "command line",
        ParameterSource.ENVIRONMENT: option.variable,
        ParameterSource.DEFAULT_MAP: str(config.path),
    }.get(source, "default")
    if option.key == "server":
        return hide_credentials(chosen or DEFAULT_SERVER), origin
    return int(chosen) if isinstance(chosen, float) and chosen.is_integer() else chosen, origin


def _show(value: Setting) -> str:
    """Return a value in a table for people."""
    if isinstance(value, list):
        return " ".join(value)
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
