"""Decides which finished games are kept, and handles requests for history, records and sharing."""

from __future__ import annotations

import base64
import secrets
from hashlib import blake2b
from typing import Final

from msgspec import UNSET, UnsetType

from tictactoe_engine.records import format_record
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import PastGame
from tictactoe_protocol.requests import History, Record, Share
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.http import texts
from tictactoe_server.people.allowances import RETRY_MS
from tictactoe_server.records.documents import encode_game
from tictactoe_server.records.tables import SHARES
from tictactoe_server.rooms.finished import FinishedGame, place_of, played_game, record_of
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.storage.store import GameLog, Table, delete, save
from tictactoe_server.transport.http_messages import HttpRequest, PageHead, Reply, answer_json
from tictactoe_server.transport.rate_limit import RateLimits

_NOT_KEPT: Final = "not_kept"  # code of the announcement sent when a game is not kept
_HOUR_MS: Final = 3_600_000
_SHARE_BYTES: Final = 8  # in each half of a shared game's name, encoded as eleven letters


class PastGames(Service):
    """Decides which finished games are kept and answers requests for them. Sharing requires `shows_pages`."""

    def __init__(self, core: Core, *, shows_pages: bool) -> None:
        self._shows_pages = shows_pages
        self.handles = {History: self.list, Record: self.record, Share: self.share}
        self.routes = {r"/replay/([A-Za-z0-9_-]{16,64})(\.json|\.txt)?": self.replay}
        self._games = core.store.games
        self._shares = core.store.table(SHARES)
        self._allowances, self._public = core.allowances, core.names.public
        self._told = RateLimits(1, _HOUR_MS, core.monotonic_ns)
        core.rooms.keeping.append(self.keeps)

    def keeps(self, live: LiveRoom, game: FinishedGame) -> bool:
        """Count a finished game against its players' limits; return whether to keep the game.

        The game is kept if at least one player is below the limit. It is also kept if the room's terms do not count
        games when they end. A game between bots counts against the room's owner. Players whose games are not kept are
        notified at most once an hour.
        """
        if live.room.terms.games_count != "at end":
            return True
        addresses, playing = {}, live.players
        for player in game.people or (live.owner,):
            addresses[player] = playing[player].address if player in playing else live.origin
        if self._allowances.count_game(addresses, len(game.moves)):
            return True
        for player in addresses:
            session = playing.get(player)
            if session is not None and not self._told[player].consume():
                session.announce(_NOT_KEPT)
        return False

    async def list(self, call: Call) -> None:
        request: History = call.request
        games = await games_before(self._games, call.player.id, request.limit, request.before)
        call.answer(games=tuple(row_of(game) for _, game in games))

    async def record(self, call: Call) -> None:
        """Reply with a game of the player's own, or a public game, both as data and as a text record."""
        game = await find_own(self._games, call.player, call.request.game_id, or_public=True)
        if call.player.id not in game.people:
            game = self._public(game)
        call.answer(record=format_record(record_of(game)), played=played_game(game))

    async def share(self, call: Call) -> None:
        """Publish a copy of a game of the player under an unguessable name, or delete the copy.

        The first half of the name is derived from the player and the game, so that each device of the player finds the
        copy again. The second half is random.
        """
        if not self._shows_pages:
            raise Refused(ErrorCode.NOT_ALLOWED, "share")
        session, request = call.session, call.request
        game = await find_own(self._games, call.player, request.game_id)
        words = f"share {game.room} {game.game} {game.at}"
        digest = blake2b(words.encode(), key=call.player.id.encode(), digest_size=_SHARE_BYTES).digest()
        half = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        id = await self._shares.first_key(half)
        if request.on:
            if id is None:
                if not self._allowances.count_kept({call.player.id: session.address}, len(encode_game(game))):
                    raise Refused(ErrorCode.RATE_LIMITED, "kept", retry_ms=RETRY_MS)
                id = half + secrets.token_urlsafe(_SHARE_BYTES)
                await save(self._shares, id, game, None)
            call.answer(replay=id, link=f"{session.connection.origin}/replay/{id}")
        else:
            if id is not None:
                await delete(self._shares, id, None)
            call.answer()

    async def replay(self, request: HttpRequest, id: str, form: str | None) -> Reply:
        game = self._public(await find_shared(self._shares, id))
        if form == ".json":
            return answer_json(played_game(game))
        if form == ".txt":
            return format_record(record_of(game)).splitlines()
        if request.wants_html:
            return PageHead(*texts.head_of_game(game), picture=f"/preview/replay/{id}.png")
        return texts.describe_game(game, f"{request.origin}/replay/{id}", is_coloured=request.wants_colour)


async def find_own(games: GameLog[FinishedGame], player: Player, id: str, *, or_public: bool = False) -> FinishedGame:
    """Return a game that `player` took part in or, with `or_public`, any public game, or raise `Refused` for others."""
    found = await find_by_id(games, id)
    if found is None or not (player.id in found.people or (or_public and found.public)):
        raise Refused(ErrorCode.NOT_ALLOWED, "game", path="game_id", game=id)
    return found


async def find_shared(shares: Table[FinishedGame], id: str, path: str | None = None) -> FinishedGame:
    """Return the game shared under the name `id`, or raise `Refused` if there is none."""
    found = await shares.load(id)
    if found is None:
        raise Refused(ErrorCode.NOT_ALLOWED, "replay", path=path, replay=id)
    return found[0]


async def find_by_id(games: GameLog[FinishedGame], id: str) -> FinishedGame | None:
    """Return the game with this id, or None."""
    found = await _find_numbered(games, id)
    return found and found[1]


async def games_before(
    games: GameLog[FinishedGame], player: str, limit: int, before: str | UnsetType
) -> list[tuple[int, FinishedGame]]:
    """Return a player's games with their numbers, newest first, from the game before the one with the id `before`.

    Raise `Refused` if this id is malformed.
    """
    if before is UNSET:
        return await games.games_of(player, limit)
    if place_of(before) is None:
        raise Refused(ErrorCode.NOT_ALLOWED, "game", path="before", game=before)
    last = await _find_numbered(games, before)
    return [] if last is None else await games.games_of(player, limit, last[0])


async def _find_numbered(games: GameLog[FinishedGame], id: str) -> tuple[int, FinishedGame] | None:
    place = place_of(id)
    found = () if place is None else await games.games_at(*place)
    return next((row for row in found if row[1].id == id), None)


def row_of(game: FinishedGame) -> PastGame:
    """Return a game as a row of a player's history."""
    details = game.players, game.result, len(game.moves)
    return PastGame(game.id, game.room, game.game, game.at, game.rules, *details, **game.purpose.fields_of(PastGame))
