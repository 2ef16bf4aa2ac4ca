"""The commands about one's own client: config and completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tictactoe_client.cli.manual import PROGRAM, command
from tictactoe_client.cli.option_values import Values, settings_of
from tictactoe_client.cli.options import Words, shared_options
from tictactoe_client.files.config import KNOWN, config_path
from tictactoe_client.files.debug_log import keeping_debug_log
from tictactoe_client.settings import ExitCode, Misuse

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMPLETION_VARIABLE: Final = "_TICTACTOE_CLIENT_COMPLETE"


def _complete_key(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the key of a setting."""
    from click.shell_completion import CompletionItem

    wants_key = context.params.get("what") in ("set", "unset")
    return [CompletionItem(key) for key in KNOWN if wants_key and key.startswith(incomplete)]


def _complete_value(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the value of a setting that is one of some words."""
    from click.shell_completion import CompletionItem

    wanted = KNOWN.get(context.params.get("key") or "")
    words = wanted if isinstance(wanted, tuple) else ("true", "false") if wanted is bool else ()
    return [
        CompletionItem(word) for word in words if context.params.get("what") == "set" and word.startswith(incomplete)
    ]


@command(
    short_help="Say or change what is set.",
    examples=(
        "config show",
        "config set server ws://192.168.1.20:8765",
        "config set theme night",
        "config unset theme",
    ),
)
@click.argument("what", type=Words(["path", "show", "set", "unset"]), required=False, metavar="[path|show|set|unset]")
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
        _do(context, what, key, value, is_json=settings.mode == "json")
    return ExitCode.NORMAL


def _do(context: click.Context, what: str | None, key: str | None, value: str | None, *, is_json: bool) -> None:
    """Carry out a line that makes sense."""
    if what in ("set", "unset"):
        told = _change(what, key or "", value)
        if is_json:
            _print_json("written", key=key, file=str(config_path()))
        else:
            click.echo(told)
    elif what == "show":
        from tictactoe_client.cli.config_report import describe_settings, list_settings

        if is_json:
            for name, shown, origin in list_settings(context):
                _print_json("setting", key=name, value=shown, origin=origin)
        else:
            click.echo("\n".join(describe_settings(context)))
    elif is_json:
        _print_json("config", file=str(config_path()))
    elif what == "path":
        click.echo(config_path())
    else:
        click.echo(f"{context.get_help()}\n\nThe file: {config_path()}")
    if is_json:
        _print_json("closed", exit=0)


def _check_words(what: str | None, key: str | None, value: str | None) -> None:
    """Refuse a line that lacks a word, or has one too many."""
    if what == "set" and (key is None or value is None):
        raise Misuse(f"Say what to set, and to what: {PROGRAM} config set theme night")
    if what == "unset" and (key is None or value is not None):
        raise Misuse(f"Say what to unset: {PROGRAM} config unset theme")
    if what not in ("set", "unset") and key is not None:
        raise Misuse(f"config {what} takes nothing more.")


def _change(what: str, key: str, text: str | None) -> str:
    """Write one setting, or strike it out; return what was done, where."""
    from tictactoe_client.files.config_values import parse_setting
    from tictactoe_client.files.config_writer import NotKept, drop_setting, keep_setting

    try:
        if what == "set":
            value = parse_setting(key, text or "")
            keep_setting(key, value)
            return f"{key} = {_show(value)} is now in {config_path()}"
        is_gone = drop_setting(key)
    except NotKept as error:
        raise Misuse(f"Nothing was written: {error.message}. The file: {config_path()}") from None
    return f"{key} is no longer in {config_path()}" if is_gone else f"{key} was not set in {config_path()}"


def _show(value: str | bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else f"{value:g}"


def _print_json(type: str, **fields: object) -> None:
    from tictactoe_client.json.json_lines import print_own

    print_own(type, **fields)


@command(
    short_help="Print the completion of a shell.",
    examples=(
        "completion bash",
        "completion zsh",
        "completion fish",
    ),
)
@click.argument("shell", type=Words(["bash", "zsh", "fish"]))
@shared_options
@click.pass_context
def completion(context: click.Context, /, shell: str, **_: Any) -> int:
    """Print the script that completes commands, options and their values in a shell.

    \b
    In ~/.bashrc:                   eval "$(tictactoe-client completion bash)"
    In ~/.zshrc, after compinit:    eval "$(tictactoe-client completion zsh)"
    In ~/.config/fish/config.fish:  tictactoe-client completion fish | source
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise Misuse(f"There is no completion for {shell}.")
    with keeping_debug_log(is_wanted=bool(Values(context)["debug"])):
        click.echo(kind(context.find_root().command, {}, PROGRAM, COMPLETION_VARIABLE).source())
    return ExitCode.NORMAL
