"""Write the reference of options and commands from the definitions that `--help` uses.

`tools.schemas` writes the page with the other documents.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import click

from tictactoe_client.cli.commands import CommandElsewhere
from tictactoe_client.cli.main import cli
from tictactoe_client.cli.options import SHARED
from tictactoe_client.settings import FILE_OPTIONS, OPTIONS
from tictactoe_server.cli.main import list_sections, main
from tictactoe_words.catalogue import say, speak

_NOTE: Final = re.compile(r"\s*\[((?:default: |x>=|[\d.]+<=x)[^\]]*)\]")
_RANGE: Final = re.compile(r"([\d.]+)<=x<=([\d.]+)")
_ELSEWHERE: Final = {"data": "see [back up](../how-to/back-up.md#the-data-folder)"}
"""Defaults that differ between machines."""

_HEAD: Final = """# Options and commands

For operators, players and authors of scripts. Generated from the definitions behind `--help`; defaults and ranges are
in parentheses.

Each option has a variable, `TICTACTOE_` and its name: `TICTACTOE_TLS_CERT` for `--tls-cert`,
`TICTACTOE_NO_ANNOUNCE=1` for `--no-announce`, `TICTACTOE_PAGE=0` for `--no-page`. Values of a repeatable option are
separated by spaces."""

_OF_SERVER: Final = """`tictactoe-server COMMAND --help` explains a command's options. Commands that ask the running
server also take `--data DIR`, or `--port` of a server with `:memory:`, and `--json`; `cluster` and `move` take
`--store-credentials` and `--store-ca`, and `cluster` needs `--store`."""

_OF_CLIENT: Final = """These options can precede or follow any command. Unless marked †, they are also keys of
[`client.toml`](client.md#settings), with underscores: `no_color`."""

_OF_COMMANDS: Final = "`tictactoe-client COMMAND --help` has their own options, and examples."


def render_options() -> str:
    """Return the page of both programs' options and commands, in English."""
    speak("en")
    cli.put_into_words()
    of_client = {name: _load(cli.commands[name]) for names in cli.sections.values() for name in names}
    parts = [
        _HEAD,
        "## Options of the server",
        *_list_sections(list_sections(), of_client=False),
        "## Commands of the server",
        _OF_SERVER,
        _list_rows(dict(_list_commands(main))),
        "## Options of the client",
        _OF_CLIENT,
        *_list_sections({say(f"section {section}"): options for section, options in SHARED.items()}, of_client=True),
        "## Commands of the client",
        _OF_COMMANDS,
        _list_rows(of_client),
    ]
    return "\n\n".join(parts) + "\n"


def _list_sections(sections: Mapping[str, Sequence[click.Parameter]], *, of_client: bool) -> Iterator[str]:
    """Yield the heading and the list of each section."""
    for heading, options in sections.items():
        yield f"### {heading}"
        yield "\n".join(map(_describe_of_client if of_client else _describe, options))


def _describe(option: click.Parameter) -> str:
    """Return a line of a list: an option of the server, its default and range, and its sentences."""
    name, help = option.get_help_record(click.Context(main)) or ("", "")
    notes = [part.removeprefix("default: ") for note in _NOTE.findall(help) for part in note.split("; ")]
    values = [_RANGE.sub(r"\1-\2", note).replace("x>=", "at least ") for note in notes]
    return _join(f"`{name}`", _ELSEWHERE.get(str(option.name), "; ".join(values)), _NOTE.sub("", help))


def _describe_of_client(option: click.Parameter) -> str:
    """Return the same for an option of the client, marked unless it is a key of `client.toml`."""
    name, help = option.get_help_record(click.Context(cli)) or ("", "")
    default = OPTIONS[option.name].default if option.name in OPTIONS else None
    mark = "" if option.name in FILE_OPTIONS else " †"
    return _join(f"`{name}`{mark}", default if isinstance(default, str) else "", help)


def _join(name: str, values: str, sentences: str) -> str:
    return f"- {name} ({values}): {sentences}" if values else f"- {name}: {sentences}"


def _list_commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield all commands of a group and of its subgroups, with their full names."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _list_commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _load(command: click.Command) -> click.Command:
    return command.load() if isinstance(command, CommandElsewhere) else command


def _list_rows(commands: Mapping[str, click.Command]) -> str:
    """Return a list of commands: the arguments, and the first sentence of the help."""
    rows = []
    for name, command in commands.items():
        context = click.Context(command)
        words = [one.make_metavar(context) for one in command.params if isinstance(one, click.Argument)]
        rows.append(f"- `{' '.join((name, *words))}`: {command.get_short_help_str(1000)}")
    return "\n".join(rows)
