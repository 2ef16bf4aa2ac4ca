"""The kinds of options, the options that all commands share, and the settings, which are merged from all sources.

Sources by precedence: command line, environment, `client.toml`, choices made in the program, defaults. The shared
options are defined in `settings`. The command `config` is here, too.
"""

from __future__ import annotations

import os
from itertools import groupby
from typing import Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.files.config import Config
from tictactoe_client.settings import FILE_OPTIONS, OPTIONS, PROGRAM, ExitCode, Misuse, Mode, Option, Settings, suggest
from tictactoe_client.streams.output import is_terminal, report, wants_colour
from tictactoe_engine import PRESETS
from tictactoe_words.catalogue import say, speak

_TYPED: Final = ParameterSource.COMMANDLINE
_SET: Final = ParameterSource.ENVIRONMENT
_IN_FILE: Final = ParameterSource.DEFAULT_MAP


class Words(click.Choice[str]):
    """A parameter that is one of several words; the error for an unknown word suggests a similar word."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        message = say("not one of", value=repr(value), words=", ".join(map(repr, self.choices)))
        return message + suggest(str(value).lower(), self.choices, quote="'")


class Count(click.ParamType[int | float]):
    """A parameter that is a number in a range; `kind` says whether fractions are allowed."""

    def __init__(self, least: float | None = None, most: float | None = None, kind: type[int | float] = int) -> None:
        self.name = kind.__name__
        self.least, self.most, self.kind = least, most, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        try:
            number = self.kind(value)
        except ValueError:
            self.fail(say("no number", value=repr(value)), param, ctx)
        is_within = (self.least is None or self.least <= number) and (self.most is None or number <= self.most)
        if not is_within:  # NaN is within no range
            id = "too small" if self.most is None else "out of range"
            self.fail(say(id, value=number, least=self.least, most=self.most), param, ctx)
        return number


class Placed(click.Argument):
    """A positional argument."""


class Named(click.Option):
    """An option whose help is the sentence with the id ``option NAME``."""


def _make_option(option: Option) -> Named:
    names = [f"--{option.name}", *([f"-{option.short}"] if option.short else [])]
    attributes: dict[str, Any] = {"envvar": option.variable, "metavar": option.shows}
    if option.kind is bool:
        attributes |= {"is_flag": True}
    elif option.is_list:
        attributes |= {"multiple": True, "callback": lambda _, __, values: ",".join(values) or None}
    elif option.words:
        attributes |= {"type": Words(option.words), "default": str(option.default)}
    else:
        attributes |= {"type": Count(kind=float) if option.kind is float else str, "default": option.default}
    return Named(names, **attributes)


def _print_version(context: click.Context, _: click.Parameter, is_wanted: object) -> None:
    if not is_wanted or context.resilient_parsing:
        return
    from tictactoe_client.version import client_version
    from tictactoe_protocol import PROTOCOL_VERSION

    click.echo(f"{PROGRAM} {say('version of', version=client_version(), versions=PROTOCOL_VERSION)}")
    context.exit()


_VERSION: Final = Named(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version)
_SECTIONS: Final = groupby(OPTIONS.values(), lambda option: option.section)
SHARED: Final = {section: [*map(_make_option, options)] for section, options in _SECTIONS} | {"about": [_VERSION]}

LEVELS: Final = ("easy", "medium", "hard", "random", "rules", "perfect")
"""The computer's levels and strategies; the server decides whether it has them."""
FILE: Final = click.Path(readable=False)
RULES: Final = Named(["--rules"], envvar="TICTACTOE_RULES", type=Words(PRESETS))
CLOCK: Final = Named(["--clock"], metavar="3+2")


def settings_of(context: click.Context, *, needs_server: bool = True) -> Settings:
    """Return the settings, merged from options, environment and files; raises `Misuse`.

    An option after the command overrides the same option before it. If the server in `client.toml` is unreadable and
    the command needs a server, `Misuse` is raised; the default server is not used instead.
    """
    above, value, source_of = context.parent or context, context.params, context.get_parameter_source
    for key in OPTIONS:
        if above.get_parameter_source(key) is _TYPED is not source_of(key):
            value[key] = above.params[key]
            context.set_parameter_source(key, _TYPED)
    for first, second in (("json", "plain"), ("local", "server")):
        if source_of(first) is source_of(second) is _TYPED:
            raise Misuse(say("choose one", one=f"--{first}", other=f"--{second}"))
    if (fault := OPTIONS["timeout"].find_fault(value["timeout"])) is not None:
        raise Misuse(f"--{fault}")
    config: Config = context.obj
    if needs_server and config.hides_server and not value["local"] and source_of("server") not in (_TYPED, _SET):
        raise Misuse(say("server in that file"))
    chosen = {key: _find(option, context)[0] for key, option in OPTIONS.items()}
    speak(in_ascii=chosen["ascii"])
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
        fixed=frozenset(config.values),
        doubts=config.warnings,
        **filled,
    )


def _find(option: Option, context: click.Context) -> tuple[Any, str]:
    """Return the value of an option, or None, and a description of the source that sets it."""
    chosen, variable = context.params[option.key], option.other_variable
    if not chosen and variable is not None and os.environ.get(variable):
        return True, variable
    origins = {
        _TYPED: say("origin command line"),
        _SET: option.variable,
        _IN_FILE: str(context.obj.origin_of(option.key)),
    }
    source = context.get_parameter_source(option.key) or ParameterSource.DEFAULT
    return chosen, origins.get(source, say("origin default"))


def _choose_mode(chosen: dict[str, Any], *, is_plain_typed: bool) -> Mode:
    if chosen["json"] and not is_plain_typed:
        return "json"
    if chosen["plain"]:
        return "plain"
    is_screen = is_terminal(0, 1, 2) and os.environ.get("TERM", "") not in ("", "dumb")
    return "screen" if is_screen or os.environ.get("TEXTUAL_DRIVER") else "plain"


def configure(settings: Settings, what: str | None) -> int:
    """Print the path of `client.toml`, or each setting with the source that sets it; by default, help."""
    context = click.get_current_context()
    if what == "show":
        _show_settings(settings, context)
    else:
        file = str(context.obj.path)
        text = file if what == "path" else f"{context.get_help()}\n\n{say('config file', file=file)}"
        report(settings, "config", text, file=file)
    return ExitCode.NORMAL


def _show_settings(settings: Settings, context: click.Context) -> None:
    from tictactoe_client.online.address import DEFAULT_SERVER, hide_credentials
    from tictactoe_protocol import clean_text

    rows = {key: _find(option, context) for key, option in FILE_OPTIONS.items()}
    server, origin = rows["server"]
    rows["server"] = hide_credentials(server or DEFAULT_SERVER), origin
    rows |= {action: (list(keys), str(context.obj.path)) for action, keys in context.obj.bindings.items()}
    for name, (value, origin) in rows.items():
        line = f"{name:<12} {clean_text(_show(value)):<24} {origin}"
        report(settings, "setting", line, key=name, value=value, origin=origin)


def _show(value: object) -> str:
    if isinstance(value, list):
        return " ".join(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
