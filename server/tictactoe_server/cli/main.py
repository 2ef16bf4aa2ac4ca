"""The command `tictactoe-server`: options in, a running server or another command, and what went wrong in a line."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

import click
import platformdirs

from tictactoe_protocol import DEFAULT_PORT, PROTOCOL_VERSION
from tictactoe_server import __version__
from tictactoe_server.cli.cluster import cluster
from tictactoe_server.cli.data import backup, check, restore
from tictactoe_server.cli.folders import Place
from tictactoe_server.cli.log import LEVELS, set_up_logging, tell
from tictactoe_server.cli.move import move
from tictactoe_server.cli.orders import ORDERS
from tictactoe_server.cli.process import run
from tictactoe_server.settings import COUNTS, Limits, LogFormat, Settings, with_counts
from tictactoe_server.storage.store import CannotOpenStore
from tictactoe_server.transport.certificate import CannotUseCertificate
from tictactoe_server.transport.listen import CannotListen

_DEFAULTS: Final = Settings()
_LIMITS: Final = Limits()
_MAX_DIGITS: Final = 9
_DEFAULT_DATA: Final = platformdirs.user_data_dir("tictactoe", appauthor=False)


def _seconds_option(
    name: str, default: float, least: float, most: float | None, words: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return an option that takes a number of seconds."""
    return click.option(
        name,
        type=click.FloatRange(least, most),
        default=default,
        show_default=True,
        show_envvar=True,
        metavar="SECONDS",
        help=words,
    )


class _Limit(click.ParamType):  # type: ignore[type-arg]  # older versions of click know no argument
    """``NAME=NUMBER``, as a pair."""

    name = "limit"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the name and the number; fails with the names that there are."""
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).partition("=")
        if name not in COUNTS:
            near = difflib.get_close_matches(name, COUNTS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COUNTS)}."
            self.fail(f"There is no limit {name!r}: {hint}", param, ctx)
        if not number.isascii() or not number.isdigit() or len(number) > _MAX_DIGITS:
            self.fail(f"{value!r} names no number from 0, as in {name}=100.", param, ctx)
        return name, int(number)


class _Network(click.ParamType):  # type: ignore[type-arg]  # older versions of click know no argument
    """An address or a network, as in 10.0.0.0/8."""

    name = "cidr"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Network | IPv6Network:
        """Return the network."""
        if isinstance(value, IPv4Network | IPv6Network):
            return value
        try:
            return ip_network(str(value), strict=False)
        except ValueError:
            self.fail(f"{value!r} is no address and no network, such as 10.0.0.0/8.", param, ctx)


class _Origin(click.ParamType):  # type: ignore[type-arg]  # older versions of click know no argument
    """What a browser calls the place that a page is from, as in https://play.example."""

    name = "origin"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the origin."""
        text = str(value).rstrip("/")
        try:
            parts = urlsplit(text)
            is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_whole = False
        if not is_whole or text != f"{parts.scheme}://{parts.netloc}":
            self.fail(f"{value!r} is no origin, such as https://play.example.", param, ctx)
        return text


def _advertised(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Return the URL with the scheme of a WebSocket and without a slash at its end."""
    if not text:
        return None
    scheme, separator, rest = text.partition("://")
    found = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}.get(scheme.lower())
    try:
        parts = urlsplit(text)
        is_whole = bool(parts.hostname) and parts.port != 0 and not (parts.query or parts.fragment or parts.username)
    except ValueError:
        is_whole = False
    if not separator or found is None or not is_whole:
        raise click.BadParameter(f'"{text}" is no URL as in ws://10.0.0.11:8765 or wss://play.example/s1.')
    return f"{found}://{rest.rstrip('/')}"


