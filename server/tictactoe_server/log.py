"""Logs: one line an event on stderr, as text for people or as JSON for machines."""

from __future__ import annotations

import logging
import sys
from typing import Final

import structlog

from tictactoe_server.settings import LogFormat

LEVELS: Final = ("debug", "info", "warning", "error")


def set_up_logging(log_format: LogFormat, level: str) -> None:
    """Send our own events and those of the libraries to stderr in one format."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if log_format == "json":
        renderer += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        renderer.append(structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # The library logs every failed handshake of a stranger with its traceback: what matters of it we log ourselves.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
