"""A small event as a server describes it."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from tests.faults.hostile_server import CLIENT, OTHER, Frame, HostileServer, identity
from tictactoe_engine import PRESETS
from tictactoe_protocol.events import (
    Call,
    EventHead,
    EventJoin,
    EventPairing,
    EventRow,
    EventRows,
    Events,
    EventState,
    EventSummary,
    EventWatch,
)
from tictactoe_protocol.pushes import Datum, Error, Ok
from tictactoe_protocol.requests import Request
from tictactoe_protocol.terms import ClockTerms, RulesState

EVENT = "E4NT22"
HEAD = EventHead(
    title="Friday",
    kind="swiss",
    rules=RulesState.of(PRESETS["classic"]),
    clock=ClockTerms(initial_ms=180_000, increment_ms=2_000),
    organisers=(CLIENT,),
    players=3,
    present=2,
    rounds=3,
)
ROWS = (
    EventRow(1, OTHER, "bo", None, 1.5, 2, (("buchholz_cut_1", 2.5, "2+½ (0)"),)),
    EventRow(2, CLIENT, "ana", None, 0.5, 2, (("buchholz_cut_1", 1.5, "1½ (0)"),)),
    EventRow(3, "p-third", "Robo", "easy", 0, 2, (), "away"),
)
OWN = EventPairing("r2-1", 2, {"X": CLIENT, "O": OTHER}, {"X": "ana", "O": "bo"}, "open", room="K7M4PQ")
BYE = EventPairing("r2-2", 2, {"X": "p-third"}, {"X": "Robo"}, "scored", "X", None, "bye")
MAY = {
    "organiser": ("pause", "expel", "forfeit", "void", "close"),
    "in": ("leave", "away"),
    "away": ("leave", "ready"),
    "": ("join",),
}
CALL = Call(EVENT, "r2-1", "K7M4PQ", "X", "bo", 60_000)


def event(seq: int = 5, **changed: Any) -> EventState:
    return replace(EventState(EVENT, seq, "running", 2, None, HEAD, ROWS, (OWN, BYE), may=MAY), **changed)


def news(
    seq: int, *, rows: tuple[EventRow, ...] = (), pairings: tuple[EventPairing, ...] = (), **more: Any
) -> EventRows:
    fields: dict[str, Any] = {"status": "running", "round": 2, "due_ms": None, "present": 3} | more
    return EventRows(event=EVENT, seq=seq, rows=rows, pairings=pairings, **fields)


def with_events(server: HostileServer, state: EventState) -> HostileServer:
    def answer(request: Request) -> Iterable[Frame]:
        id = identity(request)
        match request:
            case EventWatch(on=True):
                return [Ok(id=id, event=EVENT), state]
            case Events():
                listed = EventSummary(EVENT, "Friday", "swiss", state.status, state.round, 3)
                return [Ok(id=id, events=(listed,))]
        return [Ok(id=id, event=EVENT)]

    server.answers |= dict.fromkeys((EventWatch, EventJoin, Events), answer)
    return server


def with_card_in_use(server: HostileServer, state: EventState) -> HostileServer:
    """Make the server hold an event whose card is in use on another device."""
    with_events(server, state)

    def answer(request: Request) -> Iterable[Frame]:
        if isinstance(request, EventJoin) and not request.here:
            reason: dict[str, Datum] = {"why": "event card", "name": "Ana"}
            return [Error(id=identity(request), code="not_allowed", message="In use.", data=reason)]
        return [Ok(id=identity(request), event=EVENT)]

    server.answers[EventJoin] = answer
    return server
