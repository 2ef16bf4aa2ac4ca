"""Logs: one line an event on stderr, as text for people or as JSON for machines. No value of a variable is in them."""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType
from typing import Final

import click
import structlog

from tictactoe_server.settings import LogFormat

LEVELS: Final = ("debug", "info", "warning", "error")

_log: Final = structlog.get_logger("tictactoe_server")


def set_up_logging(log_format: LogFormat, level: str) -> None:
    """Send our own events, those of the libraries, warnings and what nobody caught to stderr in one format."""
    time_format = "iso" if log_format == "json" else "%Y-%m-%d %H:%M:%SZ"
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt=time_format, utc=True),
    ]
    renderer: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if log_format == "json":
        renderer += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        renderer += [
            _leave_out,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                pad_event_to=0,
                pad_level=False,
                sort_keys=False,
                # Where `rich` is installed the usual tracebacks show local variables, and tokens among them.
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(True)
    # The library logs every failed handshake of a stranger with its traceback: what matters of it we log ourselves.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    # Said at each end of a connection with TLS that another library has made, and of no consequence.
    logging.getLogger("asyncio").addFilter(lambda line: "eof_received() has no effect" not in line.getMessage())
    structlog.configure(
        processors=[
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda caught: _log_uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)
    sys.unraisablehook = lambda caught: _log_uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)


def _leave_out(
    logger: structlog.typing.WrappedLogger, name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Return the event without what is for machines: the name of the module, and a level that is the usual one."""
    event.pop("logger", None)
    if event.get("level") == "info":
        del event["level"]
    return event


def tell(words: str, log_format: LogFormat, level: str = "info") -> None:
    """Say a sentence to the operator on stderr, as it is or as a line of the log where that is for machines."""
    if log_format == "json":
        _log.log(logging.getLevelNamesMapping()[level.upper()], words)
    else:
        click.echo(words, err=True)


def _log_uncaught(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
    """Log what nobody caught."""
    if kind is not None and issubclass(kind, KeyboardInterrupt):
        return
    _log.error("something failed that nobody expected", exc_info=(kind, error, trace))
