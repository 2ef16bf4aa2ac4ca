"""Challenges to one player and to all, and whom one wants to hear nothing of.

They are in memory alone, at every server of a cluster; the one where a challenge was made decides about it and opens
its room. The servers tell each other as they do of changes, by a name that no table has. Only blocks are kept.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec
import structlog
from msgspec import UNSET, Struct, UnsetType

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
from tictactoe_server.agenda import Tasks, every
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.listings.lobby import MAX_CHANGE_BYTES, in_groups
from tictactoe_server.people.limits import RETRY_MS
from tictactoe_server.records.changes import change
from tictactoe_server.rooms import Player, Refused
from tictactoe_server.services.checks import RatedCheck, check_clock, check_knows, chosen_rules, find_player
from tictactoe_server.sessions.session import Session
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.rate_limit import Held
from tictactoe_server.watching.topics import Topic, list_of

HERE_SECONDS: Final = 1.0  # within which another server says that somebody is there
DECIDING_SECONDS: Final = 5.0  # within which the server where a challenge was made says what became of it
LOOK_SECONDS: Final = 1.0  # how often it is looked whether the servers are there where challenges were made
_SAID: Final = "challenges"  # in place of a table, with one of the structs below in place of a key

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


class Made(OpenChallenge, frozen=True, tag=True, kw_only=True):
    """A challenge that was made `at` the server of this URL, and from whom it is hidden."""

    player: str
    name: str
    clock: ClockFields | None
    at: str
    hidden: tuple[str, ...] = ()

    @property
    def people(self) -> set[str]:
        """Those whom it concerns: who made it, and whom it is to where that is one."""
        return {self.player, self.to or self.player}


class Here(Struct, frozen=True, tag=True):
    """That the player of a challenge is at the server that says so."""

    challenge: str


class Answered(Struct, frozen=True, tag=True):
    """What somebody answers at another server, to the one at which a challenge was made."""

    challenge: str
    at: str
    player: Player
    accept: bool


class Over(Struct, frozen=True, tag=True):
    """How a challenge ended, and by whose answer."""

    challenge: str
    how: str
    room: str = ""
    player: str = ""


_decode: Final = msgspec.json.Decoder(Made | Here | Answered | Over).decode

Row = TypeVar("Row", bound=OpenChallenge)
Said = TypeVar("Said", Here, Over)


class Known(NamedTuple):
    """A challenge that is open `until` a moment of the loop's time."""

    made: Made
    until: float

    def row(self, kind: type[Row]) -> Row:
        """Return what people are told of it."""
        left = max(0, round((self.until - asyncio.get_running_loop().time()) * 1000))
        shown = {name: getattr(self.made, name) for name in OpenChallenge.__struct_fields__}
        return kind(**shown | {"expires_ms": left})