def _metrics_address(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    """Return the host and port that `--metrics` names, in brackets where the host is an IPv6 address."""
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise click.BadParameter(f"{value!r} is no HOST:PORT, as in 127.0.0.1:9100.")
    return host.removeprefix("[").removesuffix("]"), int(port)


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "TICTACTOE"},
)
@click.option(
    "--data",
    metavar="DIR",
    default=_DEFAULT_DATA,
    show_default=True,
    show_envvar=True,
    help="Folder that keeps rooms, players and finished games; :memory: keeps nothing.",
)
@click.option("--host", metavar="ADDRESS", show_envvar=True, help="Address to listen on. [default: all, IPv4 and IPv6]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    show_envvar=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--tls-cert",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_envvar=True,
    help="Speak TLS (wss://) with this certificate, in PEM, its chain included; a renewed file is taken up by itself.",
)
@click.option(
    "--tls-key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_envvar=True,
    help="The key of --tls-cert, in PEM and without a pass phrase.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    show_envvar=True,
    help="How log lines on stderr look.",
)
@click.option(
    "--log-level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="info",
    show_default=True,
    show_envvar=True,
    help="The least important lines to log.",
)
@_seconds_option(
    "--hold",
    _DEFAULTS.hold_seconds,
    0,
    86_400,
    "How long a dropped player's seat is kept before the opponent may claim the game.",
)
@_seconds_option(
    "--bot-pause",
    _DEFAULTS.bot_pause_seconds,
    0,
    60,
    "How long bots wait before they move, as a person would; 0 for machines.",
)
@_seconds_option("--bot-deadline", _DEFAULTS.bot_deadline_seconds, 0.05, 60, "How long a bot may think about a move.")
@click.option(
    "--bot-workers",
    type=click.IntRange(1, 256),
    show_envvar=True,
    metavar="NUMBER",
    help="Processes in which bots think. [default: one less than the cores, at least 1]",
)
@_seconds_option(
    "--keep-room",
    _LIMITS.deserted_seconds,
    1,
    None,
    "How long a room that no player is connected to is kept while it waits or its game is over.",
)
@_seconds_option(
    "--keep-game",
    _LIMITS.deserted_game_seconds,
    1,
    None,
    "How long a running game is kept that all have left without a word.",
)
@click.option(
    "--limit",
    type=_Limit(),
    multiple=True,
    metavar="NAME=NUMBER",
    show_envvar=True,
    help="How many of something there may be, 0 for no limit; may be given more than once.",
)
@click.option(
    "--origin",
    type=_Origin(),
    multiple=True,
    metavar="ORIGIN",
    show_envvar=True,
    help="Web pages of this origin may connect, too, as in https://play.example; may be given more than once.",
)
@click.option(
    "--trusted-proxy",
    type=_Network(),
    multiple=True,
    metavar="CIDR",
    show_envvar=True,
    help="Believe peers of this network for whom they speak; may be given more than once.",
)
@click.option(
    "--announce-as",
    metavar="NAME",
    show_envvar=True,
    help="The name under which players on this network find the server. [default: this machine's name]",
)
@click.option("--no-announce", is_flag=True, show_envvar=True, help="Let nobody find the server without its address.")
@click.option(
    "--keep-history",
    type=click.FloatRange(0),
    show_envvar=True,
    metavar="DAYS",
    help="How long finished games are kept. [default: for good]",
)
@click.option(
    "--metrics",
    metavar="HOST:PORT",
    show_envvar=True,
    callback=_metrics_address,
    help="Show figures for Prometheus on this address.",
)
@click.option(
    "--store",
    metavar="URLS",
    show_envvar=True,
    help="Keep everything in these NATS servers, for several servers at once, as in nats://a,b,c; "
    "--data then keeps a copy of the finished games alone.",
)
@click.option(
    "--store-credentials",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_envvar=True,
    help="Who this server is to --store: a user's credentials, or the seed of an nkey.",
)
@click.option(
    "--store-ca",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_envvar=True,
    help="Certificates to trust for --store instead of the system's, in PEM.",
)
@click.option(
    "--store-unsafe",
    is_flag=True,
    show_envvar=True,
    help="Use --store even where it may lose moves that it has acknowledged, and say so.",
)
@click.option(
    "--advertise",
    metavar="URL",
    show_envvar=True,
    callback=_advertised,
    help="With --store: where players reach this very server, as in ws://10.0.0.11:8765 or wss://play.example/s1. "
    "Needed unless --host is one address.",
)
@click.option(
    "--page/--no-page",
    default=True,
    show_default=True,
    show_envvar=True,
    help="Whether browsers are shown the page on the same port, and others rooms and games as text.",
)
@click.option("--with-parent", is_flag=True, hidden=True, help="Stop when standard input ends: for a parent process.")
@click.version_option(__version__, message=f"tictactoe-server %(version)s (protocol {PROTOCOL_VERSION})")
@click.pass_context
def main(
    context: click.Context,
    data: str,
    host: str | None,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    log_format: str,
    log_level: str,
    hold: float,
    bot_pause: float,
    bot_deadline: float,
    bot_workers: int | None,
    keep_room: float,
    keep_game: float,
    limit: Sequence[tuple[str, int]],
    origin: Sequence[str],
    trusted_proxy: Sequence[IPv4Network | IPv6Network],
    announce_as: str | None,
    no_announce: bool,
    keep_history: float | None,
    metrics: tuple[str, int] | None,
    store: str | None,
    store_credentials: Path | None,
    store_ca: Path | None,
    store_unsafe: bool,
    advertise: str | None,
    page: bool,
    with_parent: bool,
) -> None:
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
    """
    context.obj = place = Place(data, port)
    if context.invoked_subcommand is not None:
        return
    if (tls_cert is None) is not (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together: one is missing.")
    if store and advertise is None and host in (None, "", "0.0.0.0", "::"):
        raise click.UsageError(
            "--store needs --advertise URL, where players reach this very server, unless --host is one address."
        )
    settings = Settings(
        host or None,
        port,
        cast(LogFormat, log_format),
        log_level,
        hold,
        bot_pause,
        bot_deadline,
        bot_workers,
        place.folder,
        tuple(origin),
        tuple(trusted_proxy),
        tls_cert,
        tls_key,
        metrics,
        not no_announce,
        announce_as,
        keep_history,
        store or None,
        store_credentials,
        store_ca,
        store_unsafe,
        page,
        advertise,
    )
    limits = with_counts(Limits(deserted_seconds=keep_room, deserted_game_seconds=keep_game), dict(limit))
    set_up_logging(settings.log_format, settings.log_level)
    try:
        run(settings, limits, with_parent=with_parent)
    except (CannotListen, CannotUseCertificate, CannotOpenStore) as error:
        tell(f"tictactoe-server: {error}", settings.log_format, "error")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)


for command in (backup, restore, check, move, cluster, *ORDERS):
    main.add_command(command)
