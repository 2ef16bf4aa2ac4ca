"""Finished games as their players ask for them: rows of a history, and one game as text."""

from __future__ import annotations

import base64
import secrets
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

from msgspec import UNSET

from tictactoe_engine.records import GameRecord, GameResult, MoveClock, SeatClock, format_record
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import PastGame, PastPlayer
from tictactoe_protocol.requests import ClockFields, History, Record, Share
from tictactoe_server.core.session import Session
from tictactoe_server.rooms import FinishedGame, Player, Refused
from tictactoe_server.services.allowances import Allowances
from tictactoe_server.services.answers import answer
from tictactoe_server.storage.documents import encode_game
from tictactoe_server.storage.store import Archive

_SHARE_RETRY_MS: Final = 60_000
_SHARE_BYTES: Final = 8
"""Of each half of a shared game's id, which is eleven letters."""


class PastGames:
    """The archive, as far as a player may see it: the games that they played in."""

    def __init__(self, archive: Archive, allowances: Allowances) -> None:
        self._archive = archive
        self._allowances = allowances

    async def list(self, session: Session, player: Player, request: History) -> None:
        """Answer with a player's games, newest first."""
        last = None if request.before is UNSET else _number_of(request.before, "before")
        games = await self._archive.games_of(player.id, request.limit, last)
        answer(session, request, games=tuple(_row_of(id, game) for id, game in games))

    async def record(self, session: Session, player: Player, request: Record) -> None:
        """Answer with one game that the player played in as text, and refuse any other."""
        answer(session, request, record=format_record(record_of(await self._own(player, request.game))))

    async def share(self, session: Session, player: Player, request: Share) -> None:
        """Keep a copy of one game that the player played in for whoever knows its id, or forget it; answer the id.

        Its first half is this player's own for this game, so that it is found again; the second is new each time.
        """
        game = await self._own(player, request.game)
        words = f"share {game.room} {game.game} {game.at}"
        digest = blake2b(words.encode(), key=session.secret.encode(), digest_size=_SHARE_BYTES).digest()
        half = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        id = await self._archive.shared_id(half)
        if request.on:
            if id is None:
                if not self._allowances.take_kept({player.id: session.address}, len(encode_game(game))):
                    words = "As much is kept for you, or for all from your address, as may be in an hour."
                    raise Refused(ErrorCode.RATE_LIMITED, words, retry_ms=_SHARE_RETRY_MS)
                id = half + secrets.token_urlsafe(_SHARE_BYTES)
                await self._archive.share(id, game)
            answer(session, request, replay=id, link=f"{session.connection.origin}/replay/{id}")
        else:
            if id is not None:
                await self._archive.unshare(id)
            answer(session, request)

    async def _own(self, player: Player, id: str) -> FinishedGame:
        """Return a game that the player played in; refuses any other."""
        found = await self._archive.game(_number_of(id, "game"))
        if found is None or player.id not in found.people:
            raise Refused(ErrorCode.NOT_ALLOWED, f'You played no game "{id}".', path="game")
        return found


def _number_of(id: str, path: str) -> int:
    if not (id.isascii() and id.isdigit() and len(id) <= 18):
        raise Refused(ErrorCode.NOT_ALLOWED, f'You played no game "{id}".', path=path)
    return int(id)


def _row_of(id: int, game: FinishedGame) -> PastGame:
    players = {mark: PastPlayer(player.player, player.name) for mark, player in game.players.items()}
    return PastGame(str(id), game.room, game.game, game.at, game.rules, players, game.result, len(game.moves))


def record_of(game: FinishedGame) -> GameRecord:
    """Return a finished game as its record has it."""
    return GameRecord(
        rules=game.rules.to_rules(),
        moves=game.moves,
        result=GameResult(game.result.reason, game.result.winner),
        players=tuple((mark, player.name) for mark, player in game.players.items()),
        date=datetime.fromtimestamp(game.at // 1000, UTC).isoformat().replace("+00:00", "Z"),
        room=game.room,
        game=game.game,
        clock=_clock_of(game.clock),
        passed=game.passed,
    )


def _clock_of(clock: ClockFields | None) -> SeatClock | MoveClock | None:
    if clock is None:
        return None
    if clock.move_ms is not UNSET:
        return MoveClock(clock.move_ms)
    initial_ms = 0 if clock.initial_ms is UNSET else clock.initial_ms
    return SeatClock(initial_ms, 0 if clock.increment_ms is UNSET else clock.increment_ms)
