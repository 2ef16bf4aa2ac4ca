"""Who wants to hear of something: any number of them, and one that fails harms no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, ParamSpec

import structlog

Told = ParamSpec("Told")

log: Final = structlog.get_logger(__name__)


class Listeners(Generic[Told]):
    """Call it to tell all listeners, in the order in which they were added."""

    def __init__(self) -> None:
        self._listeners: list[Callable[Told, object]] = []

    def add(self, listener: Callable[Told, object]) -> None:
        self._listeners.append(listener)

    def __call__(self, *told: Told.args, **named: Told.kwargs) -> None:
        for listener in self._listeners:
            try:
                listener(*told, **named)
            except Exception:
                log.exception("a listener failed")
