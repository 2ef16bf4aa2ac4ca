"""Challenges to one player and to all, and their answers.

All of it is kept: a row a challenge, which every server of a cluster knows and tells its own connections of. An answer
is one compare-and-set of the row, wherever it is given, and who won it opens the room there. So a challenge goes on
through the death of any server; one that was accepted and has no room in good time has failed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import count
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.challenges import (
    CHALLENGE_MS,
    MAX_CHALLENGES,
    SEEK_MS,
    Answer,
    Challenge,
    Challenged,
    ChallengeOver,
    OpenChallenge,
    Seek,
)
from tictactoe_protocol.terms import RulesState
from tictactoe_server.admin.drain import Drain
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.people.limits import RETRY_MS
from tictactoe_server.ratings.blocks import Blocking
from tictactoe_server.ratings.offers import CHALLENGES, KEPT_MS, Made, Seeks
from tictactoe_server.records.changes import change
from tictactoe_server.rooms import Player, Refused
from tictactoe_server.services.checks import RatedCheck, check_clock, chosen_rules, find_player
from tictactoe_server.sessions.session import Session
from tictactoe_server.storage.store import StoreUnavailable, Unreadable, delete
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.rate_limit import Held

HERE_SECONDS: Final = 1.0  # within which another server says that somebody is there
AWAY_SECONDS: Final = 20.0  # for how long a player is connected nowhere whose seek ends
OPENING_MS: Final = 10_000  # within which an accepted challenge has its room, or has failed
LOOK_SECONDS: Final = 1.0  # how often it is looked who is away
READ_LOOKS: Final = 10  # after how many of these a server of a cluster reads what it may not have heard
_ASKED, _HERE = "asked for", "here"  # in place of a table: whether a player is there, by the id, and that they are

log: Final = structlog.get_logger(__name__)


class Challenges(Service):
    """Carries challenges and answers where nobody blocks the other; `seeks` are sent with the lobby.

    Those to be rated are for whom `check_rated` does not refuse.
    """

    tables = (CHALLENGES,)

    def __init__(self, drain: Drain, check_rated: RatedCheck, blocking: Blocking) -> None:
        self._drain, self._check_rated, self._blocking = drain, check_rated, blocking
        self.handles = {Challenge: self.challenge, Answer: self.answer, Seek: self.seek}
        self.seeks = Seeks(blocking, lambda: self._core.time())
        self._known: dict[str, Made] = {}
        self._of = Held()  # those that are not over, by the players whom each concerns
        self._away: dict[str, float] = {}  # since when (s of the loop's time) the players of seeks are not here
        self._asked = WeakValueDictionary[str, asyncio.Event]()
        self._is_read, self._is_due = asyncio.Event(), True  # whether all was read, and is to be read again
        self._tasks = Tasks()

    def start(self, core: Core) -> None:
        self._core, self._kept = core, core.store.table(CHALLENGES)
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
        if self._blocking.is_deaf(call.player.id, to):
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge blocked", path="player")
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
        if made is None or made.stage or not self._may_answer(made, player.id, accept=accept):
            raise _nothing_open()
        if accept:
            self._check(call, made.rules.to_rules())
            await self._check_made(made, player)
            made = await self._open(await self._end(made, "accepted", player.id), player)
            if not made.room:
                raise _nothing_open()
        else:
            made = await self._end(made, "withdrawn" if player.id == made.player else "declined", player.id)
        call.answer(room=made.room or UNSET)

    # -- what is shown ------------------------------------------------------------------------------------------

    async def _of_welcome(self, player: str) -> tuple[OpenChallenge, ...]:
        await self._is_read.wait()
        await self._blocking.know(player)
        now = self._core.time()
        open = (made for made in self._of_player(player) if made.until > now and self.seeks.is_shown(made, player))
        return tuple(made.row(OpenChallenge, now) for made in open)

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
        hidden = tuple(self._blocking.known(player.id))
        if to:
            hidden = (to,) if player.id in await self._blocking.load(to) else ()
        self._core.allowances.take_create(call.session, player)
        lasts_ms = CHALLENGE_MS if to else SEEK_MS
        terms |= {"challenge": secrets.token_urlsafe(8), "rules": RulesState.of(rules), "at": self._url}
        terms |= {"expires_ms": lasts_ms, "until": self._core.time() + lasts_ms}
        return Made(player=player.id, name=player.name, to=to, hidden=hidden, **terms)

    def _check(self, call: Call, rules: Rules) -> None:
        """Refuse a game to one who could not play it now."""
        self._drain.check()
        if call.player.bot is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "challenge bot")
        self._core.lists.seats.check(call.player.id, call.session.address)

    async def _check_made(self, made: Made, player: Player) -> None:
        """Refuse a game to one whom the challenger blocks by now, or with whom it was to be rated and cannot be."""
        if player.id in await self._blocking.load(made.player):
            raise _nothing_open()
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
        return self.seeks.is_shown(made, player) and (made.to == player or (accept and not made.to))

    # -- what becomes of it -------------------------------------------------------------------------------------

    async def _keep(self, call: Call, made: Made) -> None:
        await self._change(made.challenge, lambda old: old or made, lambda: call.answer(challenge=made.challenge))

    async def _end(self, made: Made, how: str, by: str) -> Made:
        """Answer a challenge, unless somebody has before: then this is refused."""
        answer = secrets.token_urlsafe(8)

        def edit(old: Made | None) -> Made:
            if old is not None and old.answer == answer:  # it is stored already
                return old
            now = self._core.time()
            if old is None or old.how or old.until <= now:
                raise _nothing_open()
            until = now + (OPENING_MS if how == "accepted" else 0)
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
            raise _nothing_open()
        then()
        return self._take(made)

    def _take(self, made: Made) -> Made:
        """Know a row as it is kept, tell whom it concerns what is new in it, and return what is known now."""
        id, before = made.challenge, self._known.get(made.challenge)
        if before is not None and (before.stage == 2 or made.stage < before.stage):  # this one was read before
            return before
        self._known[id] = made
        is_new, is_over = before is None, made.stage == 2
        for person in made.people:
            self._of.discard(person, id) if is_over else self._of.add(person, id, made)
        is_told = is_new != is_over and self._is_read.is_set()  # what is open is in every welcome
        if not made.to:
            self.seeks.change(made, is_told=is_told)
        if not is_told:
            return made
        if not (is_over or made.to):
            return made
        over = ChallengeOver(id, made.how, made.room or UNSET)
        told = encode_frame(encode(over if is_over else made.row(Challenged, self._core.time())))
        for person in made.people.difference(made.hidden):
            for session in self._sessions(person):
                session.connection.push_frame(told)
        return made

    def _sessions(self, id: str) -> Iterable[Session]:
        return self._core.presence.of_player(id)

    def _is_here(self, id: str) -> bool:
        return any(one.player and one.player.bot is None for one in self._sessions(id))

    def _of_player(self, id: str) -> list[Made]:
        return list(self._of.get(id, {}).values())

    # -- what is known ------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Read all that is kept, in a cluster now and then: what a server says as it dies may not be heard."""
        await self._core.registry.restored.wait()
        servers = self._elsewhere.cluster
        for look in count():
            before, servers = servers, self._elsewhere.cluster
            if self._is_due or servers != before or (servers is not None and look % READ_LOOKS == 0):
                self._is_due = False
                await self._try(self._read_all())
                if not self._is_due:
                    self._is_read.set()
            await asyncio.sleep(LOOK_SECONDS)
            self._core.agenda.soon(self._look)  # what fails there is logged

    def _start(self, work: Awaitable[object]) -> None:
        self._tasks.start(self._try(work))

    async def _try(self, work: Awaitable[object]) -> None:
        """Do something that is done again once all is read anew, where the store refuses it now."""
        try:
            await work
        except (Refused, StoreUnavailable) as error:
            self._is_due |= isinstance(error, StoreUnavailable)
            log.debug("challenges are looked after later", reason=str(error))
        except Exception:
            log.exception("a challenge could not be looked after")

    async def _read_all(self) -> None:
        before = {id for id, made in self._known.items() if made.stage < 2}
        rows = [row.value async for some in self._kept.load_all() for row in some]
        found = [made for made in rows if not isinstance(made, Unreadable)]
        for made in sorted(found, key=lambda made: made.until - made.expires_ms):  # as they were made
            self._core.time.go_on_from(made.until - made.expires_ms)
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
        self._away, away, now = {}, self._away, self._core.time()
        for id, made in list(self._known.items()):
            if made.until > now:
                if not (made.to or made.how):
                    self._look_after(made, away)
            elif made.stage == 0:
                self._take(replace(made, how="expired"))
            elif made.stage == 1:
                self._start(self._settle(id))
            elif now - made.until > KEPT_MS:
                del self._known[id]
                if not self._kept.expires:
                    self._start(delete(self._kept, id, None))

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

    # -- several servers ----------------------------------------------------------------------------------------

    @property
    def _url(self) -> str:
        cluster = self._elsewhere.cluster
        return "" if cluster is None else cluster.urls[0]

    def _hear(self, table: str, key: str) -> None:
        """Take over what was changed or asked at another server."""
        if table == CHALLENGES.name:
            self._start(self._read(key))
        elif table == _ASKED and self._is_here(key):
            self._elsewhere.tell_changed(_HERE, key)
            for made in self._of_player(key):
                if made.player == key and not made.to:
                    self._move_here(made)
        elif table == _HERE and (asked := self._asked.get(key)) is not None:
            asked.set()


def _nothing_open() -> Refused:
    """Return the refusal of an answer to what is open no more, or not to this player."""
    return Refused(ErrorCode.NO_OFFER, "challenge", path="challenge")
