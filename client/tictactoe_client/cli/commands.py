"""Makes commands, formats their help, and describes mistakes in a command line.

A command first reads its options and only then imports the module that does the work, so that help and completion are
fast. Commands of other packages are found through entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain
from typing import Any, Final

import click
from click.core import ParameterSource

from tictactoe_client.cli.options import SHARED, Named, settings_of
from tictactoe_client.files.writer import keeping_debug_log
from tictactoe_client.settings import OPTIONS, PROGRAM, Misuse, Settings
from tictactoe_client.streams import output
from tictactoe_client.themes import THEMES
from tictactoe_words.catalogue import LANGUAGES, say

Begun = int | tuple[Settings, Coroutine[Any, Any, int]]
"""The exit code of a finished command, or the settings and the coroutine of a command that still has to run."""

_EXIT_CODES: Final = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10, 11, 12")

ENTRY_POINTS: Final = "tictactoe_client.commands"
"""The entry point group for commands of other packages, which they make by `make_command`."""


class Manual(click.Command):
    """A command with a help page in the current language. `examples` are command lines without the program's name."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.examples = examples
        self.own = [option for option in self.params if isinstance(option, Named)]
        self.params += chain.from_iterable(SHARED.values())

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Use the program's defaults for the command, too; click would look for them under the command's name."""
        more = {} if parent is None else {"default_map": parent.default_map}
        return super().make_context(info_name, args, parent, **{**more, **extra})

    def put_into_words(self) -> None:
        self.help = say(f"command {self.name}")
        for parameter in self.params:
            if isinstance(parameter, Named):
                name, lists = parameter.opts[0].lstrip("-"), {"themes": THEMES, "languages": LANGUAGES}
                parameter.help = say(f"option {name}", **{id: ", ".join(words) for id, words in lists.items()})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Report extra arguments in the current language, and add the context to errors about options."""
        ctx.allow_extra_args = True
        try:
            extra = super().parse_args(ctx, args)
        except click.BadOptionUsage as error:
            error.ctx = ctx
            raise
        if extra and not (ctx.resilient_parsing or isinstance(self, click.Group)):
            ctx.fail(say("too many words", n=len(extra), words=" ".join(extra)))
        return extra

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), f"{say('usage')} ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_sections(formatter, {say("section own"): [option.get_help_record(ctx) for option in self.own]})

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(say("section examples")):
            for example in self.examples:
                formatter.write(f"{' ' * formatter.current_indent}{PROGRAM} {example}\n")
        if ctx.parent is not None:
            with formatter.section(say("section common")):
                formatter.write_text(" ".join(f"--{key.replace('_', '-')}" for key in (*OPTIONS, "version", "help")))
            formatter.write(f"\n{say('what they mean', command=f'{PROGRAM} --help')}\n")


