"""The list of all features. Folders below `features/` never import a feature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Final

from tictactoe_server.admin.control import ORDERS
from tictactoe_server.admin.orders.order import Order
from tictactoe_server.core.core import Service, find_service
from tictactoe_server.features.api.service import Api
from tictactoe_server.features.api.streams import Streams
from tictactoe_server.features.backups.feature import FEATURE as BACKUPS
from tictactoe_server.features.boards.service import LobbyBoards
from tictactoe_server.features.bots.feature import FEATURE as BOTS
from tictactoe_server.features.challenges.feature import FEATURE as CHALLENGES
from tictactoe_server.features.cluster.feature import FEATURE as CLUSTER
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.metrics.feature import FEATURE as METRICS
from tictactoe_server.features.privacy.feature import FEATURE as PRIVACY
from tictactoe_server.features.ratings.feature import FEATURE as RATINGS
from tictactoe_server.features.reviews.service import Reviews
from tictactoe_server.features.salvage.commands import check, move, recover
from tictactoe_server.features.tournaments.orders import ORDERS as EVENT_ORDERS
from tictactoe_server.features.tournaments.service import Tournaments


def _make_api(parts: Parts) -> Iterable[Service]:
    streams = Streams()
    return streams, Api(streams)


def _make_tournaments(parts: Parts) -> Iterable[Service]:
    return [Tournaments(parts.drain, parts.note_seat, parts.service(Streams))]


def _make_previews(parts: Parts) -> Iterable[Service]:
    if not (parts.settings.page and all(map(find_spec, ("aggdraw", "ttf_opensans")))):
        return ()
    from tictactoe_server.features.previews.service import Previews

    return (Previews(find_service(parts.services, Tournaments), parts.title),)


FEATURES: Final = (
    Feature(make=_make_api),
    BACKUPS,
    Feature(commands=(recover, check, move)),
    PRIVACY,
    Feature(make=lambda parts: [Reviews(parts.pool)]),
    Feature(make=_make_tournaments, tables=Tournaments.tables, orders=EVENT_ORDERS),
    CHALLENGES,
    RATINGS,
    Feature(make=lambda parts: [LobbyBoards()]),
    BOTS,
    Feature(make=_make_previews),
    CLUSTER,
    METRICS,
)


def orders_of(features: Iterable[Feature]) -> Sequence[type[Order]]:
    """Return the orders of a server with these features."""
    return (*ORDERS, *(kind for feature in features for kind in feature.orders))
