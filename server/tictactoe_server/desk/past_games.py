"""Finished games as their players ask for them: rows of a history, and one game as text."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import UNSET

from tictactoe_engine.records import GameRecord, GameResult, MoveClock, SeatClock, format_record
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import PastGame, PastPlayer
from tictactoe_protocol.requests import ClockFields, History, Record
from tictactoe_server.desk.answers import answer
from tictactoe_server.rooms import FinishedGame, Player, Refused
from tictactoe_server.stores import Archive
from tictactoe_server.tables.session import Session


class PastGames:
    """The archive, as far as a player may see it: the games that they played in."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def list(self, session: Session, player: Player, request: History) -> None:
        """Answer with a player's games, newest first."""
        last = None if request.before is UNSET else _number_of(request.before, "before")
        games = await self._archive.games_of(player.id, request.limit, last)
        answer(session, request, games=tuple(_row_of(id, game) for id, game in games))

    async def record(self, session: Session, player: Player, request: Record) -> None:
        """Answer with one game that the player played in as text, and refuse any other."""
        found = await self._archive.game(_number_of(request.game, "game"))
        if found is None or player.id not in found.people:
            raise Refused(ErrorCode.NOT_ALLOWED, f'You played no game "{request.game}".', path="game")
        answer(session, request, record=format_record(_record_of(found)))


def _number_of(id: str, path: str) -> int:
    if not (id.isascii() and id.isdigit() and len(id) <= 18):
        raise Refused(ErrorCode.NOT_ALLOWED, f'You played no game "{id}".', path=path)
    return int(id)


def _row_of(id: int, game: FinishedGame) -> PastGame:
    players = {mark: PastPlayer(player.player, player.name) for mark, player in game.players.items()}
    return PastGame(str(id), game.room, game.game, game.at, game.rules, players, game.result, len(game.moves))


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
