"""Challenges: one player asks another for a game, and the other accepts or declines.

A challenge is a stored row that every server of a cluster reads. An answer is one compare-and-set of the row, and
so is the expiry. A challenge thus ends only once and survives the crash of any server.

To accept a challenge is two writes: first the room, then the acceptance with the room's code. If another answer was
stored first, the room is closed again. If the server crashes between the two writes, the challenge stays open, and the
room closes as an abandoned one.

A server that hides the names of players has neither challenges nor blocks.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable
from contextlib import suppress
from typing import Final, TypeVar
from weakref import WeakValueDictionary

import msgspec
import structlog
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.challenges import (
    CHALLENGE_MS,
    MAX_CHALLENGES,
    MAX_RECEIVED,
    Answer,
    Block,
    Challenge,
    Challenged,
    ChallengeOver,
    OpenChallenge,
)
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.features.challenges.blocks import BLOCKS, Blocking
from tictactoe_server.features.feature import Feature
from tictactoe_server.operator.drain import Drain
from tictactoe_server.people.allowances import RETRY_MS
from tictactoe_server.play.checks import check_clock, chosen_rules, find_player
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.room import Player, Purpose, Refused
from tictactoe_server.scheduler import every, wait_for
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.connection import encode_push
from tictactoe_server.transport.rate_limit import Quota, RateLimits

PRESENCE_SECONDS: Final = 1.0  # for other servers to answer that a player is connected there
KEPT_MS: Final = 60_000  # lifetime of a finished challenge, for servers that missed its end
TICK_SECONDS: Final = 1.0
SAME_PLAYER: Final = 5  # challenges from one address to one player in a minute
DIFFERENT_PLAYERS: Final = 30  # players challenged from one address in a minute
_ACQUAINTANCE_GAMES: Final = 50  # opponents in a player's latest games are not strangers; this is their number

_WHO_IS_THERE, _IS_THERE = "presence asked", "presence"  # sent to other servers with a player's id

log: Final = structlog.get_logger(__name__)

Row = TypeVar("Row", bound=OpenChallenge)


class StoredChallenge(OpenChallenge, frozen=True, kw_only=True):
    """A challenge as it is stored.

    Attributes:
        until: The deadline for an answer, then the time of the answer (ms of served time).
        how: The end of the challenge, or "" while it is open.
        answer: Id of the answer that won the compare-and-set, so that a repeated write is recognised.
        room: The code of an accepted challenge's room.
    """

    clock: ClockFields | None
    until: int
    how: str = ""
    answer: str = ""
    room: str = ""

    @property
    def people(self) -> tuple[str, str]:
        return self.player, self.to

    @property
    def made_at(self) -> int:
        """When the challenge was made, or an earlier time once it is answered (ms of served time)."""
        return self.until - self.expires_ms

    @property
    def is_open(self) -> bool:
        return not self.how

    def row(self, kind: type[Row], now: int) -> Row:
        """Return the message that players are sent at `now` (ms of served time)."""
        fields = {name: getattr(self, name) for name in OpenChallenge.__struct_fields__}
        return kind(**fields | {"expires_ms": max(0, self.until - now)})


CHALLENGES: Final[TableSpec[StoredChallenge]] = TableSpec(
    *("challenges", "challenge", msgspec.json.encode, msgspec.json.Decoder(StoredChallenge).decode),
    key_of=lambda challenge: challenge.challenge,
    persons=Persons(
        lambda challenge: challenge.people,
        shown=lambda challenge: msgspec.to_builtins(challenge.row(OpenChallenge, challenge.made_at)),
        owner=lambda challenge: challenge.player,
    ),
    lifetime_seconds=lambda challenge: (KEPT_MS + (challenge.expires_ms if challenge.is_open else 0)) // 1000,
)
"""Challenges by id, kept until a minute after their end."""


class Challenges(Service):
    """Handles challenges and their answers."""

    def __init__(self, core: Core, drain: Drain, blocking: Blocking) -> None:
        self._drain, self._blocking = drain, blocking
        self.handles = {Challenge: self.challenge, Answer: self.answer, Block: self.block}
        self._by_player = Quota()  # open challenges by the ids of both players
        self._unstored = Quota()  # the ids of challenged players by that of the challenger
        self._presence = WeakValueDictionary[str, asyncio.Event]()
        self._answering = WeakValueDictionary[str, asyncio.Lock]()
        self._opened: dict[str, LiveRoom] = {}  # rooms of acceptances that may not be stored, by challenge
        self._core = core
        self._elsewhere = elsewhere = core.rooms.elsewhere
        self._stored = Mirror(core.store.table(CHALLENGES), CHALLENGES.name, elsewhere, self.tasks)
        self._stored.on_change.add(self._show_change)
        self._sessions = core.presence.of_player
        self._same_player = RateLimits(SAME_PLAYER, RETRY_MS, core.monotonic_ns)
        self._different_players = RateLimits(DIFFERENT_PLAYERS, RETRY_MS, core.monotonic_ns)
        core.hooks.welcome_fields["challenges"] = self._list_for_welcome
        elsewhere.on_changed[_WHO_IS_THERE].add(self._on_presence_asked)
        elsewhere.on_changed[_IS_THERE].add(self._on_presence)
        self.jobs = (
            self._stored.run,
            lambda: every(TICK_SECONDS, lambda: core.scheduler.soon(self._expire)),  # the scheduler logs errors
        )

    async def challenge(self, call: Call) -> None:
        to = await find_player(self._core, call.request.player)
        if to == call.player.id:
            raise Refused(ErrorCode.NOT_ALLOWED, "self", path="player")
        if self._blocking.is_deaf(call.player.id, to):
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge blocked", path="player")
        challenge = await self._make(call, to)
        if any(session.player and session.player.bot for session in self._sessions(to)):
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge bot", path="player")
        blocks = await self._blocking.load(to)
        if blocks.strangers and call.player.id not in await self._acquaintances(to):
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge strangers", path="player")
        await self._check_present(to, is_blocked=call.player.id in blocks.blocked)
        self._check_number(call, to)
        id = challenge.challenge

        def answer(error: Exception | None) -> None:
            if error is None:
                call.answer(challenge=id)

        self._unstored.add(call.player.id, to)
        try:
            await self._stored.change(id, lambda old: old or challenge, answer)
        finally:
            self._unstored.discard(call.player.id, to)
        self.tasks.start(self._attempt(self._drop_oldest(to)))

    def _check_number(self, call: Call, to: str) -> None:
        """Raise `Refused` for a second open challenge to a player, or too many from a player or an address."""
        own = [known.to for known in self._of_player(call.player.id) if known.player == call.player.id]
        own += self._unstored.get(call.player.id, ())
        if to in own or len(own) >= MAX_CHALLENGES:
            self._core.allowances.refuse_for(RETRY_MS, "challenges")
        address, consume = call.session.address, self._core.allowances.consume
        same_player = self._same_player[f"{address} {to}"]
        if not same_player.used:
            consume(self._different_players[address], "challenges", "challenges of address")
        consume(same_player, "challenges", "challenges of address")

    async def _drop_oldest(self, to: str) -> None:
        """Expire a player's received challenges beyond `MAX_RECEIVED`, those from strangers first, the oldest first."""
        while len(received := [one for one in self._of_player(to) if one.to == to]) > MAX_RECEIVED:
            met = await self._acquaintances(to)
            await self._end(min(received, key=lambda one: (one.player in met, one.made_at)), "expired")

    async def _acquaintances(self, player: str) -> set[str]:
        games = await self._core.store.games.games_of(player, _ACQUAINTANCE_GAMES)
        return {person for _, game in games for person in game.people}

    async def block(self, call: Call) -> None:
        await self._blocking.block(call)
        if call.request.strangers is True:
            self.tasks.start(self._attempt(self._decline_strangers(call.player.id)))

    async def _decline_strangers(self, player: str) -> None:
        met = await self._acquaintances(player)
        for challenge in self._of_player(player):
            if challenge.to == player and challenge.player not in met:
                with suppress(Refused):  # it was answered meanwhile
                    await self._end(challenge, "declined")

    async def answer(self, call: Call) -> None:
        id, player, accept = call.request.challenge, call.player, call.request.accept
        async with self._answering.setdefault(id, asyncio.Lock()):  # so that only the first of several opens a room
            challenge = self._stored.get(id) or await self._stored.read(id)
            if challenge is None or not challenge.is_open or not self._may_answer(challenge, player.id, accept=accept):
                raise _no_open_challenge()
            if accept:
                self._check(call)
                call.answer(room=await self._accept(challenge, player))
            else:
                await self._end(challenge, "withdrawn" if player.id == challenge.player else "declined")
                call.answer()

    async def _list_for_welcome(self, account: Account) -> tuple[OpenChallenge, ...]:
        player = account.player.id
        await self._stored.loaded.wait()
        await self._blocking.load(player)
        now = self._core.time()
        known = (challenge for challenge in self._of_player(player) if challenge.until > now)
        return tuple(one.row(OpenChallenge, now) for one in known if self._is_shown(one, player))

    async def _make(self, call: Call, to: str) -> StoredChallenge:
        request, player = call.request, call.player
        rules, side = chosen_rules(request.rules), request.side
        check_clock(request.clock)
        if side is not UNSET and side not in tuple(rules.marks):
            raise Refused(ErrorCode.BAD_MESSAGE, "seat", path="side", seat=side, marks=list(rules.marks))
        self._check(call)
        await self._core.hooks.policy_for(request).check(rules, request.clock, player, [to])
        self._core.allowances.count_create(player, call.session.address)
        return StoredChallenge(
            challenge=secrets.token_urlsafe(8),
            player=player.id,
            name=player.name,
            to=to,
            rules=RulesState.of(rules),
            clock=request.clock,
            rated=request.rated,
            side=side,
            expires_ms=CHALLENGE_MS,
            until=self._core.time() + CHALLENGE_MS,
        )

    def _check(self, call: Call) -> None:
        self._drain.check()
        if call.player.bot is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge bot")
        self._core.indexes.seats.check(call.player.id, call.session.address)

    async def _check_present(self, id: str, *, is_blocked: bool) -> None:
        """Raise `Refused` if a player is not connected or, after the same delay, blocks the challenger."""
        if is_blocked or not await self.is_present(id):
            if is_blocked:
                await self._ask_others(id, asyncio.Event())
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge absent", path="player")

    async def is_present(self, id: str) -> bool:
        """Return True if a player is connected to this server or to another server of the cluster."""
        return self._is_present(id) or await self._ask_others(id, self._presence.setdefault(id, asyncio.Event()))

    async def _ask_others(self, id: str, heard: asyncio.Event) -> bool:
        self._elsewhere.broadcast_change(_WHO_IS_THERE, id)
        return await wait_for(heard, PRESENCE_SECONDS if self._elsewhere.is_several else 0)

    def _may_answer(self, challenge: StoredChallenge, player: str, *, accept: bool) -> bool:
        if player == challenge.player:
            return not accept
        return challenge.to == player and self._is_shown(challenge, player)

    def _is_shown(self, challenge: StoredChallenge, player: str) -> bool:
        """Return True unless one of the two players blocks the other, from the point of view of `player`."""
        is_deaf, other = self._blocking.is_deaf, challenge.player
        return player in challenge.people and not (is_deaf(player, other) or is_deaf(other, player))

    async def _end(self, challenge: StoredChallenge, how: str, room: str = "") -> None:
        """Store an answer, or raise `Refused` if another answer was stored first."""
        answer = secrets.token_urlsafe(8)

        def edit(old: StoredChallenge | None) -> StoredChallenge:
            if old is not None and (old.answer == answer or (room and old.room == room)):  # stored before
                return old
            now = self._core.time()
            if old is None or not old.is_open or old.until <= now:
                raise _no_open_challenge()
            return replace(old, how=how, answer=answer, room=room, until=now)

        await self._stored.change(challenge.challenge, edit)

    async def _accept(self, challenge: StoredChallenge, player: Player) -> str:
        """Open the room, store the acceptance, and return the room's code."""
        if player.id in (await self._blocking.load(challenge.player)).blocked:
            raise _no_open_challenge()
        policy, rules = self._core.hooks.policy_for(challenge), challenge.rules.to_rules()
        await policy.check(rules, challenge.clock, player, [challenge.player])
        live = self._opened.get(challenge.challenge)
        if live is None or live.is_gone:
            live = await self._open_room(challenge, player, rules, policy.purpose)
            self._opened[challenge.challenge] = live
        code = live.room.code
        try:
            await self._end(challenge, "accepted", code)
        except Refused:
            self._opened.pop(challenge.challenge, None)
            with suppress(Refused, StoreUnavailable):  # then it closes as an abandoned room
                await self._core.timers.end(live, closing_notice(code, "left"))
            raise
        return code

    async def _open_room(self, challenge: StoredChallenge, player: Player, rules: Rules, purpose: Purpose) -> LiveRoom:
        """Open a room with both players in their seats. Raise `Refused` if the server or the challenger has too many.

        The limits are checked before the first suspension, so that the result of the policy's check still holds.
        """
        owner = challenge.player
        side = secrets.choice(rules.marks) if challenge.side is UNSET else challenge.side
        seats = {
            side: SeatState(owner, challenge.name, online=False, bot=None),
            rules.marks.replace(side, "")[0]: SeatState(player.id, player.name, online=False, bot=None),
        }
        sessions = self._sessions(owner)
        origin = sessions[0].address if sessions else ""
        try:
            self._core.indexes.seats.check(owner, origin)
            live = self._core.rooms.expect(
                rules, reserved=seats, clock=challenge.clock, owner=owner, origin=origin, purpose=purpose
            )
            return await self._core.rooms.open(live, self._core.timers.close_later)
        except Refused as error:
            log.info("challenge room not opened", reason=str(error))
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge room") from None

    def _show_change(self, id: str, before: StoredChallenge | None, after: StoredChallenge | None) -> None:
        """Index a challenge, and notify its players when it begins and when it ends."""
        if after is None:
            if before is None:
                return
            after = replace(before, how="expired")  # a player was forgotten, or it was deleted long after its end
        is_loaded, now = self._stored.loaded.is_set(), self._core.time
        now.go_on_from(after.made_at)
        if not after.is_open:
            self._finish(after)
            return
        for player in after.people:
            self._by_player.add(player, id, after)
        if before is None and is_loaded:
            self._push(after, after.row(Challenged, now()))

    def _finish(self, challenge: StoredChallenge) -> None:
        """Remove a challenge from the index and notify its players, unless that was done before."""
        self._opened.pop(challenge.challenge, None)
        if challenge.challenge not in self._by_player.get(challenge.to, ()):
            return
        for player in challenge.people:
            self._by_player.discard(player, challenge.challenge)
        if self._stored.loaded.is_set():  # before that, every welcome will list the open challenges
            self._push(challenge, ChallengeOver(challenge.challenge, challenge.how, challenge.room or UNSET))

    def _push(self, challenge: StoredChallenge, message: Challenged | ChallengeOver) -> None:
        frame = encode_push(message)
        for player in challenge.people:
            for session in self._sessions(player):
                session.connection.push_frame(frame)

    def _is_present(self, id: str) -> bool:
        return any(session.player and session.player.bot is None for session in self._sessions(id))

    def _of_player(self, id: str) -> list[StoredChallenge]:
        return list(self._by_player.get(id, {}).values())

    async def _attempt(self, work: Awaitable[object]) -> None:
        """Await `work` and log its errors: the store may fail, and players or other servers may act first."""
        try:
            await work
        except (Refused, StoreUnavailable) as error:
            log.debug("challenge not changed", reason=str(error))
        except Exception:
            log.exception("challenge failed")

    def _expire(self) -> None:
        """End the challenges that are due, and delete those that ended long ago."""
        now = self._core.time()
        for challenge in self._stored:
            id = challenge.challenge
            if challenge.is_open:
                if challenge.until <= now:
                    self.tasks.start(self._attempt(self._expire_stored(id)))
            elif now - challenge.until > KEPT_MS:
                if self._stored.table.expires:
                    self._stored.forget(id)
                else:
                    self.tasks.start(self._attempt(self._stored.change(id, lambda old: None)))

    async def _expire_stored(self, id: str) -> None:
        """Store the expiry of a challenge, unless an answer was stored first."""
        if await self._stored.read(id) is not None:
            await self._stored.change(id, lambda old: replace(old, how="expired") if old and old.is_open else old)

    def _on_presence_asked(self, player: str) -> None:
        if self._is_present(player):
            self._elsewhere.broadcast_change(_IS_THERE, player)

    def _on_presence(self, player: str) -> None:
        if (heard := self._presence.get(player)) is not None:
            heard.set()


def _no_open_challenge() -> Refused:
    return Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")


FEATURE: Final = Feature(
    make=lambda parts: (
        ()
        if parts.settings.hides_names
        else [blocking := Blocking(parts.core), Challenges(parts.core, parts.drain, blocking)]
    ),
    tables=(BLOCKS, CHALLENGES),
)
