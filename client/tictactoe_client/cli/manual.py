"""How `--help` reads: a paragraph, options by what they are about, examples that work as they stand, and what else.

Only the group's page explains the options of all commands, exit codes, files and variables; the pages of the commands
name them and point to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from tictactoe_client.files.config import config_path, show_path
from tictactoe_client.files.writer import state_folder
from tictactoe_client.options import SECTIONS, suggest

PROGRAM: Final = "tictactoe-client"

COMPLETION_VARIABLE: Final = "_TICTACTOE_CLIENT_COMPLETE"

PAGES: Final = "docs"
"""Where the pages about the program stand, in its source."""

_SECTIONS: Final = {
    **{title: tuple(option.name for option in options) for title, options in SECTIONS.items()},
    "About": ("version", "help"),
}
"""The options that every command takes, by their long names."""

_COMMON: Final = tuple(name for names in _SECTIONS.values() for name in names)

EXIT_CODES: Final = (
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

ENVIRONMENT: Final = (
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
        options = self._options(ctx)
        own = [option for name, option in options.items() if name not in _COMMON]
        _write_options(ctx, formatter, "Options", own)

    def _options(self, ctx: click.Context) -> dict[str, click.Option]:
        """Return all options by their long names."""
        return {
            max(parameter.opts, key=len).lstrip("-"): parameter
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
        }

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, the names of the options that all commands take, and where the rest stands."""
        _write_lines(formatter, "Examples", [f"{PROGRAM} {example}".rstrip() for example in self.examples])
        with formatter.section("Common options"):
            formatter.write_text(" ".join(f"--{name}" for name in _COMMON))
        formatter.write(f"\nWhat they mean, exit codes, files and environment: {PROGRAM} --help\n")


class ManualGroup(Manual, click.Group):
    """The program: its commands in the order in which they were made, and all that counts for every one of them."""

    command_class = Manual

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
            hint = suggest(name.lower(), self.list_commands(ctx), quote="'")
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options that all of them take."""
        self.format_commands(ctx, formatter)
        options = self._options(ctx)
        for title, names in _SECTIONS.items():
            _write_options(ctx, formatter, title, [options[name] for name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and what counts for every command."""
        _write_lines(formatter, "Examples", [f"{PROGRAM} {example}".rstrip() for example in self.examples])
        files = (
            (show_path(config_path()), "your own defaults, see the command config"),
            (show_path(state_folder()), "seats to come back to, and who one is on each server; both are secret"),
        )
        for title, rows in (("Environment", ENVIRONMENT), ("Files", files), ("Exit codes", EXIT_CODES)):
            with formatter.section(title):
                formatter.write_dl(rows, col_max=40)
        formatter.write(f"\nMessages of --json: {PAGES}/protocol.md and, of the client's own, {PAGES}/client.md\n")


def _write_lines(formatter: click.HelpFormatter, title: str, lines: Sequence[str]) -> None:
    """Write lines as they are, never wrapped."""
    if lines:
        with formatter.section(title):
            for line in lines:
                formatter.write(f"{' ' * formatter.current_indent}{line}\n")


def _write_options(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, options: Sequence[click.Option]
) -> None:
    records = (option.get_help_record(ctx) for option in options)
    rows = [record for record in records if record is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)
