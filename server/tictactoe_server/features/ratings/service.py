"""Ladders: who may play rated games, what players learn about ratings, and requests about ladders and players.

Ratings never delay a move, because a game is rated in the background after it has ended and is stored.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from types import MappingProxyType
from typing import Any, Final

import structlog
from msgspec import UNSET
from msgspec.structs import asdict, replace

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode, rated
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.ratings.exported import encode_export
from tictactoe_protocol.ratings.ladder import Ladder, State
from tictactoe_protocol.ratings.ladder import Player as Rating
from tictactoe_protocol.ratings.log import Judge, RatedGame, Verdict
from tictactoe_protocol.ratings.shown import Row, is_provisional, list_rows, rows_around
from tictactoe_protocol.terms import ClockFields
from tictactoe_server import clock
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.hooks import RoomPolicy
from tictactoe_server.features.ratings.folding import RATED, Folding, is_rated, rated_game
from tictactoe_server.features.ratings.tables import ENTRIES
from tictactoe_server.operator.order import OrderRefused
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.play.checks import chosen_rules, find_player
from tictactoe_server.play.history import row_of
from tictactoe_server.records.tables import FORGOTTEN
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.view import RoomListing
from tictactoe_server.scheduler import wait_for
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_words.catalogue import speaking
from tictactoe_words.ladders import describe_ladder, describe_meetings

MOST_OF_PAIR: Final = 10  # rated games a day between the same two players
DAY_MS: Final = 86_400_000
POLL_SECONDS: Final = 2.0  # between reads of other servers' entries and games
_TOP: Final = 20  # rows of a leaderboard in a reply
_LISTED_GAMES: Final = 20  # in a profile
_LEADERBOARD_MS: Final = 60_000  # lifetime of a cached leaderboard; deviations grow with time
_PAGE: Final = 100  # games in a page of a player's history
_PAGES: Final = 10  # how many pages are searched for a profile
_ANNOUNCED_MS: Final = 60_000  # rating changes are pushed only for games that ended at most this long ago

log: Final = structlog.get_logger(__name__)


class Ladders(Service, RoomPolicy):
    """Rates games.

    Args:
        presets: The names of the rules with rated games; if empty, there are no rated games.
    """

    purpose = RATED
    required = MappingProxyType({"visibility": "public", "bots": (), "analysis": "closed", "guests": ()})

    def __init__(self, core: Core, presets: Sequence[str]) -> None:
        self.presets = presets
        self.handles = {rated.Ratings: self.ratings, rated.Profile: self.profile}
        self._has_news, self._leaderboard_lock = asyncio.Event(), asyncio.Lock()
        self._leaderboards: dict[str, tuple[Ladder, int, dict[str, Row]]] = {}
        self._core, self._accounts = core, Accounts(core.store)
        self.folding = Folding(core.store, self._announce)
        if self.presets:
            core.indexes.matchmaker.distances[RATED.name] = self._distance
            self.jobs = (self._run,)
        hooks = core.hooks
        hooks.policies[RATED.name] = self
        hooks.games_needed_from.append(self.folding.needed_from)
        hooks.on_merge.append(self._merge)
        core.rooms.on_result.add(self._on_result)
        on_changed = core.rooms.elsewhere.on_changed
        on_changed[ENTRIES.name].add(lambda key: self._has_news.set())
        on_changed[FORGOTTEN.name].add(self._on_forgotten)

    async def check(
        self, rules: Rules, clock: ClockFields | None, player: Player, others: Collection[str] = (), *, room: str = ""
    ) -> None:
        """Raise `Refused` unless a player may play a rated game with these terms.

        The ladder must be open, the game must have a clock, and the player must have a claimed name. Against each of
        the `others`, the player must not have reached the daily limit of rated games; games in the room with the code
        `room` do not count towards it.
        """
        if self.presets and len(rules.marks) != 2:
            raise Refused(ErrorCode.NOT_ALLOWED, "rated players", path="rules")
        key = self.check_key(rules.preset or "")
        await self.folding.catch_up()
        ladder = self._ladder(key)
        if (closing := ladder.closing) is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, f"ladder {closing.reason}", figure=closing.figure, of=closing.of)
        if clock is None:
            raise Refused(ErrorCode.BAD_CLOCK, "rated", path="clock")
        # Running games are listed before and after the history is read, so that a game that ends in between counts.
        running = {other: self._running_games(player.id, other) for other in others}
        finding, played = self._accounts.find_claim(player.name, own=player.id), dict[str, set[tuple[str, int]]]()
        if others:
            claim, played = await asyncio.gather(finding, self._games_today(player.id))
        else:
            claim = await finding
        if claim is None or claim.player != player.id or player.bot is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "rated name", path="rated")
        for other in others:
            games = running[other] | played.get(other, set()) | self._running_games(player.id, other)
            count = sum(code != room for code, _ in games)
            if count >= MOST_OF_PAIR:
                raise Refused(ErrorCode.NOT_ALLOWED, "rated pair", games=count, name=await self.name_of(other))

    async def skipped_opponents(self, player: str) -> Collection[str]:
        """Return the ids of the opponents against whom a player has reached the daily limit of rated games."""
        played = await self._games_today(player)
        met = {id for listed in self._running_rooms(player) for id in listed.player_ids}.union(played) - {player}
        return [id for id in met if len(played.get(id, set()) | self._running_games(player, id)) >= MOST_OF_PAIR]

    async def _games_today(self, player: str) -> dict[str, set[tuple[str, int]]]:
        """Return a player's rated games in the last 24 hours, by opponent; a game is a room and a number in it."""
        found = dict[str, set[tuple[str, int]]]()
        async for game in self._games_of(player, clock.wall_ms() - DAY_MS):
            for other in game.people:
                found.setdefault(other, set()).add((game.room, game.game))
        return found

    def check_key(self, key: str) -> str:
        """Return `key` if there is a ladder with this key; otherwise raise `Refused`."""
        if not self.presets:
            raise Refused(ErrorCode.NOT_ALLOWED, "ladders off", path="rules")
        if key not in self.presets:
            raise Refused(ErrorCode.NOT_ALLOWED, "ladder", path="rules", ladders=list(self.presets))
        return key

    def _running_games(self, one: str, other: str) -> set[tuple[str, int]]:
        """Return the unfinished rated games between two players; a game is a room and a number in it."""
        running = (*self._running_rooms(one), *self._running_rooms(other))
        return {(each.room.code, each.room.game) for each in running if {one, other} <= each.player_ids}

    def _running_rooms(self, player: str) -> list[RoomListing]:
        listed: Iterable[RoomListing] = self._core.indexes.seats.of_player.get(player, {}).values()
        return [each for each in listed if is_rated(each.room) and each.room.result is None]

    def _distance(self, room: Room, player: str) -> float:
        ladder = self._ladder(room.rules.preset or "")
        own = _player_of(ladder, player).number.rating
        return max((abs(own - _player_of(ladder, seat.player).number.rating) for seat in room.held_seats), default=0.0)

    def add_fields(self, listed: RoomListing) -> dict[str, Any]:
        room = listed.room
        if not (self.presets and room.status == "waiting" and room.held_seats):
            return {}
        host = _player_of(self._ladder(room.rules.preset or ""), room.held_seats[0].player)
        provisional = {"host_provisional": True} if is_provisional(host, clock.wall_ms()) else {}
        return {"host_rating": round(host.number.rating), **provisional}

    async def _games_of(self, player: str, since: int = 0, pages: int = sys.maxsize) -> AsyncIterator[FinishedGame]:
        """Yield a player's rated games, newest first, that ended at `since` or later (ms since 1970).

        `pages` limits how many pages of the player's history are read.
        """
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

    async def _run(self) -> None:
        await self._core.rooms.restored.wait()
        is_several = self._core.rooms.elsewhere.is_several
        while True:
            self._has_news.clear()  # before reading, so that no news is missed
            patience = POLL_SECONDS if is_several else None
            try:
                await self.folding.step()
            except StoreUnavailable as unavailable:
                log.warning("ratings not updated: store unavailable; retrying", reason=str(unavailable))
                patience = POLL_SECONDS
            except Exception:
                log.exception("ratings not updated")
            await wait_for(self._has_news, patience)

    def _on_result(self, game: FinishedGame, id: str) -> None:
        if is_rated(game) and id:
            self._has_news.set()

    def _on_forgotten(self, key: str) -> None:
        """Read everything again: a forgotten player has another id from then on."""
        self.folding.invalidate()
        self._has_news.set()

    def _announce(self, before: State, after: State, games: Sequence[RatedGame]) -> None:
        since, judge = clock.wall_ms() - _ANNOUNCED_MS, Judge(after.verdicts).judge
        ladders = dict[str, Ladder]()
        for game in filter(None, map(judge, games if any(game.at > since for game in games) else ())):
            if game.rules not in ladders:
                ladders[game.rules] = before.ladders.get(game.rules, Ladder()).copy()
            ladder = ladders[game.rules]
            expected = ladder.expected(game)
            known = [_player_of(ladder, id) for id in game.players]
            ladder.add(game)
            room, number, _ = game.id.rsplit("-", 2)
            live = self._core.rooms.by_code.get(room)
            if live is not None and str(live.room.game) == number:
                changes = {
                    id: rated.RatingChange(
                        own.number.rating,
                        ladder.players[id].number.rating,
                        round(points, 3),
                        is_provisional(ladder.players[id], game.at),
                    )
                    for id, own, points in zip(game.players, known, expected, strict=True)
                }
                live.push(rated.Rated(room, live.room.game, game.rules, changes))

    async def judge(self, kind: Any, reason: str, **about: Any) -> dict[str, Any]:
        """Store an operator's verdict, and return its fields; may raise `OrderRefused` or `StoreUnavailable`.

        For ``void player``, `of` may also be a claimed name.
        """
        at = clock.wall_ms()
        if kind == "void player":
            about["of"] = await find_player(self._core, about["of"])
        verdict = await self.folding.judge(Verdict(seq=0, at=at, by="operator", kind=kind, reason=reason, **about))
        self._core.rooms.elsewhere.broadcast_change(ENTRIES.name, str(verdict.seq))
        log.info("ratings verdict stored", **asdict(verdict))
        return asdict(verdict)

    async def _merge(self, id: str, into: str) -> None:
        """Count the games of the player `id` for the player `into`; idempotent, so it may be repeated."""
        try:
            await self.judge("merge", "merged", of=id, into=into)
        except OrderRefused as why:
            log.warning("rated games of a merged player stay separate", player=id, reason=str(why))

    async def verify(self) -> dict[str, Any]:
        """Fold all games again; return the ``digest`` of the current ratings, and of the new fold as ``folded``."""
        _, folded, _ = await self.folding.fold_all()
        return {"games": self.folding.games, "digest": self.folding.state.digest, "folded": folded.digest}

    async def export(self) -> tuple[dict[str, Any], bytes]:
        """Return the number of games and the digest, and the content of an export."""
        games, state, entries = await self.folding.fold_all()
        named = [games[id] for entry in entries for id in entry.games]
        content = await asyncio.to_thread(lambda: encode_export(named, state.verdicts, state.digest))
        return {"games": len(named), "digest": state.digest}, content

    async def ratings(self, call: Call) -> None:
        request: rated.Ratings = call.request
        key = self.check_key(chosen_rules(request.rules).preset or "")
        top = _TOP if request.top is UNSET else request.top
        ladder = await self.describe(key, top, None if request.around is UNSET else request.around)
        with speaking(call.session.language):
            call.answer(ladder=replace(ladder, text=tuple(describe_ladder(ladder))))

    async def profile(self, call: Call) -> None:
        profile = await self.describe_player(call.request.player, call.player.id)
        with speaking(call.session.language):
            call.answer(profile=replace(profile, text=describe_meetings(profile)))

    async def describe(self, key: str, top: int, around: str | None = None) -> rated.LadderState:
        """Return a ladder with its first `top` rows, or with the rows around a player."""
        await self.folding.catch_up()
        ladder, listed = self._ladder(key), [*(await self._rows_of(key)).values()]
        rows = listed[:top] if around is None else rows_around(listed, around)
        names = await asyncio.gather(*(self.name_of(row.player) for row in rows))
        named = [
            rated.LadderRow(
                row.place, row.player, name, *_rounded(row.rating, row.deviation), row.games, round(row.trend, 1)
            )
            for row, name in zip(rows, names, strict=True)
        ]
        return rated.LadderState(
            key,
            tuple(named),
            ladder.games,
            round(ladder.advantage.points, 1),
            ladder.decided.count("+") / len(ladder.decided) if ladder.decided else 0.0,
            ladder.closing or UNSET,
        )

    async def describe_player(self, player: str, asking: str = "") -> PlayerProfile:
        """Return a player's profile by id or claimed name, with the results against the player `asking`.

        Raise `Refused` if the player has neither a claimed name nor a rated game.
        """
        if not self.presets:
            raise Refused(ErrorCode.NOT_ALLOWED, "ladders off")
        await self.folding.catch_up()
        id, now, standings = await find_player(self._core, player), clock.wall_ms(), []
        account = await self._accounts.load(id)
        for key in self.presets:
            ladder = self._ladder(key)
            if (own := ladder.players.get(id)) is not None:
                listed = (await self._rows_of(key)).get(id)
                number, place = own.number_at(now), (listed and listed.place) or UNSET
                shown = *_rounded(number.rating, number.deviation), is_provisional(own, now)
                standings.append(rated.LadderStanding(key, own.wins, own.draws, own.losses, *shown, place))
        if not standings and not (account and account.claimed):
            raise Refused(ErrorCode.NOT_ALLOWED, "player", path="player", player=player)
        games = []
        async for found in self._games_of(id, pages=_PAGES):
            games.append(found)
            if len(games) == _PAGE:
                break
        rows = tuple(row_of(game) for game in games[:_LISTED_GAMES])
        met = [game for game in games if asking != id and asking in game.people]
        name = account.player.name if account else id
        return PlayerProfile(id, name, tuple(standings), rows, _encounters(met, asking))

    async def _rows_of(self, key: str) -> dict[str, Row]:
        """Return a leaderboard by player id; it is computed again after a game or a minute."""
        async with self._leaderboard_lock:
            ladder, at = self._ladder(key), clock.wall_ms()
            cached = self._leaderboards.get(key)
            if cached is None or cached[0] is not ladder or at - cached[1] >= _LEADERBOARD_MS:
                rows = await asyncio.to_thread(lambda: {row.player: row for row in list_rows(ladder, at)})
                cached = self._leaderboards[key] = ladder, at, rows
            return cached[2]

    async def name_of(self, id: str) -> str:
        """Return a player's name, or the id if the player has been erased."""
        account = await self._accounts.load(id)
        return id if account is None else account.player.name

    def _ladder(self, key: str) -> Ladder:
        return self.folding.state.ladders.get(key) or Ladder()


def _rounded(rating: float, deviation: float) -> tuple[float, float]:
    return round(rating, 1), round(deviation, 1)


def _player_of(ladder: Ladder, id: str) -> Rating:
    return ladder.players.get(id) or Rating()


def _encounters(games: Sequence[FinishedGame], asking: str) -> Any:
    if not games:
        return UNSET
    winners = [game.players[game.result.winner].player if game.result.winner else "" for game in games]
    wins, draws = winners.count(asking), winners.count("")
    return rated.Encounters(wins, draws, len(games) - wins - draws, games[0].at)
