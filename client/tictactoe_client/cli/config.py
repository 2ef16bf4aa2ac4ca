"""The command `config`: where the file with one's own defaults is, what is set by what, and one setting changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.cli.manual import PROGRAM, command
from tictactoe_client.cli.options import Values, Words, settings_of, shared_options
from tictactoe_client.files.config import Config, config_path, find_option
from tictactoe_client.files.debug_log import keeping_debug_log
from tictactoe_client.options import FILE_OPTIONS, Option
from tictactoe_client.settings import ExitCode, Misuse

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Setting = str | bool | int | float | list[str] | None

_CHANGES: Final = ("set", "unset")


def _complete_key(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the key of a setting."""
    from click.shell_completion import CompletionItem

    wants_key = context.params.get("what") in _CHANGES
    return [CompletionItem(key) for key in FILE_OPTIONS if wants_key and key.startswith(incomplete)]


def _complete_value(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the value of a setting that is one of some words."""
    from click.shell_completion import CompletionItem

    option = FILE_OPTIONS.get(context.params.get("key") or "")
    if option is None or context.params.get("what") != "set":
        return []
    words = option.words or (("true", "false") if option.kind is bool else ())
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


@command(
    short_help="Say or change what is set.",
    examples=(
        "config show",
        "config set server ws://192.168.1.20:8765",
        "config set theme night",
        "config unset theme",
    ),
)
@click.argument("what", type=Words(["path", "show", *_CHANGES]), required=False, metavar="[path|show|set|unset]")
@click.argument("key", required=False, metavar="[KEY]", shell_complete=_complete_key)
@click.argument("value", required=False, metavar="[VALUE]", shell_complete=_complete_value)
@shared_options
@click.pass_context
def config(context: click.Context, /, what: str | None, key: str | None, value: str | None, **_: Any) -> int:
    """Say where the configuration file is (path), or what is set and by what (show), or change it (set, unset).

    Options count before the environment, and that before the file. The file holds lines such as theme = "night"; the
    settings page of the full screen writes it too.
    """
    settings = settings_of(context, needs_server=False)
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
    if what not in _CHANGES and key is not None:
        raise Misuse(f"config {what} takes nothing more.")


def _answer(context: click.Context, what: str | None, key: str | None, value: str | None) -> str:
    """Do what a line asks for that makes sense, and return what people are told."""
    if what in _CHANGES:
        return _change(what, key or "", value)
    if what == "show":
        from tictactoe_protocol import clean_text

        return "\n".join(
            f"{name:<12} {clean_text(_show(setting)):<24} {origin}" for name, setting, origin in _list_settings(context)
        )
    return str(config_path()) if what == "path" else f"{context.get_help()}\n\nThe file: {config_path()}"


def _answer_in_json(context: click.Context, what: str | None, key: str | None, value: str | None) -> None:
    """Do the same, and say it in lines for programs."""
    from tictactoe_client.json.json_lines import print_own

    if what in _CHANGES:
        _change(what, key or "", value)
        print_own("written", key=key, file=str(config_path()))
    elif what == "show":
        for name, setting, origin in _list_settings(context):
            print_own("setting", key=name, value=setting, origin=origin)
    else:
        print_own("config", file=str(config_path()))
    print_own("closed", exit=0)


def _change(what: str, key: str, text: str | None) -> str:
    """Write one setting, or strike it out; return what was done, where."""
    from tictactoe_client.files.config_writer import NotKept, drop_setting, keep_setting

    try:
        if what == "set":
            value = find_option(key).parse(text or "")
            keep_setting(key, value)
            shown = f'"{value}"' if isinstance(value, str) else _show(value)
            return f"{key} = {shown} is now in {config_path()}"
        is_gone = drop_setting(key)
    except NotKept as error:
        raise Misuse(f"Nothing was written: {error.message}. The file: {config_path()}") from None
    return f"{key} is no longer in {config_path()}" if is_gone else f"{key} was not set in {config_path()}"


def _list_settings(context: click.Context) -> list[tuple[str, Setting, str]]:
    """Return each setting and each action with keys of its own: name, value, and what it was set by."""
    config = context.find_object(Config) or Config(config_path())
    value = Values(context)
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
        from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials

        return hide_credentials(chosen or DEFAULT_SERVER), origin
    return int(chosen) if isinstance(chosen, float) and chosen.is_integer() else chosen, origin


def _show(value: Setting) -> str:
    """Return a value in a table for people."""
    if isinstance(value, list):
        return " ".join(value)
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
