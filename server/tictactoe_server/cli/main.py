"""The command `tictactoe-server`, which runs a server or a subcommand."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Final, TypeVar

import click
import platformdirs

from tictactoe_protocol import PROTOCOL_VERSION
from tictactoe_protocol.text import find_undecodable
from tictactoe_server import OperatorError, __version__
from tictactoe_server.cli.process import run
from tictactoe_server.features.all import FEATURES
from tictactoe_server.operator.commands import chosen_folder, make_commands
from tictactoe_server.operator.control import ORDERS
from tictactoe_server.operator.log import set_up_logging, tell
from tictactoe_server.server import kept_by
from tictactoe_server.settings import LIMIT, SECTIONS, Limits, LogFormat, Settings, options_of, with_counts
from tictactoe_words.catalogue import say

Kind = TypeVar("Kind")

_OWN_FOLDER: str | None = None  # without a home folder, --data is required
with contextlib.suppress(RuntimeError):
    _OWN_FOLDER = platformdirs.user_data_dir("tictactoe", appauthor=False)

_DATA: Final = click.Option(
    ["--data"],
    metavar="DIR",
    default=_OWN_FOLDER,
    required=_OWN_FOLDER is None,
    show_default=True,
    help="Store rooms, players and finished games in this folder; :memory: stores nothing on disk.",
)


_KINDS: Final = [feature.options for feature in FEATURES if feature.options is not None]
_OPTIONS: Final = {kind: options_of(kind) for kind in (Settings, Limits, *_KINDS)}
"""For each class of settings, the options by the names of the fields that they set."""


def list_sections() -> dict[str, list[click.Parameter]]:
    """Return the sections of the help, by heading: first the general options, then the options of each feature."""
    own = (_DATA, LIMIT, *_OPTIONS[Settings].values(), *_OPTIONS[Limits].values())
    options = {one.opts[-1].removeprefix("--"): one for one in own}
    sections: dict[str, list[click.Parameter]] = {}
    for heading, names in SECTIONS.items():
        sections[heading] = [options[name] for name in names.split()]
    for kind in _KINDS:
        sections[kind.section] = [*_OPTIONS[kind].values()]
    return sections


def _fill(kind: type[Kind], values: dict[str, Any], **more: Any) -> Kind:
    """Return an instance of `kind`, a class of settings, with the values of its options.

    Args:
        values: The values by the names of the options; "" counts as None.
        more: Fields that no option sets.
    """
    chosen = {filled: values[str(option.name)] for filled, option in _OPTIONS[kind].items()}
    return kind(**{filled: None if value == "" else value for filled, value in chosen.items()}, **more)


class _Program(click.Group):
    """Prints an expected error as a single line and exits with code 1."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        if undecodable := find_undecodable(args, os.environ):
            raise click.UsageError(say("not utf-8", text=undecodable))
        return super().make_context(info_name, args, *rest, **more)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections = list_sections()
        known = [option for options in sections.values() for option in options]
        sections["About"] = [one for one in self.get_params(context) if one not in known]
        for heading, options in sections.items():
            with formatter.section(heading):
                formatter.write_dl([record for option in options if (record := option.get_help_record(context))])
        self.format_commands(context, formatter)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except OperatorError as error:
            log_format: LogFormat = "text" if context.invoked_subcommand else context.params["log_format"]
            tell(f"tictactoe-server: {error}", log_format, "error")
            sys.exit(1)


@click.group(
    cls=_Program,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "TICTACTOE",
        "max_content_width": 100,
    },
    params=[_DATA, LIMIT, *(option for options in _OPTIONS.values() for option in options.values())],
)
@click.option("--with-parent", is_flag=True, hidden=True, help="Stop when standard input is closed.")
@click.version_option(__version__, message=f"tictactoe-server %(version)s (protocol {PROTOCOL_VERSION})")
@click.pass_context
def main(context: click.Context, /, **values: Any) -> None:
    """Run a server for tic-tac-toe and related games.

    Players connect with tictactoe-client or a browser. Ctrl-C stops the server after notifying all players.

    \b
    Examples:
      tictactoe-server                      listen on all addresses, port 8765
      tictactoe-server --host 127.0.0.1     accept connections from this machine only
      tictactoe-server --port 0             listen on any free port
      tictactoe-server --data :memory:      store nothing on disk
      tictactoe-server status               show the status of the running server
      tictactoe-server backup FILE          back up the data of the running server
      tictactoe-server cluster check        check the health of a cluster

    Every option can also be set by an environment variable, such as TICTACTOE_TLS_CERT for --tls-cert.
    """
    if context.invoked_subcommand is not None:
        context.obj = kept_by()
        return
    features = tuple(_fill(kind, values) for kind in _KINDS)
    settings = _fill(Settings, values, data=chosen_folder(context, None), features=features)
    if (settings.tls_cert is None) is not (settings.tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key must be given together.")
    if settings.trust_header and not settings.trusted_proxies:
        raise click.UsageError("--trust-header requires --trusted-proxy; otherwise anybody could use any name.")
    for options in features:
        options.check(settings)
    set_up_logging(settings.log_format, settings.log_level)
    try:
        limits = with_counts(_fill(Limits, values), dict(values["limit"]))
        run(settings, limits, with_parent=values["with_parent"])
    except KeyboardInterrupt:
        sys.exit(0)


for command in (command for feature in FEATURES for command in feature.commands):
    main.add_command(command)
for command in make_commands((*ORDERS, *(kind for feature in FEATURES for kind in feature.orders))):
    main.add_command(command)
