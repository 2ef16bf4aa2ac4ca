"""Challenges and blocks as a feature. A server that hides players' names has neither."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tictactoe_server.core.core import Service
from tictactoe_server.features.challenges.blocks import Blocking
from tictactoe_server.features.challenges.service import Challenges
from tictactoe_server.features.feature import Feature, Parts


def _make(parts: Parts) -> Iterable[Service]:
    blocking = Blocking()
    return () if parts.settings.hides_names else (blocking, Challenges(parts.drain, blocking))


FEATURE: Final = Feature(make=_make, tables=(*Blocking.tables, *Challenges.tables))
