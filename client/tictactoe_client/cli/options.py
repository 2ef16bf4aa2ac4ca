"""The table of options as `click` reads it, how `--help` reads, and what command line, environment and file add up to.

Nothing here imports the network at once, so that help and completion stay quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from tictactoe_client.files.config import Config, config_path, drop_setting, find_option, keep_setting, show_path
from tictactoe_client.files.writer import NotKept, keeping_debug_log, state_folder
from tictactoe_client.settings import (
    FILE_OPTIONS,
    MAX_TIMEOUT_SECONDS,
    OPTIONS,
    SECTIONS,
    ExitCode,
    Misuse,
    Mode,
    Option,
    Settings,
    find_meaningless,
    suggest,
)
from tictactoe_client.streams.output import is_terminal, print_error, print_own, wants_colour

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Setting = str | bool | int | float | list[str] | None

PROGRAM: Final = "tictactoe-client"
COMPLETION_VARIABLE: Final = "_TICTACTOE_CLIENT_COMPLETE"

_TYPED_OR_SET: Final = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
_ABOUT: Final = ("version", "help")
_COMMON: Final = (*(option.name for option in OPTIONS.values()), *_ABOUT)

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


class Manual(click.Command):
    """A command with a page of help; `examples` are what may be typed after the program's name."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.examples = tuple(examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options."""
        own = {key for key in self._options(ctx) if key not in OPTIONS and key not in _ABOUT}
        self._write_options(ctx, formatter, "Options", own)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, the names of the options that all commands take, and where the rest stands."""
        self._write_examples(formatter)
        with formatter.section("Common options"):
            formatter.write_text(" ".join(f"--{name}" for name in _COMMON))
        formatter.write(f"\nWhat they mean, exit codes, files and environment: {PROGRAM} --help\n")

    def _options(self, ctx: click.Context) -> dict[str, click.Option]:
        return {str(option.name): option for option in self.get_params(ctx) if isinstance(option, click.Option)}

    def _write_options(
        self, ctx: click.Context, formatter: click.HelpFormatter, title: str, keys: Collection[str]
    ) -> None:
        records = (option.get_help_record(ctx) for key, option in self._options(ctx).items() if key in keys)
        rows = [record for record in records if record is not None]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)

    def _write_examples(self, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{' ' * formatter.current_indent}{PROGRAM} {example}\n")


class ManualGroup(Manual, click.Group):
    """The program: its commands in the order in which they were made, and all that counts for every one of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were made."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or fail with a suggestion for a mistyped one."""
        name = args[0]
        is_unknown = self.get_command(ctx, name) is None and not name.startswith("-")
        if is_unknown and not ctx.resilient_parsing:
            hint = suggest(name.lower(), self.commands, quote="'")
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options that all of them take."""
        self.format_commands(ctx, formatter)
        for title, options in SECTIONS.items():
            self._write_options(ctx, formatter, title, [option.key for option in options])
        self._write_options(ctx, formatter, "About", _ABOUT)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and what counts for every command."""
        self._write_examples(formatter)
        files = (
            (show_path(config_path()), "your own defaults, see the command config"),
            (show_path(state_folder()), "seats to come back to, and who one is on each server; both are secret"),
        )
        for title, rows in (("Environment", _ENVIRONMENT), ("Files", files), ("Exit codes", _EXIT_CODES)):
            with formatter.section(title):
                formatter.write_dl(rows, col_max=40)
        formatter.write("\nMessages of --json: docs/protocol.md and, of the client's own, docs/client.md\n")


class Words(click.Choice[str]):
    """One of these words; a mistyped one is answered with what was perhaps meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Suggest what was perhaps meant, too."""
        hint = suggest(str(value).lower(), self.choices, quote="'")
        return f"{super().get_invalid_choice_message(value, ctx)}{hint}"


def shared_options(command: Decorated) -> Decorated:
    """Give a command the options that all of them take."""
    told = "Print the versions of client and protocol, and exit."
    is_command: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": _print_version}
    command = click.option("--version", help=told, **is_command)(command)
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


def _print_version(context: click.Context, _: click.Parameter, is_wanted: object) -> None:
    if not is_wanted or context.resilient_parsing:
        return
    from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions

    click.echo(f"tictactoe-client {client_version()} (protocol {format_versions(PROTOCOL_VERSIONS)})")
    context.exit()


