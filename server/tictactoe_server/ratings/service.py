"""Ladders: which games may be rated, who is told when one was, and what people ask of ladders and players.

Nothing of it is on a move's path: it hears of the ends of games, and looks for those of other servers now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import structlog
from msgspec import UNSET, to_builtins
from msgspec.structs import asdict, replace

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
from tictactoe_protocol.ratings.ladder import Ladder, Player, State
from tictactoe_protocol.ratings.log import Judge, RatedGame, Verdict
from tictactoe_protocol.ratings.shown import games_to_rank, list_rows, rows_around
from tictactoe_protocol.requests import Create
from tictactoe_server.admin.orders.order import OrderRefused
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.people.limits import RETRY_MS
from tictactoe_server.ratings.export import export_log
from tictactoe_server.ratings.folding import Folding
from tictactoe_server.ratings.games import rated_game
from tictactoe_server.ratings.pages import LadderPages
from tictactoe_server.ratings.season import SeasonRow, format_csv, parse_span
from tictactoe_server.ratings.seasons import BOT_GAMES, Seasons
from tictactoe_server.ratings.tables import ENTRIES, LADDERS, SECRETS
from tictactoe_server.records.tables import ACCOUNTS
from tictactoe_server.rooms import FinishedGame, Refused, Room
from tictactoe_server.services.checks import chosen_rules
from tictactoe_server.services.history import MOVE_BYTES, ROW_BYTES, row_of
from tictactoe_server.storage.store import StoreUnavailable

MOST_OF_PAIR: Final = 10
DAY_MS: Final = 86_400_000
WIDENED: Final = 50
WIDENED_MS: Final = 10_000
LOOK_SECONDS: Final = 2.0
"""How often entries and games of other servers are looked for."""

_CLOSED: Final = {"undecided": "ladder undecided", "advantage": "ladder advantage"}
_TOP: Final = 20
_LISTED_GAMES: Final = 20
_PAGE: Final = 100
_TOLD_MS: Final = 60_000  # who played a game that ended before that is not told any more
_REREAD_SECONDS: Final = 3.0  # after somebody was forgotten

log: Final = structlog.get_logger(__name__)


class Ladders(Service):
    """Rates games of the rules that the settings name, where people have names."""

    tables = (ENTRIES, LADDERS, SECRETS, BOT_GAMES)

    def __init__(self) -> None:
        self.handles = {Ratings: self.ratings, Profile: self.profile}
        self.routes = LadderPages(
            lambda: self.keys,
            self.describe,
            self.describe_player,
            lambda after: self.folding.list_links(after),
            lambda key, span: self.seasons.measure(key, span),
            lambda key: self.seasons.measure_bots(key),
            lambda: self.seasons.list_bots(),
        ).routes
        self._tasks = Tasks()
        self._news = asyncio.Event()

    def start(self, core: Core) -> None:
        self._core, self._accounts = core, Accounts(core.store)
        self.keys: Sequence[str] = () if core.settings.hides_names else core.settings.ladders
        self.folding = Folding(core.store, self._tell)
        self.seasons = Seasons(self.folding, core.store, self._tasks, self.name_of)
        if self.keys:
            core.rating.append(self.check)
            core.lists.matchmaker.nearness.append(self._is_near)
            self._tasks.start(self._run())
        core.on_result(self._hear)
        core.on_merge(lambda player, into: self._tasks.start(self._merge(player, into)))
        core.registry.elsewhere.on_changed.add(self._hear_changed)

    async def close(self) -> None:
        await self._tasks.stop()

    # -- what is rated ------------------------------------------------------------------------------------------

    async def check(self, call: Call, rules: Rules, room: Room | None) -> None:
        """Raise `Refused` for what cannot be rated: a room that is opened as asked, or with who sits in `room`."""
        request, player, key = call.request, call.player, rules.preset or ""
        if key not in self.keys:
            raise Refused(ErrorCode.NOT_ALLOWED, "ladder", path="rules", ladders=list(self.keys))
        if (closing := self._ladder(key).closing) is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, _CLOSED[closing.reason], figure=closing.figure, of=closing.of)
        if room is None and request.clock is None:
            raise Refused(ErrorCode.BAD_CLOCK, "rated", path="clock")
        if isinstance(request, Create):
            usual = {"visibility": "public", "bots": (), "analysis": "closed"}
            for name, value in usual.items():
                if getattr(request, name) != value:
                    raise Refused(ErrorCode.NOT_ALLOWED, "rated room", path=name)
        claim = await self._accounts.find_claim(player.name, but=player.id)
        if claim is None or claim.player != player.id or player.bot is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "rated name", path="rated")
        if room is not None:
            for seat in room.held_seats:
                await self._check_pair(player.id, seat.player, seat.name)
        elif not self._core.allowances.take_kept(
            {player.id: call.session.address}, ROW_BYTES + MOVE_BYTES * rules.rows * rules.columns
        ):
            raise Refused(ErrorCode.RATE_LIMITED, "kept", retry_ms=RETRY_MS)

    def _is_near(self, room: Room, player: str, within: int) -> bool:
        """Tell whether a player is within so many points of who waits there, and 50 more for each ten seconds."""
        ladder = self._ladder(room.rules.preset or "")
        widened = within + WIDENED * ((self._core.time() - room.opened_at) // WIDENED_MS)
        own = _player_of(ladder, player).number.rating
        return all(abs(own - _player_of(ladder, seat.player).number.rating) <= widened for seat in room.held_seats)

    async def _check_pair(self, player: str, other: str, name: str) -> None:
        """Refuse one game too many of two, within a day; those that are on count.

        One at another server may still be listed as on when its game is kept already.
        """
        since = time.time_ns() // 1_000_000 - DAY_MS
        listed = [one.room for one in self._core.lists.seats.rooms_of(player)]
        met = [room for room in listed if room.rated and room.result is None and room.mark_of(other) is not None]
        kept = [game.room async for _, game in self._games_of(player, since) if other in game.people]
        games = len(kept) + len({room.code for room in met}.difference(kept))
        if games >= MOST_OF_PAIR and other != player:
            raise Refused(ErrorCode.NOT_ALLOWED, "rated pair", games=games, name=name)

    async def _games_of(self, player: str, since: int = 0) -> AsyncIterator[tuple[int, FinishedGame]]:
        """Yield a player's rated games with their numbers in the log, newest first, that ended `since` then."""
        before: int | None = None
        while some := await self._core.store.games.games_of(player, _PAGE, before):
            for before, game in some:
                if game.at < since:
                    return
                if rated_game(game) is not None:
                    yield before, game

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
        """Read all again a little after somebody was forgotten, whose name is another one then."""
        if table == ENTRIES.name:
            self._news.set()
        elif table in (LADDERS.name, ACCOUNTS.name):
            self._core.agenda.after(_REREAD_SECONDS, self.read_again)

    def read_again(self) -> None:
        """Fold again from what is kept."""
        self.folding.forget()
        self._news.set()

    async def _merge(self, player: str, into: str) -> None:
        now = time.time_ns() // 1_000_000
        try:
            await self.folding.judge(Verdict(0, now, "operator", "merge", "merged", player, into=into))
        except (OrderRefused, StoreUnavailable) as why:
            log.warning("games stay those of the player before", player=player, into=into, reason=str(why))

    def _tell(self, before: State, after: State, games: Sequence[RatedGame]) -> None:
        """Tell who is in the rooms of games that were rated what that changed, where they ended of late."""
        since, judge = time.time_ns() // 1_000_000 - _TOLD_MS, Judge(after.verdicts).judge
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

    async def judge(self, kind: Any, reason: str, *, of: str = "", since: int = 0, undoes: int = 0) -> dict[str, Any]:
        """Keep a verdict of the operator, and return it; raises `OrderRefused` and `StoreUnavailable`."""
        now = time.time_ns() // 1_000_000
        verdict = await self.folding.judge(Verdict(0, now, "operator", kind, reason, of, since, undoes=undoes))
        self._core.registry.elsewhere.tell_changed(ENTRIES.name, str(verdict.seq))
        log.info("a verdict on ratings", **asdict(verdict))
        return asdict(verdict)

    async def needed_from(self) -> float:
        """Return from when on games are needed that are not in a snapshot; see `Folding.needed_from`."""
        await self.folding.step()
        return self.folding.needed_from

    async def verify(self) -> dict[str, Any]:
        """Return the digest of what is shown, and that of all games folded again."""
        _, state = await self.folding.fold_all()
        return self._figures() | {"folded": state.digest}

    async def export(self) -> tuple[dict[str, Any], bytes]:
        """Return figures, and the log as it is written to a file."""
        lines = await export_log(self.folding)
        return self._figures(), lines

    async def season(self, key: str, since: str | None, until: str | None) -> tuple[dict[str, Any], bytes]:
        """Return the table of a ladder between two days, and as CSV; raises `OrderRefused` and `StoreUnavailable`."""
        if key not in self.keys:
            raise OrderRefused(f"There is no ladder of {key}, but of: {', '.join(self.keys) or 'nothing'}.")
        try:
            season = await self.seasons.measure(key, parse_span(since, until))
        except Refused as why:
            raise OrderRefused(why.message) from None
        return to_builtins(season), format_csv(season.rows, SeasonRow.__struct_fields__).encode()

    async def import_cups(self, files: Sequence[str]) -> dict[str, int]:
        """Keep the games of cups for the ladders of bots; see `Seasons.import_cups`."""
        return await self.seasons.import_cups(files)

    def _figures(self) -> dict[str, Any]:
        folding = self.folding
        return {"games": folding.games, "entries": folding.entries, "digest": folding.state.digest}

    # -- what is asked ------------------------------------------------------------------------------------------

    async def ratings(self, call: Call) -> None:
        """Answer with the rows of a ladder that are asked for."""
        request: Ratings = call.request
        key = chosen_rules(request.rules).preset or ""
        if key not in self.keys:
            why = "ladder" if self.keys else "ladders off"
            raise Refused(ErrorCode.NOT_ALLOWED, why, path="rules", ladders=list(self.keys))
        top = _TOP if request.top is UNSET else request.top
        call.answer(ladder=await self.describe(key, top, None if request.around is UNSET else request.around))

    async def profile(self, call: Call) -> None:
        """Answer with what ladders and games tell of a player, and of their games with who asks."""
        call.answer(profile=await self.describe_player(call.request.player, call.player.id))

    async def describe(self, key: str, top: int, around: str | None = None) -> LadderState:
        """Return the first rows of a ladder, or those next to a player."""
        ladder, now = self._ladder(key), time.time_ns() // 1_000_000
        listed = list_rows(ladder, now)
        rows = listed[:top] if around is None else rows_around(listed, around)
        closing, checkpoint = ladder.closing, self.folding.checkpoint
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
            UNSET if checkpoint is None else checkpoint,
        )

    async def describe_player(self, id: str, asking: str = "") -> PlayerProfile:
        """Return what ladders and the newest rated games tell of a player, refuse one who has played none."""
        now, standings = time.time_ns() // 1_000_000, []
        for key in self.keys:
            ladder = self._ladder(key)
            if (own := ladder.players.get(id)) is not None:
                place = next((row.place for row in list_rows(ladder, now) if row.player == id), UNSET)
                number, to_rank = own.number_at(now), games_to_rank(own, now)
                standing = LadderStanding(key, own.wins, own.draws, own.losses, to_rank=to_rank or UNSET, place=place)
                if to_rank is None:
                    rating, deviation = _rounded(number.rating, number.deviation)
                    standing = replace(standing, rating=rating, deviation=deviation)
                standings.append(standing)
        if not standings:
            raise Refused(ErrorCode.NOT_ALLOWED, "player", path="player", player=id)
        games = []
        async for found in self._games_of(id):
            games.append(found)
            if len(games) == _PAGE:
                break
        rows = tuple(row_of(*one) for one in games[:_LISTED_GAMES])
        met = [game for _, game in games if asking != id and asking in game.people]
        return PlayerProfile(id, await self.name_of(id), tuple(standings), rows, _encounters(met, asking))

    async def name_of(self, id: str) -> str:
        """Return the name that a player has claimed, the id for one who has none any more."""
        account = await self._accounts.load(id)
        return id if account is None else account.player.name

    def _ladder(self, key: str) -> Ladder:
        return self.folding.state.ladders.get(key) or Ladder()


def _rounded(rating: float, deviation: float) -> tuple[float, float]:
    return round(rating, 1), round(deviation, 1)


def _player_of(ladder: Ladder, id: str) -> Player:
    return ladder.players.get(id) or Player()


def _encounters(games: Sequence[FinishedGame], asking: str) -> Any:
    """Return how games ended for who asks, nothing for none."""
    if not games:
        return UNSET
    winners = [game.players[game.result.winner].player if game.result.winner else "" for game in games]
    wins, draws = winners.count(asking), winners.count("")
    return Encounters(wins, draws, len(games) - wins - draws, games[0].at)
