"""Challenges to one player and to all, and whom one wants to hear nothing of.

All of it is kept: a row a challenge, which every server of a cluster knows and tells its own connections of. An answer
is one compare-and-set of the row, wherever it is given, and who won it opens the room there. So a challenge goes on
through the death of any server; one that was accepted and has no room in good time has failed.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from itertools import count, islice
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import msgspec
import structlog
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import MAX_LISTED_ROOMS, ErrorCode, encode
from tictactoe_protocol.challenges import (
    CHALLENGE_MS,
    MAX_BLOCKS,
    MAX_CHALLENGES,
    SEEK_MS,
    Answer,
    Block,
    Challenge,
    Challenged,
    ChallengeOver,
    OpenChallenge,
    Seek,
    SeekChanges,
)
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.admin.drain import Drain
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.listings.lobby import MAX_CHANGE_BYTES, in_groups
from tictactoe_server.people.limits import RETRY_MS
from tictactoe_server.records.changes import change
from tictactoe_server.rooms import Player, Refused
from tictactoe_server.services.checks import RatedCheck, check_clock, check_knows, chosen_rules, find_player
from tictactoe_server.sessions.session import Session
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable, Unreadable, delete
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.rate_limit import Held
from tictactoe_server.watching.topics import Topic, list_of

HERE_SECONDS: Final = 1.0  # within which another server says that somebody is there
AWAY_SECONDS: Final = 20.0  # for how long a player is connected nowhere whose seek ends
OPENING_MS: Final = 10_000  # within which an accepted challenge has its room, or has failed
KEPT_MS: Final = 60_000  # for how long it is kept how a challenge ended, for servers that did not hear it
LOOK_SECONDS: Final = 1.0  # how often it is looked who is away
READ_LOOKS: Final = 10  # after how many of these a server of a cluster reads what it may not have heard
_ASKED, _HERE = "asked for", "here"  # in place of a table: whether a player is there, by the id, and that they are

log: Final = structlog.get_logger(__name__)


class Blocks(Struct, frozen=True):
    """Whom a `player` wants to hear nothing of, by their ids."""

    player: str
    blocked: tuple[str, ...] = ()

    def without(self, id: str, stand_in: str) -> Blocks | None:
        """Return what is left when somebody is forgotten."""
        return None if id == self.player else Blocks(self.player, tuple(one for one in self.blocked if one != id))


BLOCKS: Final[TableSpec[Blocks]] = TableSpec(
    *("blocks", "list of blocks", msgspec.json.encode, msgspec.json.Decoder(Blocks).decode),
    key_of=lambda blocks: blocks.player,
    persons=Persons(
        lambda blocks: (blocks.player, *blocks.blocked), Blocks.without, owner=lambda blocks: blocks.player
    ),
)
"""By the ids of those who block."""


Row = TypeVar("Row", bound=OpenChallenge)


class Made(OpenChallenge, frozen=True, kw_only=True):
    """A challenge as it is kept, from whom it is hidden, and `until` when it can be accepted (ms since 1970).

    Once it is answered: `how`, by whom, by which `answer` of all that were given, and until when its room has to be
    there. A seek is looked after `at` the server of this URL, as its player was there.
    """

    player: str
    name: str
    clock: ClockFields | None
    until: int
    at: str
    hidden: tuple[str, ...] = ()
    how: str = ""
    by: str = ""
    answer: str = ""
    room: str = ""

    @property
    def people(self) -> set[str]:
        """Those whom it concerns: who made it, whom it is to where that is one, and who answered it."""
        return {self.player, self.to or self.player, self.by or self.player}

    @property
    def stage(self) -> int:
        """Return 0 while it can be answered, 1 until the room of one that is accepted is there, 2 once it is over."""
        return 2 if self.room or self.how not in ("", "accepted") else 1 if self.how else 0

    @property
    def left_ms(self) -> int:
        return max(0, self.until - _now())

    def row(self, kind: type[Row]) -> Row:
        """Return what people are told of it."""
        shown = {name: getattr(self, name) for name in OpenChallenge.__struct_fields__}
        return kind(**shown | {"expires_ms": self.left_ms})

    def without(self, id: str, stand_in: str) -> Made | None:
        """Return what is left when somebody is forgotten."""
        return None if id in self.people else replace(self, hidden=tuple(one for one in self.hidden if one != id))


CHALLENGES: Final[TableSpec[Made]] = TableSpec(
    *("challenges", "challenge", msgspec.json.encode, msgspec.json.Decoder(Made).decode),
    key_of=lambda made: made.challenge,
    persons=Persons(
        lambda made: made.people.union(made.hidden),
        Made.without,
        lambda made: msgspec.to_builtins(made.row(OpenChallenge)),
        owner=lambda made: made.player,
    ),
    lifetime_seconds=lambda made: 1 + (made.left_ms + KEPT_MS) // 1000,
)
"""By their ids, until a little after they are over."""


class Seeks(Topic):
    """The list of challenges to all, for those who know them, of whom each has one at most."""

    def __init__(self, challenges: Challenges) -> None:
        super().__init__()
        self._challenges = challenges
        self._changed: dict[str, Made | None] = {}

    def change(self, id: str, seek: Made | None) -> None:
        """Have one told of soon, None for one that is over."""
        self._changed[id] = seek
        self.tell_later()

    def subscribe(self, session: Session, count: int = 1) -> None:
        if "challenges" in session.features:
            super().subscribe(session)
            self._send([session], list(islice(self._challenges.open_seeks(), MAX_LISTED_ROOMS)), ())

    def tell(self) -> None:
        changed, self._changed = self._changed, {}
        closed = tuple(id for id, seek in changed.items() if seek is None)
        self._send(self.subscribers, [seek for seek in changed.values() if seek is not None], closed)

    def _send(self, sessions: Iterable[Session], seeks: list[Made], closed: tuple[str, ...]) -> None:
        """Send each session what it may see, maybe in several messages; what is the same for several is made once."""
        is_shown = self._challenges.is_shown
        rows = {encode(seek.row(OpenChallenge)): seek for seek in seeks}
        for some in in_groups(rows, MAX_CHANGE_BYTES):
            frames: dict[tuple[bytes, ...], bytes] = {}
            for session in sessions:
                id = session.player.id if session.player else ""
                shown = tuple(row for row in some if is_shown(rows[row], id))
                if shown not in frames:
                    frames[shown] = encode_frame(encode(SeekChanges(list_of(shown), closed)))
                if shown or closed:
                    session.connection.push_frame(frames[shown])
            closed = ()


class Challenges(Service):
    """Carries challenges, their answers and blocks; `seeks` are sent with the lobby.

    Those to be rated are for whom `check_rated` does not refuse.
    """

    tables = (BLOCKS, CHALLENGES)

    def __init__(self, drain: Drain, check_rated: RatedCheck) -> None:
        self._drain, self._check_rated = drain, check_rated
        self.handles = {Challenge: self.challenge, Answer: self.answer, Seek: self.seek, Block: self.block}
        self.seeks = Seeks(self)
        self._known: dict[str, Made] = {}
        self._of = Held()  # those that are not over, by the players whom each concerns
        self._away: dict[str, float] = {}  # since when (s of the loop's time) the players of seeks are not here
        self._asked = WeakValueDictionary[str, asyncio.Event]()
        self._is_read, self._is_due = asyncio.Event(), True  # whether all was read, and is to be read again
        self._blocks: dict[str, frozenset[str]] = {}
        self._tasks = Tasks()

    def start(self, core: Core) -> None:
        self._core, self._kept, self._kept_blocks = core, core.store.table(CHALLENGES), core.store.table(BLOCKS)
        self._elsewhere = core.registry.elsewhere
        core.additions.welcome.add("challenges", self._of_welcome)
        self._elsewhere.on_changed.add(self._hear)
        self._tasks.start(self._run())

    async def close(self) -> None:
        await self._tasks.stop()

    # -- requests -----------------------------------------------------------------------------------------------

    async def challenge(self, call: Call) -> None:
        """Ask one player, who has to be here or at another server, for a game."""
        to = await find_player(self._core, call.request.player)
        if to == call.player.id:
            raise Refused(ErrorCode.NOT_ALLOWED, "self", path="player")
        made = await self._make(call, to)
        if sum(one.player == made.player and bool(one.to) for one in self._of_player(made.player)) >= MAX_CHALLENGES:
            self._core.allowances.refuse_for(RETRY_MS, "challenges")
        if any(one.player and one.player.bot for one in self._sessions(to)):
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge bot", path="player")
        await self._check_here(to)
        await self._keep(call, made)

    async def seek(self, call: Call) -> None:
        """Ask all in the lobby for a game, in place of what the player asked them before."""
        made = await self._make(call)
        await self._keep(call, made)
        for before in [one for one in self._of_player(made.player) if not one.to and one.challenge != made.challenge]:
            await self._try(self._end(before, "withdrawn", made.player))

    async def answer(self, call: Call) -> None:
        """Accept a challenge, decline it or take it back, wherever it was made."""
        player, accept = call.player, call.request.accept
        made = self._known.get(call.request.challenge) or await self._read(call.request.challenge)
        if made is None or not self._may_answer(made, player.id, accept=accept):
            raise Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
        if accept:
            self._check(call, made.rules.to_rules())
            await self._check_made(made, player)
            made = await self._open(await self._end(made, "accepted", player.id), player)
            if not made.room:
                raise Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
        else:
            made = await self._end(made, "withdrawn" if player.id == made.player else "declined", player.id)
        call.answer(room=made.room or UNSET)

    async def block(self, call: Call) -> None:
        """Hide a player from another one or show them again, and say who is hidden."""
        id, other = call.player.id, call.request.player
        if other is not UNSET:
            other = await find_player(self._core, other)
        if other == id:
            raise Refused(ErrorCode.NOT_ALLOWED, "self", path="player")

        def edit(old: Blocks | None) -> Blocks | None:
            blocked = [one for one in (old.blocked if old else ()) if one != other]
            if call.request.on and len(blocked) >= MAX_BLOCKS:
                raise Refused(ErrorCode.NOT_ALLOWED, "blocks", most=MAX_BLOCKS)
            blocked += [other] if call.request.on else []
            return Blocks(id, tuple(blocked)) if blocked else None

        if other is not UNSET:
            self._core.allowances.take_offer(call.player)
            await change(self._kept_blocks, id, edit)
            self._elsewhere.tell_changed(BLOCKS.name, id)
        call.answer(blocks=await self._know(id))

    # -- for others ---------------------------------------------------------------------------------------------

    def blockers_of(self, player: str) -> Collection[str]:
        """Return those who are here and want to hear nothing of a player."""
        return {id for id, blocked in self._blocks.items() if player in blocked}

    def open_seeks(self) -> Iterator[Made]:
        """Yield the challenges to all, the newest first."""
        return (made for made in reversed(self._known.values()) if not made.to and made.stage < 2)

    async def _of_welcome(self, player: str) -> tuple[OpenChallenge, ...] | UnsetType:
        await self._is_read.wait()
        await self._know(player)
        open = (made for made in self._of_player(player) if made.left_ms and self.is_shown(made, player))
        return tuple(made.row(OpenChallenge) for made in open) or UNSET

    # -- what may be --------------------------------------------------------------------------------------------

    async def _make(self, call: Call, to: str | UnsetType = UNSET) -> Made:
        """Return a challenge to one, or to all, which counts as a room that is opened; raises `Refused`."""
        request, player = call.request, call.player
        terms: dict[str, Any] = {name: getattr(request, name, UNSET) for name in ("clock", "rated", "side", "within")}
        rules, side = chosen_rules(request.rules), terms["side"]
        check_clock(request.clock)
        if side is not UNSET and side not in tuple(rules.marks):
            raise Refused(ErrorCode.BAD_MESSAGE, "seat", path="side", seat=side, marks=list(rules.marks))
        self._check(call, rules)
        if request.rated:
            await self._check_rated(rules, request.clock, player, [to] if to else ())
        hidden = tuple(self._blocks.get(player.id, ()))
        if to:
            hidden = (to,) if player.id in await self._load_blocks(to) else ()
        self._core.allowances.take_create(call.session, player)
        lasts_ms = CHALLENGE_MS if to else SEEK_MS
        terms |= {"challenge": secrets.token_urlsafe(8), "rules": RulesState.of(rules), "at": self._url}
        terms |= {"expires_ms": lasts_ms, "until": _now() + lasts_ms}
        return Made(player=player.id, name=player.name, to=to, hidden=hidden, **terms)

    def _check(self, call: Call, rules: Rules) -> None:
        """Refuse a game to one who could not play it now."""
        self._drain.check()
        if call.player.bot is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge bot")
        check_knows(call.session, rules.opening)
        self._core.lists.seats.check(call.player.id, call.session.address)

    async def _check_made(self, made: Made, player: Player) -> None:
        """Refuse a game that was to be rated with one with whom it cannot be."""
        if made.rated:
            await self._check_rated(made.rules.to_rules(), made.clock, player, [made.player], within=made.within or 0)

    async def _check_here(self, id: str) -> None:
        """Refuse a challenge to one who is neither here nor, as another server says soon, there."""
        if self._is_here(id):
            return
        heard = self._asked.setdefault(id, asyncio.Event())
        self._elsewhere.tell_changed(_ASKED, id)
        try:
            await asyncio.wait_for(heard.wait(), HERE_SECONDS if self._elsewhere.is_several else 0)
        except TimeoutError:
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge absent", path="player") from None

    def _may_answer(self, made: Made, player: str, *, accept: bool) -> bool:
        if player == made.player:
            return not accept
        return self.is_shown(made, player) and (made.to == player or (accept and not made.to))

    def is_shown(self, made: Made, player: str) -> bool:
        """Tell whether a player sees a challenge: not where one of both blocks the other."""
        return player not in made.hidden and made.player not in self._blocks.get(player, ())

    # -- what becomes of it -------------------------------------------------------------------------------------

    async def _keep(self, call: Call, made: Made) -> None:
        await self._change(made.challenge, lambda old: old or made, lambda: call.answer(challenge=made.challenge))

    async def _end(self, made: Made, how: str, by: str) -> Made:
        """Answer a challenge, unless somebody has before: then this is refused."""
        answer = secrets.token_urlsafe(8)

        def edit(old: Made | None) -> Made:
            if old is not None and old.answer == answer:  # it is stored already
                return old
            if old is None or old.how or not old.left_ms:
                raise Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
            until = _now() + (OPENING_MS if how == "accepted" else 0)
            return replace(old, how=how, by=by, answer=answer, until=until)

        return await self._change(made.challenge, edit)

    async def _open(self, made: Made, player: Player) -> Made:
        """Open the room of a challenge that was accepted here, unless it has failed meanwhile."""
        room, rules = "", made.rules.to_rules()
        side = secrets.choice(rules.marks) if made.side is UNSET else made.side
        seats = {side: Player(made.player, made.name), rules.marks.replace(side, "")[0]: player}
        origin = next((session.address for session in self._sessions(made.player)), "")
        try:
            await self._check_made(made, player)
            self._core.lists.seats.check(made.player, origin)
            live = await self._core.open_room(
                rules, seats=seats, clock=made.clock, owner=made.player, origin=origin, rated=made.rated
            )
            room = live.room.code
        except (Refused, StoreUnavailable) as error:
            log.info("the room of a challenge could not be opened", reason=str(error))
        return await self._settle(made.challenge, room)

    async def _settle(self, id: str, room: str = "") -> Made:
        """Note the room of an accepted challenge, or that it has failed; what is there before stays."""

        def edit(old: Made | None) -> Made | None:
            return replace(old, how="accepted" if room else "failed", room=room) if old and old.stage == 1 else old

        return await self._change(id, edit)

    async def _change(self, id: str, edit: Callable[[Made | None], Made | None], then: Any = lambda: None) -> Made:
        """Change the row of a challenge, do `then`, and tell all of it; refused for one that is not there any more."""
        try:
            made: Made | None = await change(self._kept, id, edit)
        except StoreUnavailable:
            self._is_due = True
            raise
        finally:
            self._elsewhere.tell_changed(CHALLENGES.name, id)
        if made is None:
            raise Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
        then()
        return self._take(made)

    def _take(self, made: Made) -> Made:
        """Know a row as it is kept, tell whom it concerns what is new in it, and return what is known now."""
        id, before = made.challenge, self._known.get(made.challenge)
        if before is not None and (before.stage == 2 or made.stage < before.stage):  # this one was read before
            return before
        self._known[id] = made
        is_new, is_over, told = before is None, made.stage == 2, b""
        for person in made.people:
            self._of.discard(person, id) if is_over else self._of.add(person, id, made)
        if is_new == is_over or not self._is_read.is_set():  # what is open is in every welcome
            return made
        if not made.to:
            self.seeks.change(id, None if is_over else made)
        if is_over:
            told = encode(ChallengeOver(id, made.how, made.room or UNSET))
        elif made.to:
            told = encode(made.row(Challenged))
        for person in made.people.difference(made.hidden) if told else ():
            for session in self._sessions(person):
                session.connection.push_frame(encode_frame(told))
        return made

    def _sessions(self, id: str) -> list[Session]:
        """Return where a player is who is shown challenges."""
        return [session for session in self._core.presence.of_player(id) if "challenges" in session.features]

    def _is_here(self, id: str) -> bool:
        return any(one.player and one.player.bot is None for one in self._sessions(id))

    def _of_player(self, id: str) -> list[Made]:
        return list(self._of.get(id, {}).values())

    # -- what is known ------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Read all that is kept, in a cluster now and then, and look what is over."""
        await self._core.registry.restored.wait()
        for look in count():
            if self._is_due or (self._elsewhere.is_several and look % READ_LOOKS == 0):
                self._is_due = False
                await self._try(self._read_all())
                self._is_read.set()
            await asyncio.sleep(LOOK_SECONDS)
            self._look()

    def _start(self, work: Awaitable[object]) -> None:
        self._tasks.start(self._try(work))

    async def _try(self, work: Awaitable[object]) -> None:
        """Do something that is done again once all is read anew, where the store refuses it now."""
        try:
            await work
        except (Refused, StoreUnavailable) as error:
            self._is_due |= isinstance(error, StoreUnavailable)
            log.debug("challenges are looked after later", reason=str(error))

    async def _read_all(self) -> None:
        before = {id for id, made in self._known.items() if made.stage < 2}
        rows = [row.value async for some in self._kept.load_all() for row in some]
        found = [made for made in rows if not isinstance(made, Unreadable)]
        for made in sorted(found, key=lambda made: made.until - made.expires_ms):  # as they were made
            self._take(made)
        for id in before.difference(made.challenge for made in found):
            await self._read(id)

    async def _read(self, id: str) -> Made | None:
        """Read the row of a challenge again, and return what is known of it then: None for one that is not there."""
        found, made = await self._kept.load(id), self._known.get(id)
        if found is None and made is not None:  # who made it is forgotten, or it was over long ago
            self._take(replace(made, how="expired"))
        return None if found is None else self._take(found[0])

    def _look(self) -> None:
        """Let what is over be over, and be kept no longer than others may need it."""
        self._away, away = {}, self._away
        for id, made in list(self._known.items()):
            if made.left_ms:
                if not (made.to or made.how):
                    self._look_after(made, away)
            elif made.stage == 0:
                self._take(replace(made, how="expired"))
            elif made.stage == 1:
                self._start(self._settle(id))
            elif _now() - made.until > KEPT_MS:
                del self._known[id]
                if not self._kept.expires:
                    self._start(delete(self._kept, id, None))
        for id in [id for id in self._blocks if not self._core.presence.of_player(id)]:
            del self._blocks[id]

    def _look_after(self, seek: Made, away: Mapping[str, float]) -> None:
        """End a seek whose player is connected nowhere, and has been so for a while; `away` says since when.

        The server does so that looks after it, and any where that one is gone; before, it asks whether the player is
        at another one, which looks after it then.
        """
        cluster, now = self._elsewhere.cluster, asyncio.get_running_loop().time()
        if cluster is not None and seek.at in cluster.urls[1:]:
            return
        if self._is_here(seek.player):
            self._move_here(seek)
            return
        since = self._away[seek.player] = away.get(seek.player, now)
        if now - since >= AWAY_SECONDS:
            self._start(self._end(seek, "withdrawn", seek.player))
        elif now - since >= AWAY_SECONDS - 2 * HERE_SECONDS:
            self._elsewhere.tell_changed(_ASKED, seek.player)

    def _move_here(self, seek: Made) -> None:
        if seek.at != self._url:
            url = self._url
            self._start(self._change(seek.challenge, lambda old: old and (old if old.how else replace(old, at=url))))

    async def _load_blocks(self, player: str) -> tuple[str, ...]:
        found = await self._kept_blocks.load(player)
        return () if found is None else found[0].blocked

    async def _know(self, player: str) -> tuple[str, ...]:
        """Read whom a player who is here blocks."""
        blocked = await self._load_blocks(player)
        self._blocks.pop(player, None)
        if blocked:
            self._blocks[player] = frozenset(blocked)
        return blocked

    # -- several servers ----------------------------------------------------------------------------------------

    @property
    def _url(self) -> str:
        cluster = self._elsewhere.cluster
        return "" if cluster is None else cluster.urls[0]

    def _hear(self, table: str, key: str) -> None:
        """Take over what was changed or asked at another server."""
        if table == CHALLENGES.name:
            self._start(self._read(key))
        elif table == BLOCKS.name and self._core.presence.of_player(key):
            self._start(self._know(key))
        elif table == _ASKED and self._is_here(key):
            self._elsewhere.tell_changed(_HERE, key)
            for made in self._of_player(key):
                if made.player == key and not made.to:
                    self._move_here(made)
        elif table == _HERE and (asked := self._asked.get(key)) is not None:
            asked.set()


def _now() -> int:
    """Return the time (ms since 1970)."""
    return time.time_ns() // 1_000_000
