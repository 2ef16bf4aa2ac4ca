"""Ladders: which games may be rated, who is told when one was, and what people ask of ladders and players.

Nothing of it is on a move's path: it hears of the ends of games, and looks for those of other servers now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Any, Final

import structlog
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.rated import (
    Encounters,
    LadderClosing,
    LadderRow,
    LadderStanding,
    LadderState,
    Profile,
    Rated,
    RatingChange,
    Ratings,
)
from tictactoe_protocol.ratings.exported import encode_export
from tictactoe_protocol.ratings.ladder import Ladder, State
from tictactoe_protocol.ratings.ladder import Player as Rating
from tictactoe_protocol.ratings.log import Entry, Judge, RatedGame, Verdict
from tictactoe_protocol.ratings.shown import Row, games_to_rank, list_rows, rows_around
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.listings.listed import Listed
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.ratings.folding import Folding
from tictactoe_server.ratings.games import rated_game
from tictactoe_server.ratings.tables import ENTRIES, LADDERS
from tictactoe_server.records.tables import FORGOTTEN
from tictactoe_server.rooms import FinishedGame, Player, Refused, Room
from tictactoe_server.services.checks import chosen_rules, find_player
from tictactoe_server.services.history import row_of
from tictactoe_server.storage.store import StoreUnavailable

MOST_OF_PAIR: Final = 10
DAY_MS: Final = 86_400_000
LOOK_SECONDS: Final = 2.0
"""How often entries and games of other servers are looked for."""

_CLOSED: Final = {"undecided": "ladder undecided", "advantage": "ladder advantage"}
_TOP: Final = 20
_LISTED_GAMES: Final = 20
_LISTED_MS: Final = 60_000  # after which a leaderboard is listed anew, as deviations grow
_PAGE: Final = 100
_PAGES: Final = 10  # of a history that are looked through for what is shown of a player
_TOLD_MS: Final = 60_000  # who played a game that ended before that is not told any more

log: Final = structlog.get_logger(__name__)


class Ladders(Service):
    """Rates games of the rules that the settings name, where people have names."""

    tables = (ENTRIES, LADDERS)

    def __init__(self) -> None:
        self.handles = {Ratings: self.ratings, Profile: self.profile}
        self._tasks = Tasks()
        self._news, self._listing = asyncio.Event(), asyncio.Lock()
        self._listed: dict[str, tuple[Ladder, int, dict[str, Row]]] = {}

    def start(self, core: Core) -> None:
        self._core, self._accounts = core, Accounts(core.store)
        self.keys: Sequence[str] = core.settings.rated_rules
        self.folding = Folding(core.store, self._tell)
        if self.keys:
            core.lists.matchmaker.prefer_nearest(self._distance)
            core.additions.rows.add("host_rating", self._rate_host)
            core.additions.rows.add("host_provisional", self._is_host_provisional)
            self._tasks.start(self._run())
        core.on_result(self._hear)
        core.registry.elsewhere.on_changed.add(self._hear_changed)

    async def close(self) -> None:
        await self._tasks.stop()

    # -- what is rated ------------------------------------------------------------------------------------------

    async def check(
        self,
        rules: Rules,
        clock: ClockFields | None,
        player: Player,
        others: Collection[str] = (),
        *,
        room: str = "",
    ) -> None:
        """Raise `Refused` where a player may play no rated game of these rules with all of these others, by their ids.

        These are within so many points, 0 for any; the game of the room of that code does not count. What is done at
        once when it has returned is still so.
        """
        if self.keys and len(rules.marks) != 2:
            raise Refused(ErrorCode.NOT_ALLOWED, "rated players", path="rules")
        ladder = self._ladder(self._key_of(rules))
        if (closing := ladder.closing) is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, _CLOSED[closing.reason], figure=closing.figure, of=closing.of)
        if clock is None:
            raise Refused(ErrorCode.BAD_CLOCK, "rated", path="clock")
        claim = await self._accounts.find_claim(player.name, but=player.id)
        if claim is None or claim.player != player.id or player.bot is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "rated name", path="rated")
        on = {other: self._games_on(player.id, other) for other in others}  # also those that end while it is read
        played = await self._games_today(player.id) if others else {}
        for other in others:
            games = on[other] | played.get(other, set()) | self._games_on(player.id, other)
            count = sum(code != room for code, _ in games)
            if count >= MOST_OF_PAIR:
                raise Refused(ErrorCode.NOT_ALLOWED, "rated pair", games=count, name=await self.name_of(other))

    async def played_out(self, player: str) -> Collection[str]:
        """Return those with whom a player may play no more rated games today."""
        played = await self._games_today(player)
        met = {id for listed in self._rated_on(player) for id in listed.everybody}.union(played) - {player}
        return [id for id in met if len(played.get(id, set()) | self._games_on(player, id)) >= MOST_OF_PAIR]

    async def _games_today(self, player: str) -> dict[str, set[tuple[str, int]]]:
        """Return the rated games of a player that ended in the last 24 hours, by those with whom they were."""
        found = dict[str, set[tuple[str, int]]]()
        async for game in self._games_of(player, _now() - DAY_MS):
            for other in game.people:
                found.setdefault(other, set()).add((game.room, game.game))
        return found

    def _key_of(self, rules: Rules) -> str:
        """Return the key of the ladder of some rules; raises `Refused` where there is none."""
        self.check_key(key := rules.preset or "")
        return key

    def check_key(self, key: str) -> None:
        """Raise `Refused` where there is no ladder of this key."""
        if key not in self.keys:
            why = "ladder" if self.keys else "ladders off"
            raise Refused(ErrorCode.NOT_ALLOWED, why, path="rules", ladders=list(self.keys))

    def _games_on(self, one: str, other: str) -> set[tuple[str, int]]:
        """Return the rated games that are on, or about to be, of two players: by their rooms and numbers."""
        on = (*self._rated_on(one), *self._rated_on(other))
        return {(each.room.code, each.room.game) for each in on if {one, other} <= each.everybody}

    def _rated_on(self, player: str) -> list[Listed]:
        """Return the rooms of a player whose rated game is on, or about to be."""
        listed: Iterable[Listed] = self._core.lists.seats.of_player.get(player, {}).values()
        return [each for each in listed if each.room.rated and each.room.result is None]

    def _distance(self, room: Room, player: str) -> float:
        """Return the difference in rating between a player and the player in a room."""
        ladder = self._ladder(room.rules.preset or "")
        own = _player_of(ladder, player).number.rating
        return max((abs(own - _player_of(ladder, seat.player).number.rating) for seat in room.held_seats), default=0.0)

    def _find_host(self, listed: Listed) -> Rating | None:
        """Return the record of the player who waits in a rated room, or None for any other room."""
        room = listed.room
        if not room.rated or room.status != "waiting":
            return None
        return next((_player_of(self._ladder(room.rules.preset or ""), seat.player) for seat in room.held_seats), None)

    def _rate_host(self, listed: Listed) -> int | UnsetType:
        host = self._find_host(listed)
        return UNSET if host is None else round(host.number.rating)

    def _is_host_provisional(self, listed: Listed) -> bool | UnsetType:
        host = self._find_host(listed)
        return UNSET if host is None or games_to_rank(host, _now()) is None else True

    async def _games_of(self, player: str, since: int = 0, pages: int = sys.maxsize) -> AsyncIterator[FinishedGame]:
        """Yield the rated games on the newest pages of a player's history, newest first, that ended `since` then."""
        before: int | None = None
        for _ in range(pages):
            if not (some := await self._core.store.games.games_of(player, _PAGE, before)):
                return
            for _, game in some:
                if game.at < since:
                    return
                if rated_game(game) is not None:
                    yield game
            before = some[-1][0]

    # -- the fold -----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Read and fold what is new: at once where a game ended here, else now and then."""
        await self._core.registry.restored.wait()
        is_several = self._core.registry.elsewhere.is_several
        while True:
            self._news.clear()  # before it is read, so that what comes meanwhile is not missed
            patience = LOOK_SECONDS if is_several else None
            try:
                await self.folding.step()
            except StoreUnavailable as unavailable:
                log.warning("ratings could not be folded yet", reason=str(unavailable))
                patience = LOOK_SECONDS
            except Exception:
                log.exception("ratings could not be folded")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._news.wait()

    def _hear(self, game: FinishedGame, id: str) -> None:
        if game.rated and id:
            self._news.set()

    def _hear_changed(self, table: str, key: str) -> None:
        """Read all again once somebody is forgotten, whose name is another one then."""
        if table == ENTRIES.name:
            self._news.set()
        elif table == FORGOTTEN.name:
            self.folding.invalidate()
            self._news.set()

    def _tell(self, before: State, after: State, games: Sequence[RatedGame]) -> None:
        """Tell who is in the rooms of games that were rated what that changed, where they ended of late."""
        since, judge = _now() - _TOLD_MS, Judge(after.verdicts).judge
        ladders = dict[str, Ladder]()
        for game in filter(None, map(judge, games if any(game.at > since for game in games) else ())):
            if game.rules not in ladders:
                ladders[game.rules] = before.ladders.get(game.rules, Ladder()).copy()
            ladder = ladders[game.rules]
            expected = ladder.expected(game)
            known = [_player_of(ladder, id) for id in game.players]
            ladder.add(game)
            room, number, _ = game.id.rsplit("-", 2)
            live = self._core.registry.by_code.get(room)
            if live is not None and str(live.room.game) == number:
                changes = {
                    id: RatingChange(
                        own.number.rating,
                        ladder.players[id].number.rating,
                        round(points, 3),
                        games_to_rank(ladder.players[id], game.at) or UNSET,
                    )
                    for id, own, points in zip(game.players, known, expected, strict=True)
                }
                live.push(Rated(room, live.room.game, game.rules, changes))

    # -- orders -------------------------------------------------------------------------------------------------

    async def judge(self, kind: Any, reason: str, **about: Any) -> dict[str, Any]:
        """Keep a `Verdict` of the operator, and return it; raises `OrderRefused` and `StoreUnavailable`.

        A player may be told by a claimed name, too.
        """
        at = _now()
        if kind == "void player":
            about["of"] = await find_player(self._core, about["of"])
        verdict = await self.folding.judge(Verdict(seq=0, at=at, by="operator", kind=kind, reason=reason, **about))
        self._core.registry.elsewhere.tell_changed(ENTRIES.name, str(verdict.seq))
        log.info("a verdict on ratings", **asdict(verdict))
        return asdict(verdict)

    async def verify(self) -> dict[str, Any]:
        """Fold all games again; return the digest of the current ratings, and of the new fold as ``folded``."""
        _, folded, entries = await self.folding.fold_all()
        current = self.folding.state.digest
        return {"games": _count_games(entries), "digest": current, "folded": folded.digest}

    async def export(self) -> tuple[dict[str, Any], bytes]:
        """Return the number of games and the digest, and the content of an export."""
        games, state, entries = await self.folding.fold_all()
        named = (games[id] for entry in entries for id in entry.games)
        content = await asyncio.to_thread(lambda: encode_export(named, state.verdicts, state.digest))
        return {"games": _count_games(entries), "digest": state.digest}, content

    # -- what is asked ------------------------------------------------------------------------------------------

    async def ratings(self, call: Call) -> None:
        """Answer with the rows of a ladder that are asked for."""
        request: Ratings = call.request
        key = self._key_of(chosen_rules(request.rules))
        top = _TOP if request.top is UNSET else request.top
        call.answer(ladder=await self.describe(key, top, None if request.around is UNSET else request.around))

    async def profile(self, call: Call) -> None:
        """Answer with what ladders and games tell of a player, and of their games with who asks."""
        call.answer(profile=await self.describe_player(call.request.player, call.player.id))

    async def describe(self, key: str, top: int, around: str | None = None) -> LadderState:
        """Return the first rows of a ladder, or those next to a player."""
        ladder, listed = self._ladder(key), [*(await self._rows_of(key)).values()]
        rows = listed[:top] if around is None else rows_around(listed, around)
        closing = ladder.closing
        names = await asyncio.gather(*(self.name_of(row.player) for row in rows))
        named = [
            LadderRow(row.place, row.player, name, *_rounded(row.rating, row.deviation), row.games, round(row.trend, 1))
            for row, name in zip(rows, names, strict=True)
        ]
        return LadderState(
            key,
            tuple(named),
            ladder.games,
            round(ladder.advantage.points, 1),
            ladder.decided.count("+") / len(ladder.decided) if ladder.decided else 0.0,
            UNSET if closing is None else LadderClosing(*closing),
        )

    async def describe_player(self, player: str, asking: str = "") -> PlayerProfile:
        """Return what ladders and the newest rated games tell of a player, by the id or a claimed name.

        Refuses one who has neither claimed one nor played such a game.
        """
        if not self.keys:
            raise Refused(ErrorCode.NOT_ALLOWED, "ladders off")
        id, now, standings = await find_player(self._core, player), _now(), []
        account = await self._accounts.load(id)
        for key in self.keys:
            ladder = self._ladder(key)
            if (own := ladder.players.get(id)) is not None:
                listed = (await self._rows_of(key)).get(id)
                number, to_rank = own.number_at(now), games_to_rank(own, now)
                rating, deviation = (UNSET, UNSET) if to_rank else _rounded(number.rating, number.deviation)
                ended = own.wins, own.draws, own.losses
                standings.append(
                    LadderStanding(key, *ended, rating, deviation, to_rank or UNSET, listed.place if listed else UNSET)
                )
        if not standings and not (account and account.claimed):
            raise Refused(ErrorCode.NOT_ALLOWED, "player", path="player", player=player)
        games = []
        async for found in self._games_of(id, pages=_PAGES):
            games.append(found)
            if len(games) == _PAGE:
                break
        rows = tuple(row_of(one) for one in games[:_LISTED_GAMES])
        met = [game for game in games if asking != id and asking in game.people]
        name = account.player.name if account else id
        return PlayerProfile(id, name, tuple(standings), rows, _encounters(met, asking))

    async def _rows_of(self, key: str) -> dict[str, Row]:
        """Return a leaderboard by players: listed anew, beside all else, after a game in it, and after a minute."""
        async with self._listing:
            ladder, at = self._ladder(key), _now()
            listed = self._listed.get(key)
            if listed is None or listed[0] is not ladder or at - listed[1] >= _LISTED_MS:
                rows = await asyncio.to_thread(lambda: {row.player: row for row in list_rows(ladder, at)})
                listed = self._listed[key] = ladder, at, rows
            return listed[2]

    async def name_of(self, id: str) -> str:
        """Return the name that a player has claimed, the id for one who has none any more."""
        account = await self._accounts.load(id)
        return id if account is None else account.player.name

    def _ladder(self, key: str) -> Ladder:
        return self.folding.state.ladders.get(key) or Ladder()


def _now() -> int:
    """Return the time in ms since 1970."""
    return time.time_ns() // 1_000_000


def _rounded(rating: float, deviation: float) -> tuple[float, float]:
    return round(rating, 1), round(deviation, 1)


def _player_of(ladder: Ladder, id: str) -> Rating:
    return ladder.players.get(id) or Rating()


def _count_games(entries: Iterable[Entry]) -> int:
    return sum(len(entry.games) for entry in entries)


def _encounters(games: Sequence[FinishedGame], asking: str) -> Any:
    """Return how games ended for who asks, nothing for none."""
    if not games:
        return UNSET
    winners = [game.players[game.result.winner].player if game.result.winner else "" for game in games]
    wins, draws = winners.count(asking), winners.count("")
    return Encounters(wins, draws, len(games) - wins - draws, games[0].at)
