"""The command `tictactoe-server`: options in, a running server, and words for the operator."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, cast

import click

from tictactoe_protocol import DEFAULT_PORT, PROTOCOL_VERSION
from tictactoe_server import __version__
from tictactoe_server.listen import CannotListen, address_for_others, url_of
from tictactoe_server.log import LEVELS, set_up_logging
from tictactoe_server.server import Server
from tictactoe_server.settings import LogFormat, Settings

_DEFAULTS: Final = Settings()


@click.command(context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "TICTACTOE"})
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
@click.option(
    "--bot-pause",
    type=click.FloatRange(0, 60),
    default=_DEFAULTS.bot_pause_seconds,
    show_default=True,
    show_envvar=True,
    metavar="SECONDS",
    help="How long bots wait before they move, as a person would; 0 for machines.",
)
@click.option(
    "--bot-deadline",
    type=click.FloatRange(0.05, 60),
    default=_DEFAULTS.bot_deadline_seconds,
    show_default=True,
    show_envvar=True,
    metavar="SECONDS",
    help="How long a bot may think about a move.",
)
@click.option(
    "--bot-workers",
    type=click.IntRange(1, 256),
    show_envvar=True,
    metavar="NUMBER",
    help="Processes in which bots think. [default: one less than the cores, at least 1]",
)
@click.option("--with-parent", is_flag=True, hidden=True, help="Stop when standard input ends: for a parent process.")
@click.version_option(__version__, message=f"tictactoe-server %(version)s (protocol {PROTOCOL_VERSION})")
def main(
    host: str | None,
    port: int,
    log_format: str,
    log_level: str,
    bot_pause: float,
    bot_deadline: float,
    bot_workers: int | None,
    *,
    with_parent: bool,
) -> None:
    """Host games of tic-tac-toe and its whole family.

    Players on any machine join with tictactoe-client. Ctrl-C stops the server: everybody is told, and it ends.

    \b
    Examples:
      tictactoe-server                      all addresses, port 8765
      tictactoe-server --host 127.0.0.1     this machine alone
      tictactoe-server --port 0             any free port
    """
    settings = Settings(
        host or None, port, cast(LogFormat, log_format), log_level, bot_pause, bot_deadline, bot_workers
    )
    set_up_logging(settings.log_format, settings.log_level)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_run(settings, with_parent=with_parent))
    except CannotListen as error:
        click.echo(f"tictactoe-server: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)


async def _run(settings: Settings, *, with_parent: bool) -> None:
    """Serve until a signal says stop, `with_parent` also until standard input ends."""
    stop = asyncio.Event()
    _on_signals(stop.set)
    if with_parent:
        _on_end_of_input(stop.set)
    async with Server(settings) as server:
        _announce(settings.host, server.port)
        await stop.wait()
        click.echo("Stopping: everybody is told to come back.", err=True)


def _announce(host: str | None, port: int) -> None:
    """Print where to connect: the line that scripts wait for, and the one to send to a friend."""
    everywhere = host in (None, "0.0.0.0", "::")
    suffix = " (all addresses)" if everywhere else ""
    click.echo(f"Listening on {url_of(None if everywhere else host, port)}{suffix}")
    if everywhere and (address := address_for_others()):
        click.echo(f"From another machine on this network:  tictactoe-client --server {url_of(address, port)}")
    sys.stdout.flush()


def _on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(name, stop)
        except NotImplementedError:  # Windows
            signal.signal(name, lambda *_: loop.call_soon_threadsafe(stop))


def _on_end_of_input(stop: Callable[[], None]) -> None:
    """Call `stop` when standard input ends, as it does with the process that holds its other end."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="standard input", daemon=True).start()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's factory where uvloop exists, else None for asyncio's own loop."""
    with contextlib.suppress(ImportError):
        import uvloop

        return cast(Any, uvloop).new_event_loop  # type: ignore[no-any-return]
    return None
