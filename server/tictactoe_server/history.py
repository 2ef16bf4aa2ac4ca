"""Finished games as their players ask for them: rows of a history, and one game as text."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import UNSET

from tictactoe_engine.records import GameRecord, GameResult, MoveClock, SeatClock, format_record
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import PastGame, PastPlayer
from tictactoe_protocol.requests import ClockFields
from tictactoe_server.rooms import FinishedGame, Refused, decode_game
from tictactoe_server.stores import Archive, ArchivedGame


class History:
    """The archive, as far as a player may see it: the games that they played in."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def games_of(self, player: str, limit: int, before: str | None) -> tuple[PastGame, ...]:
        """Return a player's games, newest first; `before` is the id of the last one of the page before."""
        last = None if before is None else _number_of(before, "before")
        return tuple(_row_of(game) for game in await self._archive.games_of(player, limit, last))

    async def record_of(self, player: str, id: str) -> str:
        """Return one game that the player played in as text; raises `Refused` for any other."""
        found = await self._archive.game(_number_of(id, "game"))
        if found is None or player not in found.record.players:
            raise Refused(ErrorCode.NOT_ALLOWED, f'You played no game "{id}".', path="game")
        return format_record(_record_of(decode_game(found.record.document)))


def _number_of(id: str, path: str) -> int:
    if not (id.isascii() and id.isdigit() and len(id) <= 18):
        raise Refused(ErrorCode.NOT_ALLOWED, f'You played no game "{id}".', path=path)
    return int(id)


def _row_of(found: ArchivedGame) -> PastGame:
    game = decode_game(found.record.document)
    players = {mark: PastPlayer(player.player, player.name) for mark, player in game.players.items()}
    return PastGame(str(found.id), game.room, game.game, game.at, game.rules, players, game.result, len(game.moves))


def _record_of(game: FinishedGame) -> GameRecord:
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
