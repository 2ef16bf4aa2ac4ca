"""What is wrong with a command line: `click` finds it, and the catalogue has the words for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import click
from click.core import ParameterSource

from tictactoe_client.settings import PROGRAM, Misuse
from tictactoe_protocol.catalogue import say


def describe_mistake(error: Misuse | click.ClickException) -> tuple[str, str]:
    """Return what is wrong, and what a person is told: with how the command is used, where `click` found it."""
    if isinstance(error, Misuse):
        return error.message, error.message
    message = _describe(error)
    told = say("usage mistake", message=message)
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return message, told
    return message, f"{context.get_usage()}\n{say('usage help', command=context.command_path)}\n\n{told}"


def _describe(error: click.ClickException) -> str:
    match error:
        case click.MissingParameter(param=click.Parameter() as param):
            choices = param.type.choices if isinstance(param.type, click.Choice) else ()
            missing = say(f"missing {param.param_type_name}", name=param.get_error_hint(error.ctx))
            return f"{missing} {say('choose from', words=', '.join(choices))}" if choices else missing
        case click.BadParameter(param=click.Parameter() as param):
            return say("invalid value", name=param.get_error_hint(error.ctx), why=_name_variable(error, param))
        case click.NoSuchOption(option_name=name):
            return _suggest(say("no such option", name=name), error.possibilities)
        case click.NoSuchCommand(command_name=name):
            return _suggest(say("no such command", name=name), error.possibilities) + _guide(error)
        case click.BadOptionUsage(option_name=name, ctx=click.Context() as context):
            found = (one for one in context.command.params if isinstance(one, click.Option) and name in one.opts)
            is_flag = any(one.is_flag for one in found)
            return say("option takes no value" if is_flag else "option needs a value", name=name)
    return error.format_message()


def _name_variable(error: click.BadParameter, param: click.Parameter) -> str:
    """Return why a value is none, after the variable of the environment that has it."""
    source = error.ctx and error.ctx.get_parameter_source(str(param.name))
    return f"{param.envvar}: {error.message}" if source is ParameterSource.ENVIRONMENT else error.message


def _suggest(message: str, possible: Sequence[str] | None) -> str:
    if not possible:
        return message
    quoted = [f"'{one}'" for one in possible]
    return f"{message} {say('did you mean', word=', '.join(quoted))}"


def _guide(error: click.NoSuchCommand) -> str:
    """Return what to type where a room or a server stands in the place of a command, else nothing."""
    from tictactoe_client.online.address import parse_room
    from tictactoe_client.online.errors import BadAddress, BadRoomCode

    word = error.command_name
    if error.possibilities:
        return ""
    with suppress(BadAddress, BadRoomCode):
        parse_room(word)
        return f" {say('to join a room', command=f'{PROGRAM} join {word}')}"
    return f" {say('to play there', command=f'{PROGRAM} --server {word}')}" if ":" in word else ""