class Seeks(Topic):
    """The list of challenges to all, for those who know them, of whom each has one at most."""

    def __init__(self, challenges: Challenges) -> None:
        super().__init__()
        self._challenges = challenges
        self._changed: dict[str, Known | None] = {}

    def change(self, id: str, seek: Known | None) -> None:
        """Have one told of soon, None for one that is over."""
        self._changed[id] = seek
        self.tell_later()

    def subscribe(self, session: Session, count: int = 1) -> None:
        if "challenges" in session.features:
            super().subscribe(session)
            self._send([session], list(islice(self._challenges.open_seeks(), MAX_LISTED_ROOMS)), ())

    def unsubscribe(self, session: Session) -> None:
        super().unsubscribe(session)
        self._challenges.look_after(session)

    def tell(self) -> None:
        changed, self._changed = self._changed, {}
        closed = tuple(id for id, seek in changed.items() if seek is None)
        self._send(self.subscribers, [seek for seek in changed.values() if seek is not None], closed)

    def _send(self, sessions: Iterable[Session], seeks: list[Known], closed: tuple[str, ...]) -> None:
        """Send each session what it may see, maybe in several messages; what is the same for several is made once."""
        is_shown = self._challenges.is_shown
        rows = {encode(seek.row(OpenChallenge)): seek.made for seek in seeks}
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

    tables = (BLOCKS,)

    def __init__(self, drain: Drain, check_rated: RatedCheck) -> None:
        self._drain, self._check_rated = drain, check_rated
        self.handles = {Challenge: self.challenge, Answer: self.answer, Seek: self.seek, Block: self.block}
        self.seeks = Seeks(self)
        self._known: dict[str, Known] = {}
        self._of = Held()  # the same by the players whom each concerns
        self._waiting: dict[tuple[type, str], asyncio.Future[Any]] = {}
        self._blocks: dict[str, frozenset[str]] = {}
        self._tasks = Tasks()

    def start(self, core: Core) -> None:
        self._core, self._kept = core, core.store.table(BLOCKS)
        self._elsewhere = core.registry.elsewhere
        core.additions.welcome.add("challenges", self._of_welcome)
        self._elsewhere.on_changed.add(self._hear)
        if self._elsewhere.is_several:
            self._tasks.start(every(LOOK_SECONDS, self._drop_gone))

    async def close(self) -> None:
        await self._tasks.stop()

    # -- requests -----------------------------------------------------------------------------------------------

    async def challenge(self, call: Call) -> None:
        """Ask one player, who has to be here or at another server, for a game."""
        to = await find_player(self._core, call.request.player)
        if to == call.player.id:
            raise Refused(ErrorCode.NOT_ALLOWED, "self", path="player")
        made = await self._make(call, to)
        theirs = [one.made for one in self._of.get(made.player, {}).values()]
        if sum(one.player == made.player and bool(one.to) for one in theirs) >= MAX_CHALLENGES:
            self._core.allowances.refuse_for(RETRY_MS, "challenges")
        if any(one.player and one.player.bot for one in self._sessions(to)):
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge bot", path="player")
        is_here, known = self._is_here(to), self._keep(made)
        self._say(made)
        try:
            if not is_here:
                await self._hears(Here, made.challenge, HERE_SECONDS if self._elsewhere.is_several else 0)
        except StoreUnavailable:
            self._forget(known)
            self._say(Over(made.challenge, "gone"))
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge absent", path="player") from None
        call.answer(challenge=made.challenge)
        self._show(known, made.player)

    async def seek(self, call: Call) -> None:
        """Ask all in the lobby for a game, in place of what the player asked them before."""
        made = await self._make(call)
        if before := self._seek_of(made.player):
            self._say(ended := Answered(before.made.challenge, before.made.at, call.player, accept=False))
            self._take(ended)
        self._keep(made)
        self._say(made)
        call.answer(challenge=made.challenge)

    async def answer(self, call: Call) -> None:
        """Accept a challenge, decline it or take it back, wherever it was made."""
        player, accept = call.player, call.request.accept
        known = self._known.get(call.request.challenge)
        if known is None or not self._may_answer(known.made, player.id, accept=accept):
            raise Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
        made = known.made
        if accept:
            self._check(call, made.rules.to_rules())
            await self._check_made(made, player)
        if made.at == self._url:
            over = await self._decide(known, player, accept=accept)
        else:
            self._say(Answered(made.challenge, made.at, player, accept))
            over = await self._hears(Over, made.challenge, DECIDING_SECONDS)
        if over.player != player.id or (accept and not over.room):
            raise Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
        call.answer(room=over.room or UNSET)

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
            await change(self._kept, id, edit)
            self._elsewhere.tell_changed(BLOCKS.name, id)
        call.answer(blocks=await self._know(id))

    # -- for others ---------------------------------------------------------------------------------------------

    def blockers_of(self, player: str) -> Collection[str]:
        """Return those who are here and want to hear nothing of a player."""
        return {id for id, blocked in self._blocks.items() if player in blocked}

    def open_seeks(self) -> Iterator[Known]:
        """Yield the challenges to all, the newest first."""
        return (known for known in reversed(self._known.values()) if not known.made.to)

    async def _of_welcome(self, player: str) -> tuple[OpenChallenge, ...] | UnsetType:
        await self._know(player)
        open = self._of.get(player, {}).values()
        return tuple(one.row(OpenChallenge) for one in open if self.is_shown(one.made, player)) or UNSET

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
            hidden = (to,) if player.id in await self._load(to) else ()
        self._core.allowances.take_create(call.session, player)
        terms |= {"challenge": secrets.token_urlsafe(8), "rules": RulesState.of(rules), "at": self._url}
        lasts_ms = CHALLENGE_MS if to else SEEK_MS
        return Made(player=player.id, name=player.name, to=to, expires_ms=lasts_ms, hidden=hidden, **terms)

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

    def _may_answer(self, made: Made, player: str, *, accept: bool) -> bool:
        if player == made.player:
            return not accept
        return self.is_shown(made, player) and (made.to == player or (accept and not made.to))

    def is_shown(self, made: Made, player: str) -> bool:
        """Tell whether a player sees a challenge: not where one of both blocks the other."""
        return player not in made.hidden and made.player not in self._blocks.get(player, ())

    # -- what becomes of it -------------------------------------------------------------------------------------

    async def _decide(self, known: Known, player: Player, *, accept: bool) -> Over:
        """Have a challenge end that was made here, by the first answer to it."""
        made = known.made
        if not self._forget(known):
            return Over(made.challenge, "gone")
        if not accept:
            return self._end(known, "withdrawn" if player.id == made.player else "declined", player=player.id)
        room, rules = "", made.rules.to_rules()
        side = secrets.choice(rules.marks) if made.side is UNSET else made.side
        seats = {side: Player(made.player, made.name), rules.marks.replace(side, "")[0]: player}
        origin = next((session.address for session in self._sessions(made.player)), "")
        try:
            self._drain.check()
            await self._check_made(made, player)
            self._core.lists.seats.check(made.player, origin)
            live = await self._core.open_room(
                rules, seats=seats, clock=made.clock, owner=made.player, origin=origin, rated=made.rated
            )
            room = live.room.code
        except (Refused, StoreUnavailable) as error:
            log.info("the room of a challenge could not be opened", reason=str(error))
        finally:
            over = self._end(known, "accepted" if room else "failed", room, player.id)
        return over

    def _keep(self, made: Made) -> Known:
        """Know a challenge until it is over, and tell whom it concerns; one of another server for a little longer."""
        id, seconds = made.challenge, made.expires_ms / 1000
        known = self._known[id] = Known(made, asyncio.get_running_loop().time() + seconds)
        self._core.agenda.after(seconds + (made.at != self._url), partial(self._expire, known))
        for person in made.people:
            self._of.add(person, id, known)
        if made.to:
            self._show(known, made.to)
        else:
            self.seeks.change(id, known)
        return known

    def _forget(self, known: Known) -> bool:
        """Know a challenge no more; tell whether it was known."""
        made, id = known.made, known.made.challenge
        if self._known.pop(id, None) is None:
            return False
        for person in made.people:
            self._of.discard(person, id)
        if not made.to:
            self.seeks.change(id, None)
        return True

    def _expire(self, known: Known) -> None:
        if known.made.challenge in self._known:
            self._end(known, "expired")

    def _end(self, known: Known, how: str, room: str = "", player: str = "") -> Over:
        """Know a challenge no more, and tell whom it concerned; also the other servers of one that was made here."""
        made, over = known.made, Over(known.made.challenge, how, room, player)
        self._forget(known)
        told = encode_frame(encode(ChallengeOver(made.challenge, how, room or UNSET)))
        for id in {*made.people, player or made.player}.difference(made.hidden):
            for session in self._sessions(id):
                session.connection.push_frame(told)
        if made.at == self._url:
            self._say(over)
        return over

    def _show(self, known: Known, id: str) -> None:
        for session in self._sessions(id) if id not in known.made.hidden else ():
            session.push(known.row(Challenged))

    def _sessions(self, id: str) -> list[Session]:
        """Return where a player is who is shown challenges."""
        return [session for session in self._core.presence.of_player(id) if "challenges" in session.features]

    def _is_here(self, id: str) -> bool:
        return any(one.player and one.player.bot is None for one in self._sessions(id))

    def look_after(self, session: Session) -> None:
        """Have the seek of a player end, and forget whom they block, when none of their connections is left."""
        id = session.player.id if session.player else ""
        if id in self._blocks or id in self._of:
            self._core.agenda.soon(partial(self._see_off, id))

    def _see_off(self, id: str) -> None:
        if not self._core.presence.of_player(id):
            self._blocks.pop(id, None)
            seek = self._seek_of(id)
            if seek is not None and seek.made.at == self._url:
                self._end(seek, "withdrawn")

    def _seek_of(self, player: str) -> Known | None:
        return next((one for one in self._of.get(player, {}).values() if not one.made.to), None)

    # -- blocks -------------------------------------------------------------------------------------------------

    async def _load(self, player: str) -> tuple[str, ...]:
        found = await self._kept.load(player)
        return () if found is None else found[0].blocked

    async def _know(self, player: str) -> tuple[str, ...]:
        """Read whom a player who is here blocks."""
        blocked = await self._load(player)
        self._blocks.pop(player, None)
        if blocked:
            self._blocks[player] = frozenset(blocked)
        return blocked

    async def _read_again(self, player: str) -> None:
        with suppress(StoreUnavailable):  # else it is as it was until they come again
            await self._know(player)

    # -- several servers ----------------------------------------------------------------------------------------

    @property
    def _url(self) -> str:
        cluster = self._elsewhere.cluster
        return "" if cluster is None else cluster.urls[0]

    def _say(self, said: Struct) -> None:
        self._elsewhere.tell_changed(_SAID, encode(said).decode())

    async def _hears(self, kind: type[Said], id: str, seconds: float) -> Said:
        """Return what another server says of a challenge in so many seconds, else raise `StoreUnavailable`."""
        heard = self._waiting.setdefault((kind, id), asyncio.get_running_loop().create_future())
        try:
            return cast("Said", await asyncio.wait_for(asyncio.shield(heard), seconds))
        except TimeoutError:
            raise StoreUnavailable("the server where a challenge was made does not answer") from None
        finally:
            self._waiting.pop((kind, id), None)

    def _hear(self, table: str, key: str) -> None:
        """Take over what was said or changed at another server."""
        if table == _SAID:
            self._take(_decode(key))
        elif table == BLOCKS.name and self._core.presence.of_player(key):
            self._tasks.start(self._read_again(key))

    def _take(self, said: Made | Here | Answered | Over) -> None:
        known, waiting = self._known.get(said.challenge), self._waiting.get((type(said), said.challenge))
        if waiting is not None and not waiting.done():
            waiting.set_result(said)
        match said:
            case Made():
                known = self._keep(said)
                if said.to:
                    self._show(known, said.player)
                    if self._is_here(said.to):
                        self._say(Here(said.challenge))
            case Over() if known is not None:
                self._end(known, said.how, said.room, said.player)
            case Answered() if said.at == self._url:
                if known is None:  # over, or made before this server began
                    self._say(Over(said.challenge, "gone"))
                else:
                    self._tasks.start(self._decide(known, said.player, accept=said.accept))

    def _drop_gone(self) -> None:
        """Have the challenges end whose server is not there any more."""
        cluster = self._elsewhere.cluster
        for known in list(self._known.values()):
            if cluster is not None and known.made.at not in cluster.urls:
                self._end(known, "gone")
