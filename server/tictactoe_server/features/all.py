"""The features: parts of the product that a server can do without.

Folders below `features/` never import a feature. A feature has services, which add to the core through its hooks, and
names what it stores and which orders the operator can give.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final

from tictactoe_server.admin.control import ORDERS
from tictactoe_server.admin.drain import Drain
from tictactoe_server.admin.orders.order import Order
from tictactoe_server.core.core import Call, Service, find_service
from tictactoe_server.features.api.service import Api
from tictactoe_server.features.bots.demo import Demo
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.service import Bots
from tictactoe_server.features.privacy.orders import ForgetOrder
from tictactoe_server.features.privacy.service import Forgetting
from tictactoe_server.features.ratings.blocks import Blocking
from tictactoe_server.features.ratings.challenges import Challenges
from tictactoe_server.features.ratings.orders import ORDERS as RATING_ORDERS
from tictactoe_server.features.ratings.pages import LadderPages
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.features.reviews.service import Reviews
from tictactoe_server.features.tournaments.orders import ORDERS as EVENT_ORDERS
from tictactoe_server.features.tournaments.service import Tournaments
from tictactoe_server.sessions.session import Session
from tictactoe_server.settings import Settings
from tictactoe_server.storage.specs import Specs, TableSpec


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What the services of features are made with.

    Attributes:
        specs: Everything that the server stores.
        title: The title of the server's page, or "".
        pool: The worker processes that choose the bots' moves.
        check_device: Raises `Refused` unless the request's device may do irreversible things.
        note_seat: Makes the store remember a session's player as long as one with a seat.
        services: The services of the features before this one in the list.
    """

    settings: Settings
    specs: Specs
    title: str
    drain: Drain
    pool: ThinkingPool
    check_device: Callable[[Call], Awaitable[None]]
    note_seat: Callable[[Session], None]
    services: list[Service] = field(default_factory=list)


@dataclass(frozen=True)
class Feature:
    """A part of the product that a server can do without.

    Attributes:
        make: Returns the services that a server has.
        tables: What the feature stores.
        orders: What the operator can order.
    """

    make: Callable[[Parts], Iterable[Service]]
    tables: Sequence[TableSpec[Any]] = ()
    orders: Sequence[type[Order]] = ()


def _make_ratings(parts: Parts) -> Iterable[Service]:
    ladders, blocking = Ladders(), Blocking()
    challenges = () if parts.settings.hides_names else (blocking, Challenges(parts.drain, blocking))
    return (*challenges, ladders, LadderPages(ladders))


def _make_previews(parts: Parts) -> Iterable[Service]:
    if not (parts.settings.page and all(map(find_spec, ("aggdraw", "ttf_opensans")))):
        return ()
    from tictactoe_server.features.previews.service import Previews

    return (Previews(find_service(parts.services, Tournaments), parts.title),)


FEATURES: Final = (
    Feature(lambda parts: [Forgetting(parts.specs, parts.check_device)], orders=(ForgetOrder,)),
    Feature(lambda parts: [Reviews(parts.pool)]),
    Feature(lambda parts: [Tournaments(parts.drain, parts.note_seat)], Tournaments.tables, EVENT_ORDERS),
    Feature(_make_ratings, (*Blocking.tables, *Challenges.tables, *Ladders.tables), RATING_ORDERS),
    Feature(lambda parts: [Api()]),
    Feature(lambda parts: [Bots(parts.pool, pause_seconds=parts.settings.bot_pause_seconds)]),
    Feature(lambda parts: [Demo(parts.pool)] if parts.settings.demo else ()),
    Feature(_make_previews),
)


def orders_of(features: Iterable[Feature]) -> Sequence[type[Order]]:
    """Return the orders of a server with these features."""
    return (*ORDERS, *(kind for feature in features for kind in feature.orders))
