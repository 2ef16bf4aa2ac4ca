"""What command line, environment and file add up to, and the command that says or changes what the file has.

The options themselves stand in `settings`.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.files.config import Config, keep_setting
from tictactoe_client.files.writer import NotKept
from tictactoe_client.settings import FILE_OPTIONS, OPTIONS, PROGRAM, ExitCode, Misuse, Mode, Option, Settings
from tictactoe_client.streams.output import is_terminal, report, wants_colour
from tictactoe_protocol.catalogue import say, speak

_TYPED: Final = ParameterSource.COMMANDLINE
_SET: Final = ParameterSource.ENVIRONMENT
_IN_FILE: Final = ParameterSource.DEFAULT_MAP


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
            raise Misuse(say("choose one", one=f"--{one}", other=f"--{other}"))
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
        doubts=config.warnings,
        **filled,
    )


def _find(option: Option, context: click.Context) -> tuple[Any, str]:
    """Return what an option is, None where it is not set, and by what."""
    chosen, variable = context.params[option.key], option.other_variable
    if not chosen and variable is not None and os.environ.get(variable):
        return True, variable
    origins = {_TYPED: say("origin command line"), _SET: option.variable, _IN_FILE: str(context.obj.path)}
    source = context.get_parameter_source(option.key) or ParameterSource.DEFAULT
    return chosen, origins.get(source, say("origin default"))


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
        raise Misuse(say("config set what", command=f"{PROGRAM} config set theme night"))
    if what == "unset" and (key is None or value is not None):
        raise Misuse(say("config unset what", command=f"{PROGRAM} config unset theme"))
    if what not in ("set", "unset") and key is not None:
        raise Misuse(say("config nothing more", what=what))
    context = click.get_current_context()
    file = str(context.obj.path)
    if key is not None:
        report(settings, "written", _change(key, value, file), key=key, file=file)
    elif what == "show":
        _show_settings(settings, context)
    else:
        told = file if what == "path" else f"{context.get_help()}\n\n{say('config file', file=file)}"
        report(settings, "config", told, file=file)
    return ExitCode.NORMAL


def _change(key: str, text: str | None, file: str) -> str:
    """Write one setting, or strike it out where there is no text; return what was done, where."""
    try:
        if text is not None:
            value = FILE_OPTIONS[key].parse(text)
            keep_setting(key, value)
            return say("config set done", key=key, value=json.dumps(value, ensure_ascii=False), file=file)
        return say("config unset done" if keep_setting(key, None) else "config was not set", key=key, file=file)
    except NotKept as error:
        raise Misuse(say("config nothing written", why=error.message, file=file)) from None


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
    if isinstance(value, list):
        return " ".join(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
