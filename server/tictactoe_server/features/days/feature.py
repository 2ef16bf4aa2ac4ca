"""The feature of games over days."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tictactoe_server.core.core import Service
from tictactoe_server.features.days.chats import CHATS, Chats
from tictactoe_server.features.days.https import HttpsPoster, parse_hosts
from tictactoe_server.features.days.notices import NOTICES, PUSH_KEYS, Notifier
from tictactoe_server.features.days.plans import PLANS, Plans
from tictactoe_server.features.days.service import DAY_GAMES, DayGames
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.settings import Options, list_option


@dataclass(frozen=True, slots=True)
class DayOptions(Options):
    """Where messages to players who are away may be sent."""

    section = "Games over days"

    webhook_hosts: tuple[tuple[str, ...], ...] = list_option(
        "Let players have messages sent to webhooks at these hosts, such as discord.com,hooks.slack.com.",
        parse_hosts,
        "HOSTS",
        "webhook-hosts",
    )


def make(parts: Parts, poster: HttpsPoster | None = None) -> Iterable[Service]:
    """Return the services of this feature; `poster` replaces the part that sends messages."""
    poster = poster or HttpsPoster([host for some in parts.settings.of(DayOptions).webhook_hosts for host in some])
    days = DayGames(parts.core)
    return (days, Plans(parts.core, days), Chats(parts.core), Notifier(parts, days, poster))


FEATURE: Final = Feature(make=make, tables=(DAY_GAMES, PLANS, CHATS, NOTICES, PUSH_KEYS), options=DayOptions)
