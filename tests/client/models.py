"""A room after some states, without a server."""

from asyncio import ensure_future
from itertools import pairwise

from tests.client.test_room import FakeCourier
from tictactoe_client.input.actions import Actions
from tictactoe_client.online.events import Updated
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_client.tui.room.review import Review
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.telling import news_since


def model_of(viewer: str, *states: RoomState, after_loss: bool = False) -> RoomModel:
    """Return the viewer's room after these states, one per second; with `after_loss` the later ones follow a loss."""
    room = Room(FakeCourier(player=viewer), states[-1].room)
    room._update(states[0])
    actions = Actions(room, Settings())
    model = RoomModel(actions, Review(actions, run=ensure_future, tell=print, redraw=print))
    for second, (old, new) in enumerate(pairwise((None, *states))):
        assert new is not None
        if old is not None:
            room._update(new)
        news = () if old is None else news_since(old, new)
        update = Updated(old, new, after_loss=after_loss and old is not None, news=news)
        actions._hear(update)
        model.follow(update, float(second))
    return model
