"""The command `tictactoe-server`, which runs a server or one of the other commands."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import fields
from typing import Any, Final

import click
import platformdirs

from tictactoe_protocol import PROTOCOL_VERSION
from tictactoe_protocol.text import find_undecodable
from tictactoe_server import __version__
from tictactoe_server.admin.control import NoServer
from tictactoe_server.admin.orders.order import OrderRefused
from tictactoe_server.cli.access import chosen_folder
from tictactoe_server.cli.cluster import cluster
from tictactoe_server.cli.data import backup, check, move, recover, restore
from tictactoe_server.cli.log import set_up_logging, tell
from tictactoe_server.cli.orders import ORDER_COMMANDS
from tictactoe_server.cli.process import run
from tictactoe_server.http.branding import CannotUse
from tictactoe_server.settings import OPTIONS, SECTIONS, Limits, LogFormat, Settings, with_counts
from tictactoe_server.storage.store import CannotMove, CannotOpenStore
from tictactoe_server.transport.certificate import CannotUseCertificate
from tictactoe_server.transport.listen import CannotListen

_CANNOT: Final = (CannotUse, CannotListen, CannotUseCertificate, CannotOpenStore, CannotMove, NoServer, OrderRefused)
"""Errors with a sentence for the operator."""

_OWN_FOLDER: str | None = None  # without a home folder, --data is required
with contextlib.suppress(RuntimeError):
    _OWN_FOLDER = platformdirs.user_data_dir("tictactoe", appauthor=False)

_DATA: Final = click.Option(
    ["--data"],
    metavar="DIR",
    default=_OWN_FOLDER,
    required=_OWN_FOLDER is None,
    show_default=True,
    help="Folder that keeps rooms, players and finished games; :memory: keeps nothing.",
)


def _fields_of(kind: type[Settings | Limits], chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the chosen values of a class's fields; "" means None."""
    names = {one.name for one in fields(kind)}
    return {name: None if value == "" else value for name, value in chosen.items() if name in names}


class _Program(click.Group):
    """Prints an expected error as one line, and exits with code 1."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        if undecodable := find_undecodable(args, os.environ):
            raise click.UsageError(f'"{undecodable}" has bytes that are not UTF-8.')
        return super().make_context(info_name, args, *rest, **more)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        records = {one.opts[-1].lstrip("-"): one.get_help_record(context) for one in self.get_params(context)}
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([record for name in names.split() if (record := records[name])])
        self.format_commands(context, formatter)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except _CANNOT as error:
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
    params=[_DATA, *OPTIONS.values()],
)
@click.option("--with-parent", is_flag=True, hidden=True, help="Stop when standard input ends: for a parent process.")
@click.version_option(__version__, message=f"tictactoe-server %(version)s (protocol {PROTOCOL_VERSION})")
@click.pass_context
def main(context: click.Context, /, **values: Any) -> None:
    """Host games of tic-tac-toe and its whole family.

    Players on any machine join with tictactoe-client. Ctrl-C stops the server: everybody is told, and it ends.

    \b
    Examples:
      tictactoe-server                      all addresses, port 8765
      tictactoe-server --host 127.0.0.1     this machine alone
      tictactoe-server --port 0             any free port
      tictactoe-server --data :memory:      nothing is kept
      tictactoe-server status               how a running server is
      tictactoe-server backup FILE          copy a running server's data
      tictactoe-server cluster check        how the store of several servers is

    Each option has an environment variable, such as TICTACTOE_TLS_CERT for --tls-cert.
    """
    if context.invoked_subcommand is not None:
        return
    chosen = {filled: values[str(option.name)] for filled, option in OPTIONS.items()}
    chosen["data"] = chosen_folder(context, None)
    settings = Settings(**_fields_of(Settings, chosen))
    if (settings.tls_cert is None) is not (settings.tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together: one is missing.")
    if settings.trust_header and not settings.trusted_proxies:
        raise click.UsageError("--trust-header needs --trusted-proxy: anybody else could bear any name.")
    if settings.store and settings.advertise is None and settings.host in (None, "0.0.0.0", "::"):
        raise click.UsageError(
            "--store needs --advertise URL, where players reach this very server, unless --host is one address."
        )
    if settings.backup_to and settings.store:
        raise click.UsageError(
            "--backup-to copies the folder of --data. What a store of several servers keeps, `move` copies."
        )
    if settings.backup_to and settings.data is None:
        raise click.UsageError("--backup-to needs --data: with :memory: there is nothing to copy.")
    set_up_logging(settings.log_format, settings.log_level)
    try:
        limits = with_counts(Limits(**_fields_of(Limits, chosen)), dict(chosen["limit"]))
        run(settings, limits, with_parent=values["with_parent"])
    except KeyboardInterrupt:
        sys.exit(0)


for command in (backup, restore, recover, check, move, cluster, *ORDER_COMMANDS):
    main.add_command(command)