class ManualGroup(Manual, click.Group):
    """The program: a group of commands with shared options. `sections` has the names of the commands by section."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]], **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.sections = sections

    def put_into_words(self) -> None:
        super().put_into_words()
        for command in self.commands.values():
            if isinstance(command, Manual):
                command.put_into_words()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*chain.from_iterable(self.sections.values())]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, self.commands))
        helps = {name: command.get_short_help_str(limit) for name, command in self.commands.items()}
        sections: dict[str, list[tuple[str, str] | None]] = {}
        for id, names in self.sections.items():
            sections[say(f"section {id}")] = [(name, helps[name]) for name in names]
        for id, options in SHARED.items():
            sections[say(f"section {id}")] = [option.get_help_record(ctx) for option in options]
        _write_sections(formatter, sections)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        _write_sections(
            formatter,
            {say("section exit codes"): [(codes, say(f"exit code {codes.split(',')[0]}")) for codes in _EXIT_CODES]},
        )
        formatter.write(f"\n{say('more in')}\n")


def make_command(
    name: str,
    work: str | Callable[..., int],
    examples: Sequence[str],
    *params: click.Parameter,
    needs_server: bool = True,
) -> Manual:
    """Return a command.

    Args:
        work: What the command does: a plain function, or "module.function" of a coroutine function, which is imported
            when the command runs. The function gets the settings and the values of `params`.
        examples: Command lines without the program's and the command's name.
        params: The command's own parameters; those shared by all commands are added.
    """

    def start(**values: Any) -> Begun:
        settings = settings_of(click.get_current_context(), needs_server=needs_server)
        own = {key: value for key, value in values.items() if key not in OPTIONS}
        if not isinstance(work, str):
            with keeping_debug_log(is_wanted=settings.debug):
                return output.report_end(settings, work(settings, **own))
        module, _, function = work.rpartition(".")
        return settings, getattr(import_module(module), function)(settings, **own)

    lines = [f"{name} {example}".rstrip() for example in examples]
    return Manual(name, params=[*params], callback=start, examples=lines)


class CommandElsewhere(Manual):
    """A command of another package, which is imported only when the command is used."""

    def load(self) -> Manual:
        from importlib.metadata import entry_points

        for entry_point in entry_points(group=ENTRY_POINTS, name=str(self.name)):
            command: Manual = entry_point.load()
            command.put_into_words()
            return command
        raise click.NoSuchCommand(str(self.name), ctx=click.get_current_context(silent=True))

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return self.load().make_context(info_name, args, parent, **extra)


def _write_sections(formatter: click.HelpFormatter, sections: Mapping[str, Sequence[tuple[str, str] | None]]) -> None:
    for title, rows in sections.items():
        if records := [row for row in rows if row is not None]:
            with formatter.section(title):
                formatter.write_dl(records)


def describe_mistake(error: Misuse | click.ClickException) -> tuple[str, str]:
    """Return a mistake's message, and a text for people, which has the usage, too, if `click` found the mistake."""
    if isinstance(error, Misuse):
        return error.message, error.message
    message = _describe(error)
    mistake = say("usage mistake", message=message)
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return message, mistake
    return message, f"{context.get_usage()}\n{say('usage help', command=context.command_path)}\n\n{mistake}"


def _describe(error: click.ClickException) -> str:
    match error:
        case click.MissingParameter(param=click.Parameter() as param):
            choices = param.type.choices if isinstance(param.type, click.Choice) else ()
            missing = say(f"missing {param.param_type_name}", name=param.get_error_hint(error.ctx))
            return f"{missing} {say('choose from', words=', '.join(choices))}" if choices else missing
        case click.BadParameter(param=click.Parameter() as param):
            source = error.ctx and error.ctx.get_parameter_source(str(param.name))
            why = f"{param.envvar}: {error.message}" if source is ParameterSource.ENVIRONMENT else error.message
            return say("invalid value", name=param.get_error_hint(error.ctx), why=why)
        case click.NoSuchOption(option_name=name):
            return _suggest(say("no such option", name=name), error.possibilities)
        case click.NoSuchCommand(command_name=name):
            return _suggest(say("no such command", name=name), error.possibilities) + _guide(error)
        case click.BadOptionUsage(option_name=name, ctx=click.Context() as context):
            options = (one for one in context.command.params if isinstance(one, click.Option) and name in one.opts)
            is_flag = any(option.is_flag for option in options)
            return say("option takes no value" if is_flag else "option needs a value", name=name)
    return error.format_message()


def _suggest(message: str, possible: Sequence[str] | None) -> str:
    if not possible:
        return message
    quoted = [f"'{word}'" for word in possible]
    return f"{message} {say('did you mean', word=', '.join(quoted))}"


def _guide(error: click.NoSuchCommand) -> str:
    """Return a sentence with the right command if a room or server was typed as a command; otherwise ""."""
    from tictactoe_client.online.address import parse_room
    from tictactoe_client.online.errors import BadAddress, BadRoomCode

    word = error.command_name
    if error.possibilities:
        return ""
    with suppress(BadAddress, BadRoomCode):
        parse_room(word)
        return f" {say('to join a room', command=f'{PROGRAM} join {word}')}"
    return f" {say('to play there', command=f'{PROGRAM} --server {word}')}" if ":" in word else ""
