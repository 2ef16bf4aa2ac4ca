"""The chat of games over days, which is stored and sent to players when they come back."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import ChatLine, Closed
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.session import Session
from tictactoe_server.records.changes import change
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable

MOST_LINES: Final = 50  # in a room; older lines are dropped

log: Final = structlog.get_logger(__name__)


class StoredChat(Struct, frozen=True):
    """The newest lines in a room."""

    room: str
    lines: tuple[ChatLine, ...]

    def without(self, id: str, stand_in: str) -> StoredChat:
        return replace(self, lines=tuple(line for line in self.lines if owner_of(line.player) != id))


CHATS: Final[TableSpec[StoredChat]] = TableSpec(
    *("day_chats", "chat", msgspec.json.encode, msgspec.json.Decoder(StoredChat).decode),
    key_of=lambda chat: chat.room,
    persons=Persons(lambda chat: {owner_of(line.player) for line in chat.lines}, StoredChat.without),
)
"""Chats of games over days by the codes of their rooms."""


class Chats(Service):
    """Stores the chat of players and watchers, and sends it to each player once per connection."""

    def __init__(self, core: Core) -> None:
        self._sent = WeakKeyDictionary[Session, set[str]]()
        self._table = core.store.table(CHATS)
        self._core = core
        core.hooks.on_chat.add(self._keep)
        core.rooms.on_long_game.add(self._on_change)
        core.rooms.on_close.add(self._drop)

    def _keep(self, live: LiveRoom, line: ChatLine) -> None:
        if live.room.keeps_seats:
            self.tasks.start(self._store(live.room.code, line))

    async def _store(self, code: str, line: ChatLine) -> None:
        try:
            await change(self._table, code, partial(_with_line, code, line))
        except StoreUnavailable:
            log.warning("chat not stored", room=code)

    def _on_change(self, live: LiveRoom) -> None:
        self._core.scheduler.soon(partial(self._send, live))  # once its new players are seated

    def _send(self, live: LiveRoom) -> None:
        """Send the stored chat to the players who have just entered a room."""
        for session in live.players.values():
            sent = self._sent.setdefault(session, set())
            if live.room.code not in sent:
                sent.add(live.room.code)
                self.tasks.start(self._send_to(session, live.room.code))

    async def _send_to(self, session: Session, code: str) -> None:
        try:
            found = await self._table.load(code)
        except StoreUnavailable as error:
            log.warning("chat not loaded", room=code, reason=str(error))
            return
        player = session.player
        if found is None or player is None or code not in session.rooms:
            return
        for line in found[0].lines:
            if not any(mutes(player.id, line.player) for mutes in self._core.hooks.mute_checks):
                session.push(line)

    def _drop(self, live: LiveRoom, why: Closed) -> None:
        if live.room.keeps_seats:
            self.tasks.start(self._delete(live.room.code))

    async def _delete(self, code: str) -> None:
        with suppress(StoreUnavailable):
            await change(self._table, code, lambda old: None)


def _with_line(code: str, line: ChatLine, old: StoredChat | None) -> StoredChat:
    return StoredChat(code, ((old.lines if old else ()) + (line,))[-MOST_LINES:])
