"""Logs on stderr, one line per event, as text or as JSON. Tracebacks do not show the values of variables.

Writing a line must take only microseconds, because games write logs on the event loop.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
import threading
import time
from functools import lru_cache
from types import TracebackType
from typing import Any, Final

import click
import msgspec
import structlog
from structlog.typing import EventDict, Processor

from tictactoe_server import clock
from tictactoe_server.settings import LogFormat

_TEXT_TIME: Final = "%Y-%m-%d %H:%M:%SZ"
_needs_quotes: Final = re.compile(r"[ \t=\r\n\"']").search
_encode: Final = msgspec.json.Encoder(enc_hook=repr).encode
_log: Final = structlog.get_logger("tictactoe_server")


def set_up_logging(log_format: LogFormat, level: str) -> None:
    """Write the server's events, libraries' logs, warnings and uncaught exceptions to stderr in the same format."""
    preparing: list[Processor] = [structlog.processors.format_exc_info]
    render: Processor = _render_plain
    if log_format == "json":
        stamp = structlog.processors.TimeStamper("iso")
        preparing = [structlog.stdlib.add_logger_name, structlog.stdlib.add_log_level, stamp, *preparing]
        render = _render_json
    elif sys.stderr.isatty():
        preparing = [_add_unusual_level, structlog.processors.TimeStamper(fmt=_TEXT_TIME, utc=True)]
        plain = structlog.dev.plain_traceback  # by default `rich` shows local variables, which may be tokens
        render = structlog.dev.ConsoleRenderer(
            pad_event_to=0, pad_level=False, sort_keys=False, exception_formatter=plain
        )
    handler = logging.StreamHandler(sys.stderr)
    clean = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=[*preparing, clean, render]))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(True)
    # The library logs a traceback for every failed handshake; the server itself logs the important ones.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    # This harmless warning is logged whenever another library's TLS connection ends.
    logging.getLogger("asyncio").addFilter(lambda line: "eof_received() has no effect" not in line.getMessage())
    structlog.configure(
        processors=[*preparing, render],
        logger_factory=_LineWriter,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda caught: _log_uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)
    sys.unraisablehook = lambda caught: _log_uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)


class _LineWriter:
    """Writes a module's lines to stderr. Lines that cannot be written, for instance to a full disk, are dropped."""

    _lock: Final = threading.RLock()  # reentrant, because a finalizer may log while a line is written

    def __init__(self, name: str = "") -> None:
        self.name = name

    def write(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError, RuntimeError), self._lock:
            sys.stderr.write(f"{line}\n")

    debug = info = warning = error = critical = write


@lru_cache(maxsize=1)
def _show_second(now: int) -> str:
    return time.strftime(_TEXT_TIME, time.gmtime(now))


def _add_unusual_level(logger: Any, level: str, event: EventDict) -> EventDict:
    if level != "info":
        event["level"] = level
    return event


def _render_plain(logger: Any, level: str, event: EventDict) -> str:
    """Return a line as structlog's ConsoleRenderer formats it, but without colours and ten times faster."""
    exception = event.pop("exception", None)
    line = _show_second(int(clock.wall()))
    line += f" {event.pop('event')}" if level == "info" else f" [{level}] {event.pop('event')}"
    for name, value in event.items():
        is_bare = isinstance(value, str) and not _needs_quotes(value)
        line += f" {name}={value if is_bare else repr(value)}"
    return line if exception is None else f"{line}\n{exception}"


def _render_json(logger: Any, level: str, event: EventDict) -> str:
    try:
        return _encode(event).decode()
    except (ValueError, OverflowError):  # a lone surrogate, as in a path that is not UTF-8, or a very large number
        return json.dumps(event, default=repr)


def tell(words: str, log_format: LogFormat, level: str = "info") -> None:
    """Print a sentence for the operator to stderr, or log it if logs are written as JSON."""
    if log_format == "json":
        _log.log(logging.getLevelNamesMapping()[level.upper()], words)
    else:
        click.echo(words, err=True)


def _log_uncaught(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
    if kind is not None and issubclass(kind, KeyboardInterrupt):
        return
    _log.error("unexpected error", exc_info=(kind, error, trace))
