"""How a command is made, and how one of another package is found: by an entry point, once it is asked for.

A command only reads its options; what does the work is imported then, so that `--help` imports no network.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from typing import Any, Final

import click

from tictactoe_client.cli.manual import Manual, Named, Words
from tictactoe_client.cli.options import settings_of
from tictactoe_client.files.writer import keeping_debug_log
from tictactoe_client.settings import OPTIONS, Settings
from tictactoe_client.streams import output
from tictactoe_engine import PRESETS

Begun = int | tuple[Settings, Coroutine[Any, Any, int]]
"""What is still to be done for a command line, or the exit code where nothing is."""

ENTRY_POINTS: Final = "tictactoe_client.commands"
"""The group in which a package names its commands; each is what `make_command` returns."""

LEVELS: Final = ("easy", "medium", "hard", "random", "rules", "perfect")
"""The computer's levels, in plain words and by strategy; the server has the last word."""
FILE: Final = click.Path(readable=False)
RULES: Final = Named(["--rules"], envvar="TICTACTOE_RULES", type=Words(PRESETS))
CLOCK: Final = Named(["--clock"], metavar="clock")


def make_command(
    name: str,
    work: str | Callable[..., int],
    examples: Sequence[str],
    *params: click.Parameter,
    needs_server: bool = True,
) -> Manual:
    """Return a command with parameters of its own.

    `work` is the module and the coroutine function that does it, imported when it is to be done, or a function that
    does it at once. Both are called with the settings and what this command alone takes.
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
    """The place of another package's command in the help; the package is imported where more than that is wanted."""

    def load(self) -> Manual:
        """Return the command itself; raises `click.NoSuchCommand` where no package has it."""
        from importlib.metadata import entry_points

        for entry_point in entry_points(group=ENTRY_POINTS, name=str(self.name)):
            command: Manual = entry_point.load()
            command.put_into_words()
            return command
        raise click.NoSuchCommand(str(self.name), ctx=click.get_current_context(silent=True))

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Let the command itself read its options."""
        return self.load().make_context(info_name, args, parent, **extra)
