"""What this server's sessions want in rooms of other servers: it is asked there, and what is answered goes to them.

No request is lost on the way: one that was not dealt with is asked again at whoever serves the room by then, where it
may come twice, and answered with `unavailable` where it may not or nobody can be asked in time.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Callable
from typing import Final

from msgspec import UNSET

from tictactoe_protocol import encode
from tictactoe_protocol.requests import (
    Analyse,
    Draw,
    Join,
    Leave,
    Match,
    Move,
    Rematch,
    Request,
    Sync,
    Undo,
    Watch,
)
from tictactoe_server.house.members import Members
from tictactoe_server.house.parcels import Answered, Asked, Done, Entered, Left, Met, Parted, Rejoined, Returned, Sent
from tictactoe_server.house.ways import Way
from tictactoe_server.stores import StoreUnavailable
from tictactoe_server.tables import Registry, Session

GIVE_UP_SECONDS: Final = 2.5
"""How long a request is asked again until its session hears that the room cannot be reached."""

REST_SECONDS: Final = 0.1

_SEQ: Final = re.compile(rb'"seq":(\d+)')


class Errand:
    """A request under way: `number` is its own, `owner` whom it was asked of last, None while it rests."""

    __slots__ = ("began_at", "code", "now", "number", "owner", "request", "session")

    def __init__(self, number: int, session: Session, request: Request, code: str, now: int) -> None:
        self.number = number
        self.session = session
        self.request = request
        self.code = code
        self.now = now
        self.owner: str | None = None
        self.began_at = time.monotonic()

    @property
    def is_match(self) -> bool:
        """Whether it is to lead into the room."""
        return type(self.request) is Match

    @property
    def may_come_twice(self) -> bool:
        """Whether it has no second effect, and no other answer, where it is asked again."""
        match self.request:
            case Move() | Join() | Watch() | Sync() | Analyse() | Match() | Leave():
                return True
            case Rematch():
                return self.request.game is not UNSET
            case Draw() | Undo():
                return self.request.game is not UNSET and self.request.ply is not UNSET
            case _:
                return False


class Errands:
    """Asks for sessions, by ways that `way_to` returns.

    `rejoin` brings a session back into a room that this server serves now: (session, code, whether it plays, the newest
    `seq` that it was shown).
    """

    def __init__(self, members: Members, registry: Registry, way_to: Callable[[str], Way]) -> None:
        self._members = members
        self._registry = registry
        self._way_to = way_to
        self._numbers = itertools.count(1)
        self._number_of: dict[Session, int] = {}
        self._sessions: dict[int, Session] = {}
        self._led: dict[Session, dict[str, str]] = {}
        self._told: dict[str, set[int]] = {}
        self._errands: dict[int, Errand] = {}
        self._unled = False
        self.rejoin: Callable[[Session, str, bool, int], None] = lambda session, code, plays, seen: None

    # -- asking -------------------------------------------------------------------------------------------------

    def ask(self, session: Session, request: Request, code: str, now: int) -> None:
        """Ask the server that serves a room; the session waits for that. A match is to lead into the room."""
        session.is_busy = True
        errand = Errand(next(self._numbers), session, request, code, now)
        self._errands[errand.number] = errand
        self._send(errand)

    def dismiss(self, session: Session) -> None:
        """Take notice that a session is over."""
        number = self._number_of.pop(session, None)
        self._led.pop(session, None)
        if number is not None:
            del self._sessions[number]
            for owner, told in self._told.items():
                if number in told:
                    told.discard(number)
                    self._way_to(owner).put(Left(number))

    def _send(self, errand: Errand) -> None:
        owner = self._members.owner_of(errand.code)
        if errand.code in errand.session.elsewhere:
            self.lead_back(errand.session, errand.code)
        if owner is None or (owner == self._members.id and not self._is_served(errand.code)):
            errand.owner = None
        elif owner == self._members.id:
            del self._errands[errand.number]
            if errand.is_match:  # another room would be a second one, where the first asking has given them this
                errand.session.lead(encode(errand.request), errand.code, errand.now)
            else:
                errand.session.again(errand.request, errand.now)
        else:
            errand.owner = owner
            number = self._introduce(errand.session, owner)
            message = encode(errand.request)
            code, seen = errand.code, self._seen(errand.code)
            asked = Asked(number, errand.number, errand.now, code, seen, message, errand.is_match)
            self._way_to(owner).put(asked, len(message))

    def _is_served(self, code: str) -> bool:
        """Tell whether a room of this server can be served, or whether nobody knows it yet."""
        live = self._registry.find_here(code)
        return live is None or self._registry.take_over(live)

    def _introduce(self, session: Session, owner: str) -> int:
        """Return the number of a session, which its owner there knows by then."""
        number = self._number_of.get(session)
        if number is None:
            number = self._number_of[session] = next(self._numbers)
            self._sessions[number] = session
        told = self._told.setdefault(owner, set())
        player = session.player
        if number not in told and player is not None:
            told.add(number)
            features = tuple(session.features)
            met = Met(number, player.id, player.name, session.key or "", session.connection.address, features)
            self._way_to(owner).put(met)
        return number

    def _seen(self, code: str) -> int:
        """Return the newest `seq` of a room that was shown here."""
        live = self._registry.find_here(code)
        return 0 if live is None else live.seen

    # -- answers ------------------------------------------------------------------------------------------------

    def sent(self, owner: str, sent: Sent) -> None:
        """Hand a frame on; a state only from the server that serves the room, and none that is older than the last."""
        sessions = (self._sessions.get(number) for number in sent.sessions)
        if not sent.room:
            for session in sessions:
                if session is not None:
                    session.connection.push_frame(sent.frame)
            return
        live = self._registry.find_here(sent.room)
        if live is None or self._members.owner_of(sent.room) != owner:
            return
        found = _SEQ.search(sent.frame)
        seq = 0 if found is None else int(found[1])
        if seq < live.seen:
            return
        live.seen = seq
        for session in sessions:
            if session is not None:
                session.connection.push_state(sent.room, sent.frame)

    def answered(self, answered: Answered) -> None:
        """Hand an answer on, unless its session was told something else meanwhile."""
        errand = self._errands.get(answered.number)
        if errand is not None:
            errand.session.connection.push_frame(answered.frame)

    def entered(self, owner: str, entered: Entered) -> None:
        """Take notice that a session is in a room there."""
        session = self._sessions.get(entered.session)
        if session is not None:
            session.move(entered.room, plays=entered.plays)
            self._led.setdefault(session, {})[entered.room] = owner
            self._unled |= self._members.owner_of(entered.room) != owner

    def parted(self, owner: str, parted: Parted) -> None:
        """Take notice that it is no more."""
        session = self._sessions.get(parted.session)
        if session is not None and self._members.owner_of(parted.room) == owner:
            session.leave(parted.room)
            self._led.get(session, {}).pop(parted.room, None)

    def done(self, done: Done) -> None:
        """Let a session go on whose request has been dealt with."""
        errand = self._errands.pop(done.number, None)
        if errand is not None:
            errand.session.go_on()

    def returned(self, returned: Returned) -> None:
        """Ask again after a rest, or come back again; for a match that led to no seat begin from the beginning."""
        if not returned.number:
            self._not_led(returned.session, returned.room)
        errand = self._errands.get(returned.number)
        if errand is None:
            return
        if errand.is_match:
            del self._errands[errand.number]
            join = Join(room=returned.room, id=errand.request.id)
            errand.session.again(join if returned.room else errand.request, errand.now)
        else:
            errand.owner = None

    # -- when servers come and go -------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Ask again what rests, and give up in time, until cancelled."""
        while True:
            await asyncio.sleep(REST_SECONDS)
            now = time.monotonic()
            for errand in list(self._errands.values()):
                if now - errand.began_at > GIVE_UP_SECONDS:
                    self._give_up(errand)
                elif errand.owner is None:
                    self._send(errand)
            if self._unled:
                self.lead()

    def settle(self) -> None:
        """Ask and lead anew where another server serves the room by now."""
        for errand in list(self._errands.values()):
            if errand.owner is not None and not self._members.is_living(errand.owner):
                self._ask_again(errand)
        self.lead()

    def lead(self) -> None:
        """Bring all sessions that are in rooms of other servers to those that serve these."""
        self._unled = False
        for session in list(self._led):
            for code in list(session.elsewhere):
                self.lead_back(session, code)

    def lead_back(self, session: Session, code: str) -> None:
        """Bring a session into a room in which it was to the server that serves this now."""
        owner = self._members.owner_of(code)
        led = self._led.setdefault(session, {})
        if owner is None or led.get(code) == owner:
            return
        plays, seen = session.elsewhere[code], self._seen(code)
        if owner == self._members.id and not self._is_served(code):
            self._unled = True
        elif owner == self._members.id:
            led.pop(code, None)
            self.rejoin(session, code, plays, seen)
        else:
            led[code] = owner
            self._way_to(owner).put(Rejoined(self._introduce(session, owner), code, plays, seen))

    def moved(self, session: Session) -> None:
        """Take notice that a room in which a session is has become another server's."""
        self._led.setdefault(session, {})
        self._unled = True

    def lost(self, owner: str) -> None:
        """Say again to a server what it is to know: something did not arrive, or the server is new."""
        self._told.pop(owner, None)
        for led in self._led.values():
            for code in [code for code, by in led.items() if by == owner]:
                del led[code]
        for errand in list(self._errands.values()):
            if errand.owner == owner:
                self._ask_again(errand)
        self.lead()

    def _not_led(self, number: int, code: str) -> None:
        """Take notice that a server did not know yet that it serves a room: it is told again."""
        session = self._sessions.get(number)
        if session is not None:
            self._led.get(session, {}).pop(code, None)
            self._unled = True

    def _ask_again(self, errand: Errand) -> None:
        if errand.may_come_twice:
            self._send(errand)
        else:
            self._give_up(errand)

    def _give_up(self, errand: Errand) -> None:
        del self._errands[errand.number]
        errand.session.fail(errand.request, StoreUnavailable("the server of this room cannot be reached"))
