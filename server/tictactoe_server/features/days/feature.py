"""The feature of games over days."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tictactoe_server.core.core import Service
from tictactoe_server.features.days.service import DAY_GAMES, DayGames
from tictactoe_server.features.feature import Feature, Parts


def _make(parts: Parts) -> Iterable[Service]:
    return [DayGames()]


FEATURE: Final = Feature(make=_make, tables=(DAY_GAMES,))