class _Values:
    """Options by their keys, from the command where they were typed there, else from the group before it."""

    def __init__(self, context: click.Context) -> None:
        self._contexts = [context] if context.parent is None else [context, context.parent]

    def __getitem__(self, key: str) -> Any:
        return self._context_of(key).params[key]

    def source_of(self, key: str) -> ParameterSource:
        return self._context_of(key).get_parameter_source(key) or ParameterSource.DEFAULT

    def is_typed(self, key: str) -> bool:
        return self.source_of(key) is ParameterSource.COMMANDLINE

    def _context_of(self, key: str) -> click.Context:
        typed = (each for each in self._contexts if each.get_parameter_source(key) is ParameterSource.COMMANDLINE)
        return next(typed, self._contexts[0])


def settings_of(context: click.Context, *, needs_server: bool = True) -> Settings:
    """Return what options, environment and file add up to; raises `Misuse`.

    Where the server stands in the file and cannot be read there, no other one is taken in its place.
    """
    value = _Values(context)
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


def _find_doubts(value: _Values, config: Config | None) -> dict[str, str]:
    """Return what is wrong with values of the file that are texts; those then count as not set."""
    if config is None:
        return {}
    found = {
        key: find_meaningless(key, value[key])
        for key in config.places
        if value.source_of(key) is ParameterSource.DEFAULT_MAP and value[key] is not None
    }
    return {key: f"{config.places[key]}: {fault}" for key, fault in found.items() if fault is not None}


def _choose_mode(value: _Values) -> Mode:
    """Return JSON or plain where asked for, else the full screen where there is one: a terminal, or a page's."""
    if value["json"] and not value.is_typed("plain"):
        return "json"
    if value["plain"] or os.environ.get("ACCESSIBLE"):
        return "plain"
    is_screen = is_terminal(0, 1, 2) and os.environ.get("TERM", "") not in ("", "dumb")
    return "screen" if is_screen or os.environ.get("TEXTUAL_DRIVER") else "plain"


def configure(settings: Settings, what: str | None, key: str | None, value: str | None) -> int:
    """Say where the file with one's own defaults is, what is set by what, or change it; raises `Misuse`."""
    if what == "set" and (key is None or value is None):
        raise Misuse(f"Say what to set, and to what: {PROGRAM} config set theme night")
    if what == "unset" and (key is None or value is not None):
        raise Misuse(f"Say what to unset: {PROGRAM} config unset theme")
    if what not in ("set", "unset") and key is not None:
        raise Misuse(f"config {what} takes nothing more.")
    context, file = click.get_current_context(), str(config_path())
    with keeping_debug_log(is_wanted=settings.debug):
        told = None if key is None else _change(key, value)
        rows = _list_settings(context) if what == "show" else []
        if settings.mode == "json":
            for name, setting, origin in rows:
                print_own("setting", key=name, value=setting, origin=origin)
            if key is not None:
                print_own("written", key=key, file=file)
            elif what != "show":
                print_own("config", file=file)
            print_own("closed", exit=0)
        elif what == "show":
            from tictactoe_protocol import clean_text

            for name, setting, origin in rows:
                click.echo(f"{name:<12} {clean_text(_show(setting)):<24} {origin}")
        else:
            click.echo(told or (file if what == "path" else f"{context.get_help()}\n\nThe file: {file}"))
    return ExitCode.NORMAL


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
    config, value = context.find_object(Config) or Config(config_path()), _Values(context)
    rows = [(key, *_find(option, value[key], value.source_of(key), config)) for key, option in FILE_OPTIONS.items()]
    return rows + [(action, list(keys), str(config.path)) for action, keys in config.bindings.items()]


def _find(option: Option, chosen: Any, source: ParameterSource, config: Config) -> tuple[Setting, str]:
    """Return a setting and its origin, without what is secret; None for one that is not set."""
    from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials

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


def print_completion(settings: Settings, shell: str) -> int:
    """Print the script that completes the command line in a shell; raises `Misuse`."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise Misuse(f"There is no completion for {shell}.")
    with keeping_debug_log(is_wanted=settings.debug):
        click.echo(kind(click.get_current_context().find_root().command, {}, PROGRAM, COMPLETION_VARIABLE).source())
    return ExitCode.NORMAL
