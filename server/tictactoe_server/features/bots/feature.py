"""The feature for the bots and the demonstration game."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from click import IntRange

from tictactoe_server.core.core import Service
from tictactoe_server.features.bots.demo import Demo
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.service import Bots
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.settings import Options, option, seconds_option


@dataclass(frozen=True, slots=True)
class BotOptions(Options):
    """How bots play, and whether they play a demonstration game."""

    section = "Bots"

    pause_seconds: float = seconds_option(
        0.6, "Pause before each move of a bot, so that people can follow; 0 for none.", 0, 60, "bot-pause"
    )
    deadline_seconds: float = seconds_option(1.0, "Longest time for a bot's move.", 0.05, 60, "bot-deadline")
    workers: int | None = option(
        "Number of processes that compute bots' moves. [default: the number of cores less 1, but at least 1]",
        IntRange(1, 256),
        "NUMBER",
        name="bot-workers",
    )
    demo: bool = option(
        "Show a game between bots on the home page while nobody else is playing; it has the lowest priority.",
        default=True,
        name="demo/--no-demo",
    )


def make(parts: Parts, pool: ThinkingPool | None = None) -> Iterable[Service]:
    """Return the services of this feature; `pool` replaces the processes in which bots think."""
    options = parts.settings.of(BotOptions)
    pool = pool or ThinkingPool(options.workers, options.deadline_seconds)
    bots = Bots(pool, pause_seconds=options.pause_seconds)
    return (bots, pool, Demo(pool)) if options.demo else (bots, pool)


FEATURE: Final = Feature(make=make, options=BotOptions)
