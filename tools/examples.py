"""Examples of every kind of message, for the generated documents."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tictactoe_engine import PRESETS
from tictactoe_protocol import challenges, days, events, names, pushes, rated, requests, terms
from tictactoe_protocol.codes import PROTOCOL_VERSION
from tictactoe_protocol.pushes import Push
from tictactoe_protocol.requests import Request
from tictactoe_protocol.terms import ClockState, RulesState

VERSION: Final = "2.0.0"
_ROOM: Final = "K7M4PQ"
_EVENT: Final = "K7M4PR"
_PLANNED: Final = events.PlannedEvent(("Ana", "Bo", "Cy"), "swiss", "3 players, 3 rounds, about 5 minutes.")
_GAME_ID: Final = f"{_ROOM}-1-1924970700000"
_REPLAY: Final = "aB3-_dE5fG7hI9jK1mN3oP"
_CLOCK: Final = terms.ClockFields(initial_ms=180_000, increment_ms=2_000)
_CLASSIC: Final = RulesState.of(PRESETS["classic"])
_ANA: Final = pushes.SeatState("p5K2", "ana", online=True, bot=None)
_BO: Final = pushes.SeatState("p9QD", "bo", online=False, bot=None, hold_ms=47_000)
_RECORD: Final = """\
[Rules "classic"]
[X "ana"]
[O "bo"]
[Result "X"]
[Reason "line"]

1. a1 a2 2. b1 b2 3. c1 X

