"""The table of options as `click` reads it, how `--help` reads, and what command line, environment and file add up to.

Nothing here imports the network at once, so that help and completion stay quick.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.files.config import Config, config_path, keep_setting, show_path
from tictactoe_client.files.writer import NotKept, state_folder
from tictactoe_client.settings import (
    FILE_OPTIONS,
    OPTIONS,
    PROGRAM,
    SECTIONS,
    ExitCode,
    Misuse,
    Mode,
    Option,
    Settings,
    suggest,
)
from tictactoe_client.streams.output import is_terminal, report, wants_colour

_TYPED: Final = ParameterSource.COMMANDLINE
_SET: Final = ParameterSource.ENVIRONMENT
_IN_FILE: Final = ParameterSource.DEFAULT_MAP

_EXIT_CODES: Final = (
    ("0", "ended normally, whatever the result"),
    ("1", "a mistake of the client; the path of a report is printed"),
    ("2", "the command line makes no sense, or a file cannot be read or written"),
    ("3", "no server there"),
    ("4", "client and server share no version of the protocol"),
    ("5", "no such room or game, or the room is full"),
    ("6", "the server refused"),
    ("7", "the connection was lost for good"),
    ("8", "what was to be printed could not be written, as on a full disk"),
    ("10, 11, 12", "with --result-code: lost, drawn, abandoned"),
)
_ENVIRONMENT: Final = (
    ("TICTACTOE_SERVER, …", "a default for the option of that name: TICTACTOE_NAME, TICTACTOE_NO_MOUSE"),
    ("NO_COLOR, FORCE_COLOR", "colour off, or on even off a terminal"),
    ("ACCESSIBLE", "for screen readers: a transcript, no colour, no board unless asked for"),
)


class Words(click.Choice[str]):
    """One of these words; a mistyped one is answered with what was perhaps meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        hint = suggest(str(value).lower(), self.choices, quote="'")
        return f"{super().get_invalid_choice_message(value, ctx)}{hint}"


def _make_option(option: Option) -> click.Option:
    names = [f"--{option.name}", *([f"-{option.short}"] if option.short else [])]
    attributes: dict[str, Any] = {"envvar": option.variable, "help": option.help, "metavar": option.metavar}
    if option.kind is bool:
        attributes |= {"is_flag": True}
    elif option.is_list:
        attributes |= {"multiple": True, "callback": lambda _, __, given: ",".join(given) or None}
    elif option.words:
        attributes |= {"type": Words(option.words), "default": str(option.default)}
    else:
        attributes |= {"type": option.kind, "default": option.default}
    return click.Option(names, **attributes)


def _print_version(context: click.Context, _: click.Parameter, is_wanted: object) -> None:
    if not is_wanted or context.resilient_parsing:
        return
    from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions

    click.echo(f"{PROGRAM} {client_version()} (protocol {format_versions(PROTOCOL_VERSIONS)})")
    context.exit()


