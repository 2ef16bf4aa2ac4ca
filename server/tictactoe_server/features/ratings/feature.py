"""Rated games as a feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from click import BadParameter

from tictactoe_engine import PRESETS
from tictactoe_server.core.core import Service
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.ratings.orders import ORDERS
from tictactoe_server.features.ratings.pages import LadderPages
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.settings import Options, option

_LADDERS: Final = ("gomoku-standard", "four-pie", "connect-four", "four")


def _parse_ladders(text: str) -> tuple[str, ...]:
    names = () if text == "off" else tuple(text.split(","))
    for name in names:
        if name not in PRESETS:
            raise BadParameter(f"There are no rules {name!r}: there are {', '.join(PRESETS)}.")
        if len(PRESETS[name].marks) != 2:
            raise BadParameter(f"{name} has {len(PRESETS[name].marks)} players, and only games of two are rated.")
    return names


@dataclass(frozen=True, slots=True)
class RatingOptions(Options):
    """The presets with rated games."""

    section = "Rated games"

    ladders: tuple[str, ...] = option(
        "Rules with rated games, as in connect-four,four; off for none. With --lobby marks there are none.",
        _parse_ladders,
        "off|NAMES",
        default=_LADDERS,
        typed=",".join(_LADDERS),
    )


def _make(parts: Parts) -> Iterable[Service]:
    ladders = Ladders(() if parts.settings.hides_names else parts.settings.of(RatingOptions).ladders)
    return (ladders, LadderPages(ladders))


FEATURE: Final = Feature(make=_make, tables=Ladders.tables, orders=ORDERS, options=RatingOptions)