"""

_STATE: Final = pushes.RoomState(
    room=_ROOM,
    seq=12,
    status="playing",
    visibility="public",
    game=1,
    rules=_CLASSIC,
    board="X...O....",
    ply=2,
    turn="X",
    last=4,
    seats={"X": _ANA, "O": _BO},
    result=None,
    offers=pushes.Offers(),
    clock=ClockState({"X": 178_000, "O": 180_000}, "X"),
    watchers=2,
    score={"p5K2": 1, "p9QD": 0, "draws": 3},
)
_SUMMARY: Final = pushes.RoomSummary(
    room=_ROOM,
    status="waiting",
    rules=RulesState.of(PRESETS["gomoku"]),
    clock=terms.ClockTerms(move_ms=10_000),
    seats={"X": _ANA, "O": None},
    ply=0,
    watchers=0,
    age_ms=4_200,
)
_ANALYSIS: Final = pushes.AnalysisState(
    ply=4,
    turn="X",
    value=pushes.CellValue("win", 1, 1.0),
    cells={2: pushes.CellValue("win", 1, 1.0), 5: pushes.CellValue("draw"), 8: pushes.CellValue("loss", 2, -1.0)},
    best=(2,),
    solved=True,
)
_PAST_GAME: Final = pushes.PastGame(
    game_id=_GAME_ID,
    room=_ROOM,
    game=1,
    at=1_924_970_700_000,
    rules=_CLASSIC,
    players={"X": pushes.PastPlayer("p5K2", "ana"), "O": pushes.PastPlayer("p9QD", "bo")},
    result=pushes.Result("X", "line", (0, 1, 2)),
    moves=5,
)
_PLAYED: Final = pushes.PlayedGame(
    game_id=_GAME_ID,
    room=_ROOM,
    game=1,
    at=_PAST_GAME.at,
    rules=_CLASSIC,
    players=_PAST_GAME.players,
    board="XXXOO....",
    moves=(0, 3, 1, 4, 2),
    result=_PAST_GAME.result,
)

_CALL: Final = events.Call(_EVENT, "r1-1", _ROOM, "X", "bo", 60_000)
_EVENT_ROW: Final = events.EventRow(1, "p5K2", "ana", None, 1.0, 1, (("wins", 1.0, "1"),))
_EVENT_PAIRING: Final = events.EventPairing(
    "r1-1", 1, {"X": "p5K2", "O": "p9QD"}, {"X": "ana", "O": "bo"}, "scored", "X", "line", "game", _GAME_ID, _ROOM
)
_EVENT_HEAD: Final = events.EventHead(
    "Friday", "round_robin", _CLASSIC, _SUMMARY.clock or _CLOCK, ("p5K2",), players=4, present=3, rounds=3
)

REQUEST_EXAMPLES: Final[Mapping[type, tuple[Request, ...]]] = MappingProxyType(
    {
        requests.Hello: (
            requests.Hello(id="1", name="ana", client=f"tictactoe-client/{VERSION}", bot=True),
            requests.Hello(token="the secret of an earlier welcome"),
            requests.Hello(link="7KQ2M94F"),
            requests.Hello(name="ana", rescue="7KQ2-M94F-X3ZW-8HTB"),
        ),
        requests.Create: (
            requests.Create(id="2"),
            requests.Create(
                id="3",
                rules=terms.RulesFields(rows=6, columns=7, line=4, gravity=True),
                visibility="private",
                clock=_CLOCK,
                seat="O",
                bots=("perfect",),
            ),
            requests.Create(id="33", guests=("Bo",)),
        ),
        requests.Match: (
            requests.Match(id="4", rules="four", clock=terms.ClockFields(move_ms=10_000)),
            requests.Match(clock=terms.ClockFields(days=3, bank_days=2)),
        ),
        requests.Join: (requests.Join(id="5", room=_ROOM), requests.Join(id="23", room=_ROOM, seq=12)),
        requests.Watch: (requests.Watch(id="6", room=_ROOM), requests.Watch(id="24", room=_ROOM, seq=12)),
        requests.Leave: (requests.Leave(id="7", room=_ROOM),),
        requests.Move: (
            requests.Move(id="8", room=_ROOM, cell=4, ply=0),
            requests.Move(id="34", room=_ROOM, cell=4, ply=1, player="p5K2.2"),
        ),
        requests.Choose: (requests.Choose(id="29", room=_ROOM, take="more", ply=3),),
        requests.Resign: (requests.Resign(id="9", room=_ROOM),),
        requests.Draw: (requests.Draw(id="10", room=_ROOM, action="offer", game=1, ply=4),),
        requests.Undo: (requests.Undo(id="11", room=_ROOM, action="accept", game=1, ply=4),),
        requests.Claim: (requests.Claim(id="12", room=_ROOM, as_="win"),),
        requests.Rematch: (requests.Rematch(id="13", room=_ROOM, game=1),),
        requests.Chat: (requests.Chat(id="14", room=_ROOM, text="Good luck!"),),
        requests.Rooms: (requests.Rooms(id="15"),),
        requests.Lobby: (requests.Lobby(id="16", on=True), requests.Lobby(id="25", on=True, boards=3, demo=True)),
        requests.Sync: (requests.Sync(id="17", room=_ROOM),),
        requests.Ping: (requests.Ping(id="18"),),
        requests.DrawQr: (requests.DrawQr(id="23", text="http://host:8765/e/K7M4PQ#7c2f"),),
        requests.History: (requests.History(id="19"), requests.History(id="20", limit=50, before=_GAME_ID)),
        requests.Analyse: (requests.Analyse(id="22", room="K7M4PQ", ply=4),),
        rated.Ratings: (
            rated.Ratings(id="50", rules="connect-four"),
            rated.Ratings(id="51", rules="connect-four", around="p5K2"),
        ),
        rated.Profile: (rated.Profile(id="52", player="p5K2"),),
        requests.Review: (
            requests.Review(id="27", game_id=_GAME_ID, ply=4),
            requests.Review(id="28", replay="x3Fq0ZxJ8nY"),
        ),
        requests.Record: (requests.Record(id="21", game_id=_GAME_ID),),
        requests.Share: (
            requests.Share(id="26", game_id=_GAME_ID),
            requests.Share(id="27", game_id=_GAME_ID, on=False),
        ),
        events.EventPlan: (events.EventPlan(id="38", kind="swiss", clock=_CLOCK, roster="Ana, Bo, Cy"),),
        events.EventOpen: (
            events.EventOpen(id="30", kind="swiss", title="Friday", clock=_CLOCK, rounds=5, bots=("hard",)),
            events.EventOpen(
                id="31", kind="round_robin", title="5b", clock=_CLOCK, entry="roster", roster=("ana", "bo")
            ),
        ),
        events.EventJoin: (events.EventJoin(id="32", event=_EVENT, ticket="4F7KQ2M9", name="ana"),),
        events.EventLeave: (events.EventLeave(id="33", event=_EVENT),),
        events.EventReady: (events.EventReady(id="34", event=_EVENT, on=False),),
        events.EventRun: (
            events.EventRun(id="35", event=_EVENT, seq=4, action="begin"),
            events.EventRun(id="36", event=_EVENT, seq=9, action="forfeit", player="p9QD", pairing="r1-2"),
        ),
        events.EventWatch: (events.EventWatch(id="37", event=_EVENT, on=True),),
        events.Events: (events.Events(id="38"),),
        challenges.Challenge: (challenges.Challenge(id="46", player="p9QD", rules="four-pie", clock=_CLOCK, side="X"),),
        challenges.Answer: (challenges.Answer(id="47", challenge="c7Kq2M", accept=True),),
        challenges.Block: (challenges.Block(id="49", player="p9QD"), challenges.Block(id="50")),
        days.Notify: (days.Notify(id="51", feed=True, webhook="https://chat.example/hook", quiet=(1320, 420)),),
        days.Plan: (days.Plan(id="52", room=_ROOM, moves=((4, 8), (0, 4, 2, 1))),),
        names.ClaimName: (names.ClaimName(id="39", name="ana"),),
        names.LinkDevice: (names.LinkDevice(id="40"),),
        names.Devices: (names.Devices(id="41"),),
        names.Revoke: (names.Revoke(id="42", device="d3f9a0"),),
        names.Forget: (names.Forget(id="43"),),
        names.Export: (names.Export(id="44"), names.Export(id="45", before=_GAME_ID)),
    }
)
"""Examples of requests, by type."""

PUSH_EXAMPLES: Final[Mapping[type, tuple[Push, ...]]] = MappingProxyType(
    {
        pushes.Welcome: (
            pushes.Welcome(
                id="1",
                protocol=PROTOCOL_VERSION,
                server=f"tictactoe-server/{VERSION}",
                player="p5K2",
                name="ana",
                token="a secret to keep",
                rooms=(pushes.HeldSeat(_ROOM, "X", _SUMMARY.rules, {"X": "ana", "O": "bo"}, "O"),),
                hold_ms=60_000,
                sharing=True,
                ladders=("connect-four",),
                challenges=(),
                held_ms={_ROOM: 31_000},
            ),
            pushes.Welcome(
                id="1",
                protocol=PROTOCOL_VERSION,
                server=f"tictactoe-server/{VERSION}",
                player="p5K2",
                name="ana",
                token="a secret to keep",
                rooms=(),
                hold_ms=60_000,
                sharing=False,
                ladders=(),
                servers=("wss://one.example.org", "wss://two.example.org"),
                cluster="c7Qm2ZtXw9Ra",
                title="Chess club, Room 12",
                greeting="We play on Fridays.",
            ),
        ),
        pushes.Ok: (
            pushes.Ok(id="2", room=_ROOM, seat="X"),
            pushes.Ok(id="8"),
            pushes.Ok(id="9", room=_ROOM, seat="X", rated=True),
            pushes.Ok(id="33", room=_ROOM, seat="X", seats=("X", "O")),
            pushes.Ok(id="15", rooms=(_SUMMARY,), online=3),
            pushes.Ok(id="18", time=1_924_970_700_000),
            pushes.Ok(id="23", qr="data:image/svg+xml;base64,PHN2Zy8+"),
            pushes.Ok(id="19", games=(_PAST_GAME,)),
            pushes.Ok(id="21", record=_RECORD, played=_PLAYED),
            pushes.Ok(id="22", analysis=_ANALYSIS),
            pushes.Ok(id="26", replay=_REPLAY, link=f"http://localhost:8765/replay/{_REPLAY}"),
            pushes.Ok(id="30", event=_EVENT, ticket="7KQ2M94F"),
            pushes.Ok(id="31", event=_EVENT, cards=(events.Card("ana", "4F7KQ2M9"), events.Card("bo", "M94F7KQ2"))),
            pushes.Ok(id="38", event_plan=_PLANNED),
            pushes.Ok(id="38", events=(events.EventSummary(_EVENT, "Friday", "swiss", "running", 2, 17),)),
            pushes.Ok(id="39", rescue=("7KQ2-M94F-X3ZW-8HTB", "K2M9-4F7Q-ZWX3-TB8H", "94FM-2K7Q-8HTB-X3ZW")),
            pushes.Ok(id="40", link_code="7KQ2M94F", expires_ms=names.LINK_MS),
            pushes.Ok(
                id="41",
                claimed="ana",
                codes_left=3,
                devices=(names.Device("d3f9a0", "2030-12-31", current=True, client=f"tictactoe-client/{VERSION}"),),
            ),
            pushes.Ok(
                id="44", export={"player": "p5K2dW8xQnA", "claims": [{"name": "ana"}], "games": []}, before=_GAME_ID
            ),
            pushes.Ok(id="46", challenge="c7Kq2M"),
            pushes.Ok(id="49", blocks=("p9QD",), strangers=True),
            pushes.Ok(
                id="51",
                feed="https://play.example/feed/aB3-_dE5fG7hI9jK1mN3oP.atom",
                webhook="https://chat.example/hook",
                push=None,
                push_key="BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA",
                quiet=(1320, 420),
            ),
            pushes.Ok(id="52", plan=((4, 8), (0, 4, 2, 1))),
            pushes.Ok(
                id="50",
                ladder=rated.LadderState(
                    "connect-four", (rated.LadderRow(1, "p5K2", "ana", 1623.4, 61.2, 48, 12.5),), 812, 71.3, 0.94
                ),
            ),
            pushes.Ok(
                id="52",
                profile=pushes.PlayerProfile(
                    "p5K2",
                    "ana",
                    (rated.LadderStanding("connect-four", 30, 4, 14, 1623.4, 61.2, place=1),),
                    (_PAST_GAME,),
                    rated.Encounters(2, 0, 1, 1_924_970_700_000),
                ),
            ),
        ),
        pushes.Error: (
            pushes.Error(
                id="8", code="occupied", message="B2 is taken by O.", room=_ROOM, data={"cell": "B2", "mark": "O"}
            ),
            pushes.Error(code="bad_message", message='move: the field "ply" is missing.', path="ply"),
            pushes.Error(id="9", code="rate_limited", message="Not so fast.", retry_ms=250),
            pushes.Error(
                id="10",
                code="moved",
                message=f"Room {_ROOM} is at wss://two.example.org now.",
                room=_ROOM,
                url="wss://two.example.org",
            ),
        ),
        pushes.RoomState: (_STATE,),
        pushes.ChatLine: (
            pushes.ChatLine(room=_ROOM, from_="ana", seat="X", text="Good luck!", at=1_924_970_700_000, player="p5K2"),
        ),
        pushes.LobbyChange: (pushes.LobbyChange(changed=(_SUMMARY,), closed=("M2XWQ7",)),),
        pushes.LiveBoards: (
            pushes.LiveBoards(
                (pushes.LiveBoard(_ROOM, 1, "classic", 3, 3, "X...O....", 2, "X", 4, {"X": "ana", "O": "bo"}),)
            ),
        ),
        pushes.Replaced: (pushes.Replaced(_ROOM),),
        pushes.Moved: (pushes.Moved(_ROOM, "wss://two.example.org"),),
        pushes.Closed: (pushes.Closed(_ROOM, "Nobody came back.", "idle", {}),),
        pushes.Notice: (pushes.Notice("restarting", 2_000), pushes.Notice("stopping", 2_000, in_ms=600_000)),
        pushes.Announcement: (pushes.Announcement("The next tournament begins at eight.", 1_770_000_000_000),),
        rated.Rated: (
            rated.Rated(
                _ROOM,
                1,
                "connect-four",
                {"p5K2": rated.RatingChange(1512.1, 1524.3, 0.41), "bWq7": rated.RatingChange(1450.0, 1437.8, 0.59)},
            ),
        ),
        events.EventState: (
            events.EventState(_EVENT, 9, "running", 1, None, _EVENT_HEAD, (_EVENT_ROW,), (_EVENT_PAIRING,)),
        ),
        events.EventRows: (
            events.EventRows(
                event=_EVENT,
                seq=10,
                status="running",
                round=1,
                due_ms=5_000,
                present=4,
                rows=(_EVENT_ROW,),
                pairings=(_EVENT_PAIRING,),
            ),
        ),
        events.Call: (_CALL,),
        challenges.Challenged: (
            challenges.Challenged(
                challenge="c7Kq2M",
                player="p5K2",
                name="ana",
                to="p9QD",
                rules=_CLASSIC,
                clock=_CLOCK,
                side="X",
                expires_ms=challenges.CHALLENGE_MS,
            ),
        ),
        days.Turns: (days.Turns((days.Turn(_ROOM, _CLASSIC, 3_600_000, 90_000_000),)),),
        challenges.ChallengeOver: (
            challenges.ChallengeOver("c7Kq2M", "declined"),
            challenges.ChallengeOver("c7Kq2M", "accepted", _ROOM),
        ),
    }
)
"""Examples of pushes, by type."""
