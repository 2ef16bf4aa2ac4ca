"""The full screen stores a limited amount from a server that never stops sending."""

from itertools import islice, product
from types import SimpleNamespace
from typing import Any, cast

from tests.faults.hostile_server import summary
from tictactoe_client.lobby import Lobby
from tictactoe_client.online.messages import Message
from tictactoe_client.tui.room.model import News
from tictactoe_protocol import ROOM_CODE_ALPHABET
from tictactoe_protocol.pushes import LobbyChange


def test_the_list_of_rooms_forgets_the_oldest() -> None:
    rooms = Lobby(cast(Any, SimpleNamespace(now=lambda: 0.0)), cast(Any, None))
    codes = ["".join(letters) for letters in islice(product(ROOM_CODE_ALPHABET, repeat=6), 5_000)]
    for start in range(0, 5_000, 50):
        changed = tuple(summary("bo", code) for code in codes[start : start + 50])
        rooms.hear(Message("", LobbyChange(changed=changed, closed=())))
    known = [room.room for room in rooms.list_rooms("waiting")]
    assert known == list(reversed(codes))[: len(known)]
    assert len(known) == 2_000


def test_unread_lines_are_limited_to_the_newest() -> None:
    news = News()
    news.say("first")
    news.in_sight = 1
    for number in range(1_000):
        news.say(str(number))
    assert news.unread == [str(number) for number in range(800, 1_000)]
    assert news.in_sight == 0
