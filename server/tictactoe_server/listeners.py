"""Notifications between parts of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, ParamSpec

import structlog

Arguments = ParamSpec("Arguments")

log: Final = structlog.get_logger(__name__)


class Listeners(Generic[Arguments]):
    """Functions that are called one after another, in the order of their addition.

    If a listener raises an exception, the exception is logged and the remaining listeners are still called.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[Arguments, object]] = []

    def add(self, listener: Callable[Arguments, object]) -> None:
        self._listeners.append(listener)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> None:
        for listener in self._listeners:
            try:
                listener(*arguments, **named)
            except Exception:
                log.exception("a listener failed")
