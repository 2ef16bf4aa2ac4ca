"""Every message of the protocol, drawn at random within its types: for properties that hold for all of them."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import UNSET

from tictactoe_protocol import MAX_LISTED_GAMES, MAX_LIVE_BOARDS, ErrorCode, events, names, pushes, requests, terms

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ROOMS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
IDS = st.just(UNSET) | ROOMS
MARKS = st.sampled_from("XOABC")
NUMBERS = st.integers(-terms.MAX_INTEGER, terms.MAX_INTEGER)
COUNTS = st.integers(0, terms.MAX_INTEGER)
CELLS = st.lists(st.integers(0, 1023), max_size=9).map(tuple)
VISIBILITIES = st.sampled_from(("public", "private"))
ACTIONS = st.sampled_from(("offer", "accept", "decline"))

RULES_FIELDS = st.builds(
    terms.RulesFields,
    rows=NUMBERS,
    columns=NUMBERS,
    line=NUMBERS,
    marks=TEXTS,
    blocked=st.lists(NUMBERS, max_size=5).map(tuple),
    misere=st.booleans(),
    gravity=st.booleans(),
)
RULES_CHOICES = st.just(UNSET) | TEXTS | RULES_FIELDS
MILLISECONDS = st.integers(1, terms.MAX_CLOCK_MS)


def clocks_of(kind: type[terms.ClockTerms]) -> st.SearchStrategy[terms.ClockTerms]:
    by_seat = st.builds(kind, initial_ms=MILLISECONDS, increment_ms=MILLISECONDS)
    return by_seat | st.builds(kind, move_ms=MILLISECONDS)


CLOCKS = clocks_of(terms.ClockFields)

REQUESTS_BY_KIND: dict[type, st.SearchStrategy[requests.Request]] = {
    requests.Hello: st.builds(
        requests.Hello,
        id=IDS,
        name=st.just(UNSET) | TEXTS,
        token=st.just(UNSET) | TEXTS,
        client=st.just(UNSET) | TEXTS,
        link=st.just(UNSET) | ROOMS,
        rescue=st.just(UNSET) | ROOMS,
    ),
    requests.Create: st.builds(
        requests.Create,
        id=IDS,
        rules=RULES_CHOICES,
        visibility=VISIBILITIES,
        clock=st.none() | CLOCKS,
        seat=st.just(UNSET) | TEXTS,
        bots=st.lists(TEXTS, max_size=6).map(tuple),
    ),
    requests.Match: st.builds(requests.Match, id=IDS, rules=RULES_CHOICES, clock=st.none() | CLOCKS),
    requests.Join: st.builds(requests.Join, id=IDS, room=ROOMS, seq=st.just(UNSET) | COUNTS),
    requests.Watch: st.builds(requests.Watch, id=IDS, room=ROOMS, seq=st.just(UNSET) | COUNTS),
    requests.Leave: st.builds(requests.Leave, id=IDS, room=ROOMS),
    requests.Move: st.builds(requests.Move, id=IDS, room=ROOMS, cell=NUMBERS, ply=COUNTS),
    requests.Choose: st.builds(requests.Choose, id=IDS, room=ROOMS, take=TEXTS, ply=COUNTS),
    requests.Resign: st.builds(requests.Resign, id=IDS, room=ROOMS),
    **{
        kind: st.builds(
            kind, id=IDS, room=ROOMS, action=ACTIONS, game=st.just(UNSET) | COUNTS, ply=st.just(UNSET) | COUNTS
        )
        for kind in (requests.Draw, requests.Undo)
    },
    requests.Claim: st.builds(requests.Claim, id=IDS, room=ROOMS, as_=st.sampled_from(("win", "draw"))),
    requests.Rematch: st.builds(requests.Rematch, id=IDS, room=ROOMS, game=st.just(UNSET) | COUNTS),
    requests.Chat: st.builds(requests.Chat, id=IDS, room=ROOMS, text=ROOMS),
    requests.Rooms: st.builds(requests.Rooms, id=IDS),
    requests.Lobby: st.builds(requests.Lobby, id=IDS, on=st.booleans(), boards=st.integers(0, MAX_LIVE_BOARDS)),
    requests.Sync: st.builds(requests.Sync, id=IDS, room=ROOMS),
    requests.Ping: st.builds(requests.Ping, id=IDS),
    requests.History: st.builds(
        requests.History, id=IDS, limit=st.integers(1, MAX_LISTED_GAMES), before=st.just(UNSET) | ROOMS
    ),
    requests.Analyse: st.builds(requests.Analyse, id=IDS, room=ROOMS, ply=st.just(UNSET) | COUNTS),
    requests.Review: st.builds(
        requests.Review, id=IDS, game=st.just(UNSET) | ROOMS, replay=st.just(UNSET) | ROOMS, ply=st.just(UNSET) | COUNTS
    ),
    requests.Record: st.builds(requests.Record, id=IDS, game=ROOMS),
    requests.Share: st.builds(requests.Share, id=IDS, game=ROOMS, on=st.booleans()),
    events.EventOpen: st.builds(
        events.EventOpen,
        id=IDS,
        kind=st.sampled_from(events.EVENT_KINDS),
        title=ROOMS,
        clock=CLOCKS,
        rules=RULES_CHOICES,
        double=st.booleans(),
        rounds=st.just(UNSET) | st.integers(1, events.MAX_ROUNDS),
        entry=st.sampled_from(("open", "code", "roster")),
        roster=st.lists(TEXTS, max_size=3).map(tuple),
        bots=st.lists(TEXTS, max_size=3).map(tuple),
        size=st.just(UNSET) | st.integers(2, events.MAX_ENTRANTS),
        ready_ms=st.integers(events.MIN_READY_MS, events.MAX_READY_MS),
    ),
    events.EventJoin: st.builds(
        events.EventJoin, id=IDS, event=ROOMS, ticket=st.just(UNSET) | ROOMS, name=st.just(UNSET) | TEXTS
    ),
    events.EventLeave: st.builds(events.EventLeave, id=IDS, event=ROOMS),
    events.EventReady: st.builds(events.EventReady, id=IDS, event=ROOMS, on=st.booleans()),
    events.EventRun: st.builds(
        events.EventRun,
        id=IDS,
        event=ROOMS,
        seq=COUNTS,
        action=st.sampled_from(("begin", "next", "expel", "forfeit", "void", "close")),
        player=st.just(UNSET) | ROOMS,
        pairing=st.just(UNSET) | ROOMS,
        name=st.just(UNSET) | TEXTS,
    ),
    events.EventWatch: st.builds(events.EventWatch, id=IDS, event=ROOMS, on=st.booleans()),
    events.Events: st.builds(events.Events, id=IDS),
    names.ClaimName: st.builds(names.ClaimName, id=IDS, name=TEXTS),
    names.LinkDevice: st.builds(names.LinkDevice, id=IDS),
    names.Devices: st.builds(names.Devices, id=IDS),
    names.Revoke: st.builds(names.Revoke, id=IDS, device=ROOMS),
}
REQUESTS = st.one_of(*REQUESTS_BY_KIND.values())

RULES_STATES = st.builds(
    terms.RulesState,
    preset=st.none() | TEXTS,
    rows=COUNTS,
    columns=COUNTS,
    line=COUNTS,
    marks=TEXTS,
    blocked=CELLS,
    misere=st.booleans(),
    gravity=st.booleans(),
)
SEATS = st.none() | st.builds(
    pushes.SeatState,
    player=TEXTS,
    name=TEXTS,
    online=st.booleans(),
    bot=st.none() | TEXTS,
    hold_ms=st.just(UNSET) | COUNTS,
    left=st.booleans(),
)
EVENT_ROWS = st.builds(
    events.EventRow,
    place=COUNTS,
    player=TEXTS,
    name=TEXTS,
    bot=st.none() | TEXTS,
    points=st.integers(0, 400).map(lambda halves: halves / 2),
    played=COUNTS,
    tie=st.lists(st.tuples(TEXTS, st.integers(0, 400).map(float), TEXTS), max_size=2).map(tuple),
)
EVENT_PAIRINGS = st.builds(
    events.EventPairing,
    id=ROOMS,
    round=COUNTS,
    players=st.dictionaries(MARKS, TEXTS, max_size=2),
    names=st.dictionaries(MARKS, TEXTS, max_size=2),
    state=st.sampled_from(events.PAIRING_STATES),
    result=st.none() | MARKS,
    game=st.none() | TEXTS,
    room=st.just(UNSET) | ROOMS,
)
EVENT_PARTS = {
    "event": ROOMS,
    "seq": COUNTS,
    "status": st.sampled_from(events.EVENT_STATUSES),
    "round": COUNTS,
    "due_ms": st.none() | COUNTS,
}
CALLS = st.builds(events.Call, event=ROOMS, pairing=ROOMS, room=ROOMS, mark=MARKS, against=TEXTS, due_ms=COUNTS)
SEATS_BY_MARK = st.dictionaries(MARKS, SEATS, max_size=3)
STATUSES = st.sampled_from(("waiting", "playing", "over"))
REASONS = st.sampled_from(pushes.RESULT_REASONS)
HELD_SEATS = st.builds(
    pushes.HeldSeat,
    room=ROOMS,
    seat=MARKS,
    rules=st.just(UNSET) | RULES_STATES,
    names=st.just(UNSET) | st.dictionaries(MARKS, TEXTS, max_size=3),
    turn=st.just(UNSET) | st.none() | MARKS,
)
SUMMARIES = st.builds(
    pushes.RoomSummary,
    room=ROOMS,
    status=STATUSES,
    rules=RULES_STATES,
    clock=st.none() | clocks_of(terms.ClockTerms),
    seats=SEATS_BY_MARK,
    ply=COUNTS,
    watchers=COUNTS,
    age_ms=COUNTS,
)
CLOCK_STATES = st.builds(
    pushes.ClockState,
    remaining_ms=st.dictionaries(MARKS, COUNTS, max_size=3),
    running=st.none() | MARKS,
    start_ms=COUNTS | st.just(UNSET),
)
RESULTS = st.builds(pushes.Result, winner=st.none() | MARKS, reason=REASONS, line=CELLS)
PAST_GAMES = st.builds(
    pushes.PastGame,
    id=ROOMS,
    room=ROOMS,
    game=COUNTS,
    at=st.integers(0, 2**53),
    rules=RULES_STATES,
    players=st.dictionaries(MARKS, st.builds(pushes.PastPlayer, player=TEXTS, name=TEXTS), max_size=3),
    result=RESULTS,
    moves=COUNTS,
)
PLAYED_GAMES = st.builds(
    pushes.PlayedGame,
    room=ROOMS,
    game=COUNTS,
    at=st.integers(0, 2**53),
    rules=RULES_STATES,
    players=st.dictionaries(MARKS, st.builds(pushes.PastPlayer, player=TEXTS, name=TEXTS), max_size=3),
    board=TEXTS,
    moves=CELLS,
    result=RESULTS,
    passed=st.lists(st.tuples(COUNTS, MARKS), max_size=2).map(tuple),
)
DATA = st.dictionaries(
    TEXTS, TEXTS | st.integers(-(2**53), 2**53) | st.booleans() | st.none() | st.lists(TEXTS | COUNTS), max_size=3
)

PUSHES_BY_KIND: dict[type, st.SearchStrategy[pushes.Push]] = {
    pushes.Welcome: st.builds(
        pushes.Welcome,
        id=IDS,
        protocol=COUNTS,
        server=TEXTS,
        player=TEXTS,
        name=TEXTS,
        token=TEXTS,
        rooms=st.lists(HELD_SEATS, max_size=3).map(tuple),
        hold_ms=st.just(UNSET) | COUNTS,
        held_ms=st.just(UNSET) | st.dictionaries(ROOMS, COUNTS, max_size=3),
        claimed=st.just(UNSET) | st.booleans(),
    ),
    pushes.Ok: st.builds(
        pushes.Ok,
        id=ROOMS,
        room=st.just(UNSET) | ROOMS,
        seat=st.just(UNSET) | st.none() | MARKS,
        moves=st.just(UNSET) | CELLS,
        rooms=st.just(UNSET) | st.lists(SUMMARIES, max_size=2).map(tuple),
        time=st.just(UNSET) | COUNTS,
        games=st.just(UNSET) | st.lists(PAST_GAMES, max_size=2).map(tuple),
        record=st.just(UNSET) | TEXTS,
        played=st.just(UNSET) | PLAYED_GAMES,
        devices=st.just(UNSET)
        | st.lists(st.builds(names.Device, id=TEXTS, seen=TEXTS, current=st.booleans()), max_size=2).map(tuple),
    ),
    pushes.Error: st.builds(
        pushes.Error,
        id=IDS,
        code=st.sampled_from(ErrorCode).map(str) | TEXTS,
        message=TEXTS,
        room=IDS,
        path=IDS,
        data=st.just(UNSET) | DATA,
        retry_ms=st.just(UNSET) | COUNTS,
    ),
    pushes.RoomState: st.builds(
        pushes.RoomState,
        room=ROOMS,
        happened=st.just(UNSET)
        | st.lists(
            st.builds(pushes.Happening, type=TEXTS, mark=st.just(UNSET) | MARKS, why=st.just(UNSET) | TEXTS)
        ).map(tuple),
        seq=COUNTS,
        status=STATUSES,
        visibility=VISIBILITIES,
        game=COUNTS,
        rules=RULES_STATES,
        board=TEXTS,
        ply=COUNTS,
        turn=st.none() | MARKS,
        last=st.none() | COUNTS,
        seats=SEATS_BY_MARK,
        result=st.none() | RESULTS,
        offers=st.builds(
            pushes.Offers,
            draw=st.none() | MARKS,
            undo=st.none() | MARKS,
            rematch=st.lists(MARKS, max_size=3).map(tuple),
            ended=st.just(UNSET)
            | st.dictionaries(
                st.sampled_from(("draw", "undo")), st.builds(pushes.EndedOffer, by=MARKS, how=TEXTS), min_size=1
            ),
        ),
        clock=st.none() | CLOCK_STATES,
        watchers=COUNTS,
        score=st.dictionaries(TEXTS, COUNTS, max_size=3),
    ),
    pushes.ChatLine: st.builds(pushes.ChatLine, room=ROOMS, from_=TEXTS, seat=st.none() | MARKS, text=TEXTS, at=COUNTS),
    pushes.LobbyChange: st.builds(
        pushes.LobbyChange,
        changed=st.lists(SUMMARIES, max_size=2).map(tuple),
        closed=st.lists(ROOMS, max_size=2).map(tuple),
    ),
    pushes.LiveBoards: st.builds(
        pushes.LiveBoards,
        boards=st.lists(
            st.builds(
                pushes.LiveBoard,
                room=ROOMS,
                game=COUNTS,
                preset=st.none() | TEXTS,
                rows=COUNTS,
                columns=COUNTS,
                board=TEXTS,
                ply=COUNTS,
                turn=st.none() | MARKS,
                last=st.none() | COUNTS,
                names=st.dictionaries(MARKS, TEXTS, max_size=3),
                result=st.just(UNSET) | RESULTS,
                clock=st.just(UNSET) | CLOCK_STATES,
            ),
            max_size=2,
        ).map(tuple),
    ),
    pushes.Replaced: st.builds(pushes.Replaced, room=ROOMS),
    pushes.Moved: st.builds(pushes.Moved, room=ROOMS, url=TEXTS),
    pushes.Closed: st.builds(
        pushes.Closed, room=ROOMS, reason=TEXTS, code=st.just(UNSET) | TEXTS, data=st.just(UNSET) | DATA
    ),
    pushes.Notice: st.builds(pushes.Notice, code=TEXTS, retry_ms=COUNTS, in_ms=st.just(UNSET) | st.none() | COUNTS),
    pushes.Announcement: st.builds(pushes.Announcement, text=TEXTS, at=COUNTS, code=st.just(UNSET) | TEXTS),
    events.EventState: st.builds(
        events.EventState,
        **EVENT_PARTS,
        head=st.builds(
            events.EventHead,
            title=TEXTS,
            kind=st.sampled_from(events.EVENT_KINDS),
            rules=RULES_STATES,
            clock=clocks_of(terms.ClockTerms),
            organisers=st.lists(TEXTS, max_size=2).map(tuple),
            players=COUNTS,
            present=COUNTS,
        ),
        table=st.lists(EVENT_ROWS, max_size=2).map(tuple),
        pairings=st.lists(EVENT_PAIRINGS, max_size=2).map(tuple),
    ),
    events.EventRows: st.builds(
        events.EventRows,
        **EVENT_PARTS,
        present=COUNTS,
        rows=st.lists(EVENT_ROWS, max_size=2).map(tuple),
        pairings=st.lists(EVENT_PAIRINGS, max_size=2).map(tuple),
    ),
    events.Call: CALLS,
}
PUSHES = st.one_of(*PUSHES_BY_KIND.values())