_VERSION: Final = click.Option(
    ["--version"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the versions of client and protocol, and exit.",
)
_SHARED: Final = {title: [*map(_make_option, options)] for title, options in SECTIONS.items()} | {"About": [_VERSION]}
"""The options that all commands take, under the headings of the help."""


class Manual(click.Command):
    """A command with a page of help; `examples` are what may be typed after the program's name."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.examples = examples
        self.own = [option for option in self.params if isinstance(option, click.Option)]
        self.params += chain.from_iterable(_SHARED.values())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_sections(formatter, {"Options": [option.get_help_record(ctx) for option in self.own]})

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{' ' * formatter.current_indent}{PROGRAM} {example}\n")
        if ctx.parent is not None:
            with formatter.section("Common options"):
                formatter.write_text(" ".join(f"--{key.replace('_', '-')}" for key in (*OPTIONS, "version", "help")))
            formatter.write(f"\nWhat they mean, exit codes, files and environment: {PROGRAM} --help\n")


class ManualGroup(Manual, click.Group):
    """The program: its commands in the order in which they were made, and all that counts for every one of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        _write_sections(formatter, {title: [one.get_help_record(ctx) for one in _SHARED[title]] for title in _SHARED})

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        files = (
            (show_path(config_path()), "your own defaults, see the command config"),
            (show_path(state_folder()), "seats to come back to, and who one is on each server; both are secret"),
        )
        _write_sections(formatter, {"Environment": _ENVIRONMENT, "Files": files, "Exit codes": _EXIT_CODES}, widest=40)
        formatter.write("\nMessages of --json: docs/protocol.md and, of the client's own, docs/client.md\n")


def _write_sections(
    formatter: click.HelpFormatter, sections: Mapping[str, Sequence[tuple[str, str] | None]], widest: int = 30
) -> None:
    """Write lists of two columns under their titles, the first column at most so wide."""
    for title, rows in sections.items():
        if told := [row for row in rows if row is not None]:
            with formatter.section(title):
                formatter.write_dl(told, col_max=widest)


def settings_of(context: click.Context, *, needs_server: bool = True) -> Settings:
    """Return what options, environment and file add up to; raises `Misuse`.

    What was typed before the command counts, unless it was typed behind it, too. Where the server stands in the file
    and cannot be read there, no other one is taken in its place.
    """
    above, value, source_of = context.parent or context, context.params, context.get_parameter_source
    for key in OPTIONS:
        if above.get_parameter_source(key) is _TYPED is not source_of(key):
            value[key] = above.params[key]
            context.set_parameter_source(key, _TYPED)
    for one, other in (("json", "plain"), ("local", "server")):
        if source_of(one) is source_of(other) is _TYPED:
            raise Misuse(f"Choose one of --{one} and --{other}.")
    if (fault := OPTIONS["timeout"].find_fault(value["timeout"])) is not None:
        raise Misuse(f"--{fault}")
    config: Config = context.obj
    if needs_server and config.hides_server and not value["local"] and source_of("server") not in (_TYPED, _SET):
        raise Misuse("Your server stands in that file: mend it, or say --server.")
    chosen = {key: _find(option, context)[0] for key, option in OPTIONS.items()}
    mode = _choose_mode(chosen, is_plain_typed=source_of("plain") is _TYPED)
    filled: dict[str, Any] = {
        option.fills: option.setting_of(chosen[key]) for key, option in OPTIONS.items() if option.fills
    }
    filled["name"] = chosen["name"] or None
    filled["server"] = (source_of("local") is not _TYPED and chosen["server"]) or None
    filled["colour"] = wants_colour(os.environ, no_colour=value["no_color"], on_screen=mode == "screen")
    return Settings(
        mode=mode,
        name_is_for_now=bool(value["name"]) and source_of("name") in (_TYPED, _SET),
        changed_keys=config.bindings,
        doubts=config.warnings,
        **filled,
    )


def _find(option: Option, context: click.Context) -> tuple[Any, str]:
    """Return what an option is, None where it is not set, and by what."""
    chosen, variable = context.params[option.key], option.other_variable
    if not chosen and variable is not None and os.environ.get(variable):
        return True, variable
    origins = {_TYPED: "command line", _SET: option.variable, _IN_FILE: str(context.obj.path)}
    return chosen, origins.get(context.get_parameter_source(option.key) or ParameterSource.DEFAULT, "default")


def _choose_mode(chosen: dict[str, Any], *, is_plain_typed: bool) -> Mode:
    """Return JSON or plain where asked for, else the full screen where there is one: a terminal, or a page's."""
    if chosen["json"] and not is_plain_typed:
        return "json"
    if chosen["plain"]:
        return "plain"
    is_screen = is_terminal(0, 1, 2) and os.environ.get("TERM", "") not in ("", "dumb")
    return "screen" if is_screen or os.environ.get("TEXTUAL_DRIVER") else "plain"


def configure(settings: Settings, what: str | None, key: str | None, value: str | None) -> int:
    """Say where the file is, what is set by what, or change it; raises `Misuse`."""
    if what == "set" and (key is None or value is None):
        raise Misuse(f"Say what to set, and to what: {PROGRAM} config set theme night")
    if what == "unset" and (key is None or value is not None):
        raise Misuse(f"Say what to unset: {PROGRAM} config unset theme")
    if what not in ("set", "unset") and key is not None:
        raise Misuse(f"config {what} takes nothing more.")
    context = click.get_current_context()
    file = str(context.obj.path)
    if key is not None:
        report(settings, "written", _change(key, value, file), key=key, file=file)
    elif what == "show":
        _show_settings(settings, context)
    else:
        told = file if what == "path" else f"{context.get_help()}\n\nThe file: {file}"
        report(settings, "config", told, file=file)
    return ExitCode.NORMAL


def _change(key: str, text: str | None, file: str) -> str:
    """Write one setting, or strike it out where there is no text; return what was done, where."""
    try:
        if text is not None:
            value = FILE_OPTIONS[key].parse(text)
            keep_setting(key, value)
            return f"{key} = {json.dumps(value, ensure_ascii=False)} is now in {file}"
        return f"{key} {'is no longer' if keep_setting(key, None) else 'was not set'} in {file}"
    except NotKept as error:
        raise Misuse(f"Nothing was written: {error.message}. The file: {file}") from None


def _show_settings(settings: Settings, context: click.Context) -> None:
    """Print each setting and each action with keys of its own: name, value without what is secret, and origin."""
    from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials
    from tictactoe_protocol import clean_text

    rows = {key: _find(option, context) for key, option in FILE_OPTIONS.items()}
    server, origin = rows["server"]
    rows["server"] = hide_credentials(server or DEFAULT_SERVER), origin
    rows |= {action: (list(keys), str(context.obj.path)) for action, keys in context.obj.bindings.items()}
    for name, (value, origin) in rows.items():
        told = f"{name:<12} {clean_text(_show(value)):<24} {origin}"
        report(settings, "setting", told, key=name, value=value, origin=origin)


def _show(value: object) -> str:
    """Return a value in a table for people."""
    if isinstance(value, list):
        return " ".join(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
