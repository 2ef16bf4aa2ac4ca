"""Logs on stderr, one line per event, as text or as JSON. Tracebacks do not show the values of variables.

Writing a line must take only tens of microseconds, because games write logs on the event loop.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from types import TracebackType
from typing import Any, Final

import click
import structlog
from structlog.typing import EventDict, Processor

from tictactoe_server.settings import LogFormat

_log: Final = structlog.get_logger("tictactoe_server")


def set_up_logging(log_format: LogFormat, level: str) -> None:
    """Write the server's events, libraries' logs, warnings and uncaught exceptions to stderr in the same format."""
    processors: list[Processor] = [
        _add_unusual_level,
        structlog.processors.TimeStamper("%Y-%m-%d %H:%M:%SZ"),
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            pad_event_to=0,
            pad_level=False,
            sort_keys=False,
            exception_formatter=structlog.dev.plain_traceback,  # `rich` shows local variables, which may be tokens
        ),
    ]
    if log_format == "json":
        processors = [
            structlog.stdlib.add_logger_name,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper("iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=repr),
        ]
    handler = logging.StreamHandler(sys.stderr)
    clean = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=[*processors[:-1], clean, processors[-1]]))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(True)
    # The library logs a traceback for every failed handshake; the server itself logs the important ones.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    # This harmless warning is logged whenever another library's TLS connection ends.
    logging.getLogger("asyncio").addFilter(lambda line: "eof_received() has no effect" not in line.getMessage())
    structlog.configure(
        processors=processors,
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


def _add_unusual_level(logger: Any, level: str, event: EventDict) -> EventDict:
    if level != "info":
        event["level"] = level
    return event


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
