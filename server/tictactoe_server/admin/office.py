"""Carries the operator's orders out: looks at the server, sends people away, ends rooms, and the server itself."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final, assert_never

import structlog

from tictactoe_protocol import BadRoomCode, ErrorCode, clean_text, encode, parse_room_code
from tictactoe_protocol.pushes import Announcement
from tictactoe_server import __version__
from tictactoe_server.admin import orders
from tictactoe_server.admin.bans import BadSubject, describe_ban, network_of, parse_subject
from tictactoe_server.admin.control import OrderRefused
from tictactoe_server.admin.expelling import expel
from tictactoe_server.admin.orders import Order
from tictactoe_server.admin.site import Site
from tictactoe_server.core.kept import Ban
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.session import Session
from tictactoe_server.rooms import Refused
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.frames import encode_frame

Answer = dict[str, Any] | list[dict[str, Any]]

log: Final = structlog.get_logger(__name__)


class Office:
    """Answers orders with what JSON can say; raises `OrderRefused` for what cannot be done."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._started_at = time.monotonic()

    async def carry_out(self, order: Order) -> Answer:
        """Carry an order out and return its answer."""
        try:
            return await self._carry_out(order)
        except BadSubject as bad:
            raise OrderRefused(str(bad)) from None
        except Refused as refused:
            raise OrderRefused(refused.message) from None
        except StoreUnavailable as unavailable:
            raise OrderRefused(f"The store refuses: {unavailable}") from None

    async def _carry_out(self, order: Order) -> Answer:
        site = self.site
        match order:
            case orders.Status():
                return self._status()
            case orders.ListRooms():
                return [_row_of(live) for live in site.registry.rooms]
            case orders.ShowRoom():
                return _room_of(self._room(order.code))
            case orders.ListPlayers():
                return self._players()
            case orders.ListConnections():
                return [self._connection_of(session) for session in site.presence]
            case orders.Kick():
                return self._kick(order)
            case orders.BanOrder():
                return await self._ban(order)
            case orders.Unban():
                ban = await site.bans.lift(self._subject(order.subject))
                if ban is None:
                    raise OrderRefused(f"{order.subject} is not banned.")
                log.info("ban lifted", subject=ban.subject)
                return _ban_of(ban)
            case orders.ListBans():
                return [_ban_of(ban) for ban in site.bans]
            case orders.CloseRoom():
                return await self._close(order)
            case orders.Announce():
                return self._announce(order)
            case orders.DrainOrder():
                site.drain.start(order.seconds, is_final=order.for_good)
                return self._drain()
            case orders.ListLimits():
                return [{"name": name, "limit": limit, "now": now} for name, (limit, now) in site.limits().items()]
            case _:
                assert_never(order)

    # -- looking --------------------------------------------------------------------------------------------------

    def _status(self) -> dict[str, Any]:
        site = self.site
        owed_since = site.store.owed_since()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "address": site.address,
            "data": site.data,
            "up_seconds": round(time.monotonic() - self._started_at),
            "unready": site.unready(),
            "connections": site.door.connections,
            "players": len(self._players()),
            "rooms": site.registry.by_status,
            "moves": site.changes.moves,
            "refusals": sum(site.tally.refusals.values()),
            "limited": site.limited().total(),
            "loop_lag_ms": round(site.lag.seconds * 1000, 1),
            "store_owes_ms": 0 if owed_since is None else round((time.monotonic() - owed_since) * 1000),
            "bots_waiting": site.bots_waiting(),
            "bans": sum(1 for _ in site.bans),
            "drain": self._drain() if site.drain.is_on else None,
        }

    def _drain(self) -> dict[str, Any]:
        drain = self.site.drain
        return {
            "games": self.site.registry.count_games(),
            "seconds_left": None if drain.seconds_left is None else round(drain.seconds_left),
            "for_good": drain.is_final,
        }

    def _players(self) -> list[dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for session in self.site.presence:
            player = session.player
            if player is not None:
                new: dict[str, Any] = {"player": player.id, "name": player.name, "connections": 0, "rooms": []}
                row = found.setdefault(player.id, new)
                row["connections"] += 1
                row["rooms"] += [code for code in _rooms_of(session) if code not in row["rooms"]]
        return list(found.values())

    def _connection_of(self, session: Session) -> dict[str, Any]:
        player = session.player
        return {
            "address": session.connection.address,
            "player": None if player is None else player.id,
            "name": None if player is None else player.name,
            "rooms": _rooms_of(session),
            "seconds": round(self.site.presence.seconds(session)),
        }

    def _room(self, text: str) -> LiveRoom:
        code = code_of(text)
        live = next((live for live in self.site.registry.rooms if live.room.code == code), None)
        if live is None:
            raise OrderRefused(f"There is no room {code}.")
        return live

    # -- acting ---------------------------------------------------------------------------------------------------

    def _player(self, text: str) -> str:
        """Return the id of one who is here, by id or by name; raises `OrderRefused`."""
        presence = self.site.presence
        if presence.of_player(text):
            return text
        found = presence.ids_called(text)
        return only_one(text, found)

    def _subject(self, text: str) -> str:
        """Return what a ban is of; the name of one who is here stands for the player."""
        try:
            return parse_subject(text)
        except BadSubject:
            return self._player(text)

    def _kick(self, order: orders.Kick) -> dict[str, Any]:
        id = self._player(order.player)
        reason = _without_stop(order.reason)
        words = f"The operator of this server has ended your connection{f': {reason}' if reason else ''}."
        count = self._expel(self.site.presence.of_player(id), ErrorCode.KICKED, words)
        log.info("kicked", player=id, reason=reason)
        return {"player": id, "connections": count}

    async def _ban(self, order: orders.BanOrder) -> dict[str, Any]:
        site = self.site
        subject = self._subject(order.subject)
        ban = await site.bans.add(subject, _without_stop(order.reason), order.seconds)
        count = self._expel_banned(ban)
        log.info("banned", subject=subject, seconds=order.seconds, reason=ban.reason)
        return {**_ban_of(ban), "connections": count}

    def hear_ban(self, subject: str, ban: Ban | None) -> None:
        """Take in that another server of the cluster has banned somebody, or let them in again."""
        self.site.bans.hear(subject, ban)
        if ban is not None:
            self._expel_banned(ban)

    def _expel_banned(self, ban: Ban) -> int:
        """Send away all whom a ban concerns, and return how many."""
        site = self.site
        if network_of(ban.subject) is None:
            concerned = site.presence.of_player(ban.subject)
        else:
            concerned = [session for session in site.presence if site.bans.of_address(session.connection.address)]
        return self._expel(concerned, ErrorCode.BANNED, describe_ban(ban))

    def _expel(self, sessions: Iterable[Session], code: ErrorCode, words: str) -> int:
        count = 0
        for session in sessions:
            expel(session.connection, code, words)
            count += 1
        return count

    async def _close(self, order: orders.CloseRoom) -> dict[str, Any]:
        live = self._room(order.code)
        reason = _without_stop(order.reason)
        await self.site.timers.end(live, f"The operator closed it{f': {reason}' if reason else ''}.")
        return _row_of(live)

    def _announce(self, order: orders.Announce) -> dict[str, Any]:
        text = clean_text(order.text).strip()
        if not text:
            raise OrderRefused("There is nothing to read in that.")
        frame = encode_frame(encode(Announcement(text, time.time_ns() // 1_000_000)))
        sessions = [session for session in self.site.presence if session.player is not None]
        for session in sessions:
            session.connection.push_frame(frame)
        return {"text": text, "connections": len(sessions)}


def code_of(text: str) -> str:
    """Return the code of a room in its one spelling; raises `OrderRefused`."""
    try:
        return parse_room_code(text)
    except BadRoomCode as bad:
        raise OrderRefused(bad.message) from None


def only_one(text: str, ids: Sequence[str]) -> str:
    """Return the id of the one player who was meant; raises `OrderRefused`."""
    if not ids:
        raise OrderRefused(f'There is no "{text}" here. Players who are: tictactoe-server players')
    if len(ids) > 1:
        raise OrderRefused(f'Several are called "{text}": say which of {", ".join(ids)}.')
    return ids[0]


def _without_stop(reason: str) -> str:
    """Return a reason that is safe to print, and with which a sentence can end."""
    return clean_text(reason).strip().rstrip(".")


def _rooms_of(session: Session) -> list[str]:
    """Return the codes of the rooms that somebody plays or watches in, those that another server serves too."""
    return sorted(session.rooms)


def _row_of(live: LiveRoom) -> dict[str, Any]:
    room = live.room
    return {
        "room": room.code,
        "status": room.status,
        "visibility": room.visibility,
        "rules": room.rules.preset,
        "game": room.game,
        "ply": room.position.ply,
        "players": {mark: None if seat is None else seat.name for mark, seat in room.seats.items()},
        "here": len(live.players),
        "watchers": len(live.watchers),
    }


def _room_of(live: LiveRoom) -> dict[str, Any]:
    room, board = live.room, live.room.position.board
    columns = room.rules.columns
    return {
        **_row_of(live),
        "seats": {
            mark: None
            if seat is None
            else {"player": seat.player, "name": seat.name, "online": seat.online, "bot": seat.bot, "left": seat.left}
            for mark, seat in room.seats.items()
        },
        "watching": [session.player.name for session in live.watchers if session.player is not None],
        "turn": room.position.turn if room.status == "playing" else None,
        "board": [board[first : first + columns] for first in range(0, len(board), columns)],
    }


def _ban_of(ban: Ban) -> dict[str, Any]:
    return {"subject": ban.subject, "reason": ban.reason, "since": ban.since, "until": ban.until}


async def warn_in_bulk(site: Site, seconds: float = 60.0) -> None:
    """Log how much was refused, by code, so often and only where there is something to say, until cancelled."""
    told = site.tally.refusals.copy()
    while True:
        await asyncio.sleep(seconds)
        news = site.tally.refusals - told
        if news:
            told = site.tally.refusals.copy()
            log.info("refused", **{str(code): count for code, count in news.most_common(5)})
