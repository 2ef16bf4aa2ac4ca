"""Pairs of states, their changes in words and the possible actions: the shared cases of all front ends.

``python -m tools.vectors`` writes `tests/vectors.json`. Random commands are applied to rooms of many kinds, and the
transitions that differ most are kept. The same code always gives the same file.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tests.server.tables import Action, carry_out, time_out
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.challenges import CHALLENGE_ENDS, ChallengeOver, OpenChallenge
from tictactoe_protocol.events import EVENT_KINDS, EventGame, EventLeave, EventOpen, EventReady, EventRun
from tictactoe_protocol.pushes import PlayerProfile, RoomState, RoomSummary, SeatState, Welcome
from tictactoe_protocol.rated import (
    CLOSINGS,
    LadderClosing,
    LadderRow,
    LadderStanding,
    LadderState,
    Rated,
    RatingChange,
)
from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.terms import ClockFields, ClockState, ClockTerms, RulesState
from tictactoe_server.core.live_room import merge_news
from tictactoe_server.features.ratings.folding import RATED, is_rated
from tictactoe_server.features.tournaments.attendance import Attendance
from tictactoe_server.features.tournaments.broadcasts import state_of as state_of_event
from tictactoe_server.features.tournaments.broadcasts import with_attendance
from tictactoe_server.features.tournaments.commands import Deserted, EnterEvent, Opened, RoomCodes, Score, pair_next
from tictactoe_server.features.tournaments.commands import apply as change_event
from tictactoe_server.features.tournaments.event import Event, due_at, open_event
from tictactoe_server.features.tournaments.running import purpose_of
from tictactoe_server.rooms import seating
from tictactoe_server.rooms.room import NOBODY, Player, Refused, Room, is_expired
from tictactoe_server.rooms.seating import drop, hand_over, open_room, seat_of
from tictactoe_server.rooms.view import state_of
from tictactoe_words import ladders, tournaments
from tictactoe_words.attendance import ask_to_begin, describe_game, describe_waiting, list_notes, name_rounds
from tictactoe_words.catalogue import LANGUAGES, speak
from tictactoe_words.choices import Choices, choices
from tictactoe_words.scene import Unanswered, View, scene
from tictactoe_words.telling import announce, announce_standing, news_since
from tictactoe_words.wording import describe_manners, format_duration

PATH: Final = Path(__file__).parent.parent / "tests" / "vectors.json"
MOST: Final = 330
PLAYS: Final = 300
EVENTS: Final = 60
PEOPLE: Final = tuple(Player(f"p-{name}", name) for name in ("ana", "bo", "cy", "Bo plays C"))
WELCOME: Final = Welcome(
    protocol=0, server="", player="", name="", token="", rooms=(), hold_ms=0, sharing=True, ladders=()
)
GAMES: Final = (
    PRESETS["classic"],
    PRESETS["misere"],
    PRESETS["blocker"],
    PRESETS["three-players"],
    Rules(3, 4, 3, gravity=True),
    Rules(3, 3, 3, marks="XOA"),
    Rules(5, 5, 3),
    PRESETS["four-pie"],
    Rules(4, 4, 4, exact=True, opening="swap2"),
)
_NO_LINE: Final = (0, 1, 2, 4, 3, 5, 7, 6)
"""Moves that leave one cell free and complete no line."""
CLOCKS: Final = (None, ClockFields(move_ms=2_000), ClockFields(initial_ms=4_000, increment_ms=0))


def make_vectors() -> list[dict[str, Any]]:
    """Return the vectors: of many transitions those with the rarest traits."""
    chance = random.Random(20261124)
    found: list[tuple[dict[str, Any], list[Any]]] = []
    for number in range(PLAYS + EVENTS):
        seen = play(chance) if number < PLAYS else play_in_event(chance)
        for index, now in enumerate(seen):
            back = chance.choice((1, 1, 1, 1, 2, 3, 4))
            if index >= back and chance.random() < 0.5:
                now = coalesce(seen[index - back : index + 1])
            one = make_vector(chance, seen[index - back] if index >= back else None, now)
            found.append((one, traits_of(one)))
    chosen: list[dict[str, Any]] = []
    counts: Counter[Any] = Counter()
    rarest = [(0, at) for at in range(len(found))]
    while len(chosen) < MOST:
        known, at = heappop(rarest)
        one, traits = found[at]
        if (count := min(counts[trait] for trait in traits)) > known:  # they only grow: nothing before it is as rare
            heappush(rarest, (count, at))
        else:
            counts.update(traits)
            chosen.append(one)
    chosen += [make_vector(chance, before, now) for before, now in pairwise(go_on_by_card())]
    return chosen + list(make_boundaries()) + list(make_endings())


def coalesce(states: Sequence[RoomState]) -> RoomState:
    """Return the last state as watchers get it if they were sent the first one and none in between."""
    sent = states[1:]
    if any(has_new_seats(*pair) for pair in pairwise(sent)):
        return states[-1]
    return msgspec.json.decode(merge_news([*map(msgspec.json.encode, sent)], states[0].seq), type=RoomState)


def has_new_seats(before: RoomState, after: RoomState) -> bool:
    """Return True if a server does not coalesce these states."""
    return after.game != before.game or after.seats != before.seats


def make_vector(chance: random.Random, before: RoomState | None, now: RoomState) -> dict[str, Any]:
    """Return a random vector about two states; for None, about entering the room."""
    viewer = chance.choice(("", *(seat.player for seat in now.seats.values() if seat)))
    how = {"sees_board": chance.random() < 0.2, "after_loss": before is not None and chance.random() < 0.2}
    has_sharing = chance.random() < 0.7
    now_ms, is_online = chance.choice((0, 0, 250, 600)), chance.random() < 0.9
    return tell_vector(before, now, viewer, how, now_ms, is_online=is_online, has_sharing=has_sharing)


def tell_vector(
    before: RoomState | None,
    now: RoomState,
    viewer: str,
    how: dict[str, bool] | None = None,
    now_ms: int = 0,
    *,
    is_online: bool = True,
    has_sharing: bool = True,
    has_challenges: bool = True,
) -> dict[str, Any]:
    """Return what a viewer is told about the news of a state, and may do afterwards."""
    how = {"sees_board": False, "after_loss": False} if how is None or before is None else how
    welcome = replace(WELCOME, sharing=has_sharing, challenges=() if has_challenges else UNSET)
    open_now = choices(now, viewer, now_ms, is_online=is_online, welcome=welcome)
    view = look_at(random.Random(f"{now.seq} {now.moves} {viewer} {now_ms}"), now, open_now, is_online=is_online)
    told, shown = {}, {}
    for language in LANGUAGES:
        speak(language)
        news = None if before is None else news_since(before, now)
        told[language] = announce_standing(now, viewer) if news is None else announce(news, now, viewer, **how)
        shown[language] = msgspec.to_builtins(scene(now, open_now, view, viewer, now_ms))
    speak("en")
    return {
        "before": None if before is None else msgspec.to_builtins(before),
        "after": msgspec.to_builtins(now),
        "viewer": viewer,
        **how,
        "told": told,
        "welcome": {"sharing": has_sharing, **({"challenges": []} if has_challenges else {})},
        "now_ms": now_ms,
        "is_online": is_online,
        "choices": msgspec.to_builtins(open_now),
        "view": msgspec.to_builtins(view),
        "scene": shown,
    }


_UNANSWERED: Final = (
    Unanswered("ws://two.example:8765"),
    Unanswered("ws://two.example:8765", "asked"),
    Unanswered("ws://two.example:8765", "refused", "Somebody is connected there."),
)


def look_at(chance: random.Random, now: RoomState, may: Choices, *, is_online: bool) -> View:
    """Return the moment a viewer looks at and the typed text, usually none."""
    if chance.random() < 0.6:
        return View(is_offline=not is_online)
    costly = [deed.name for deed in may.deeds if deed.cost]
    free = [cell for cell, lies in enumerate(now.board) if lies == "."]
    return View(
        here=chance.choice((None, len(now.moves), len(now.moves) // 2, 0)),
        typed=chance.choice(("", "", "", "b2")),
        pending=chance.choice((None, None, *free[:1])),
        confirming=chance.choice(("", *costly)),
        is_kept=now.status == "over" and chance.random() < 0.3,
        ended=chance.choice(("", "", "", "", "left", "closed", "moved", "replaced", "card")),
        reason=chance.choice(("", "Nobody was here.")),
        is_offline=not is_online,
        unanswered=chance.choice((None, None, *_UNANSWERED)),
    )


def make_boundaries() -> Iterator[dict[str, Any]]:
    """Yield cases that chance hardly meets: in a tournament a draw offered one move too early, leaving, missed games.

    And the same of a rated game, with its end.
    """
    ana, bo = PEOPLE[:2]
    rated = open_room("R4T3DS", PRESETS["classic"], ana, 1_000, clock=CLOCKS[2], purpose=RATED)
    for room in (rated, open_in_event(PRESETS["classic"], CLOCKS[2], (ana, bo))):
        seen: RoomState | None = None
        moves: list[tuple[Player, Action]] = [
            *((ana, seating.enter), (bo, seating.enter)),
            *((PEOPLE[ply % 2], Move(room=room.code, cell=cell, ply=ply)) for ply, cell in enumerate(_NO_LINE)),
            *(((bo, Resign(room=room.code)),) if is_rated(room) else ()),
        ]
        for player, command in moves:
            was, room = room, carry_out(room, player, command, 1_000)
            before, seen = seen, see(room, 1_000, was)
            if len(seen.moves) in (0, 1, 7, 8):
                yield tell_vector(before, seen, ana.id)
                if is_rated(room):
                    yield tell_vector(before, seen, bo.id, has_challenges=False)
    assert seen is not None
    missed = replace(seen, event=msgspec.UNSET, pairing=msgspec.UNSET, news=())
    yield tell_vector(missed, replace(missed, seq=missed.seq + 9, game=3, score={**missed.score, ana.id: 2}), "")


def make_endings() -> Iterator[dict[str, Any]]:
    """Yield endings that chance hardly meets, for each viewer: two lines at once, and a line that loses."""
    ana, bo = PEOPLE[:2]
    for name, cells in (("classic", (0, 3, 1, 7, 5, 4, 8, 6, 2)), ("misere", (0, 3, 1, 4, 2))):
        was = room = seating.enter(open_room("K7M4PQ", PRESETS[name], ana, 1_000), bo, 1_000)
        for ply, cell in enumerate(cells):
            was, room = room, carry_out(room, PEOPLE[ply % 2], Move(room=room.code, cell=cell, ply=ply), 1_000)
        for viewer in (ana.id, bo.id, ""):
            yield tell_vector(see(was, 1_000, was), see(room, 1_000, was), viewer)


def traits_of(vector: dict[str, Any]) -> list[Any]:
    """Return the traits that vectors should cover: each kind of change, for players and watchers, of two and more."""
    after, viewer = vector["after"], vector["viewer"]
    own = next((mark for mark, seat in after["seats"].items() if seat and seat["player"] == viewer), None)
    traits: list[Any] = [(vector["sees_board"], vector["after_loss"], vector["before"] is None, own is None)]
    found = vector["choices"]
    traits += [("may", deed["id"], deed["argument"], deed["cost"]) for deed in found["deeds"]]
    again = len(after.get("chosen", ()))
    traits += [("waits", one["id"], len(one["marks"]), one["id"] == "choose" and again) for one in found["questions"]]
    traits += [("why", name, reason) for name, reason in found["reasons"].items()]
    before = vector["before"] or after
    traits.append(
        ("gap", after["seq"] - before["seq"], after["ply"] - before["ply"] if after["game"] == before["game"] else None)
    )
    swaps = bool(after.get("chosen")) and after["chosen"] != before.get("chosen")
    traits += [("coalesced", each["type"], each.get("why")) for each in after["news"] if "since" in after]
    for each in after["news"]:
        result, by = each.get("result") or {}, each.get("mark")
        kind = (each["type"], each.get("kind"), each.get("why"), result.get("reason"), len(after["news"]) > 1, swaps)
        if result.get("reason") == "forfeit":
            traits.append(("forfeit", result["winner"] is None, by == own))
        traits.append((*kind, own is None, by == own, len(after["seats"]) > 2, bool(after["rules"].get("opening"))))
    return traits


def play(chance: random.Random) -> list[RoomState]:
    """Return the states of a room with random commands."""
    rules, clock = chance.choice(GAMES), chance.choice(CLOCKS)
    people, now = PEOPLE[: len(rules.marks)], 1_000
    terms: dict[str, Any] = {
        "visibility": chance.choice(("public", "public", "private")),
        "chat": chance.choice(("all", "all", "players")),
        "reserved": {rules.marks[1]: replace(seat_of(people[1]), bot="easy")} if chance.random() < 0.2 else {},
    }
    room = open_room(
        "K7M4PQ", rules, people[0], now, seat=rules.marks[0], clock=clock, hold_ms=500, start_ms=3_000, **terms
    )
    return go_on(chance, room, people, people[1:], now)


def play_in_event(chance: random.Random) -> list[RoomState]:
    """Return the states of a room of an event whose players play or stay away."""
    rules, clock = chance.choice([rules for rules in GAMES if len(rules.marks) == 2]), chance.choice(CLOCKS[1:])
    people = PEOPLE[:2]
    room = open_in_event(rules, clock, people)
    return go_on(chance, room, people, chance.choice((people, people, people[:1], ())), 1_000)


def open_in_event(rules: Rules, clock: ClockFields | None, people: tuple[Player, ...]) -> Room:
    """Return a room of an event for these players."""
    reserved = {mark: replace(seat_of(one), online=False) for mark, one in zip(rules.marks, people, strict=True)}
    terms: dict[str, Any] = {"clock": clock, "reserved": reserved, "purpose": purpose_of("EV3NTS", "r3-2")}
    return open_room("K7M4PQ", rules, None, 1_000, hold_ms=500, start_ms=3_000, **terms)


def see(room: Room, now: int, before: Room, *, watchers: int = 0) -> RoomState:
    """Return the state of a room after the change from `before`."""
    return state_of(room, now, watchers=watchers, before=None if room is before else before)


def go_on_by_card() -> list[RoomState]:
    """Return the states of an event's game whose card is opened on another device, twice."""
    ana, bo, heir = *PEOPLE[:2], Player("p-heir", PEOPLE[1].name)
    room = open_in_event(PRESETS["classic"], CLOCKS[1], (ana, bo))
    seen = []
    for player, command in (
        *((ana, seating.enter), (bo, seating.enter), (bo, drop), (bo, partial(hand_over, heir=heir.id))),
        *((heir, seating.enter), (heir, partial(hand_over, heir=bo.id)), (bo, seating.enter)),
    ):
        was, room = room, carry_out(room, player, command, 1_000)
        seen.append(see(room, 1_000, was))
    return seen


def go_on(
    chance: random.Random, room: Room, people: tuple[Player, ...], entering: tuple[Player, ...], now: int
) -> list[RoomState]:
    """Return the states of an open room that these people enter."""
    seen = [see(room, now, room)]
    for player in entering:
        was, room = room, seating.enter(room, player, now)
        seen.append(see(room, now, was))
    for _ in range(chance.choice((10, 30, 60))):
        now += chance.choice((10, 10, 10, 10, 10, 10, 600, 3_000))
        after = room
        for player, command in choose(chance, room, people, now):
            try:
                after = carry_out(room, player, command, now)
            except Refused:
                continue
            if after is not room:
                break
        if after is not room:
            seen.append(see(after, now, room, watchers=chance.choice((0, 0, 1))))
            room = after
    return seen


def choose(chance: random.Random, room: Room, people: tuple[Player, ...], now: int) -> Iterator[tuple[Player, Action]]:
    """Yield random commands; the first legal one is applied."""
    if is_expired(room, now):
        yield NOBODY, time_out
    code, ply = room.code, room.position.ply
    mover = next((one for one in people if room.mark_of(one.id) == room.position.turn), people[0])
    somebody = chance.choice(people)
    action: Any = chance.choice(("offer", "accept", "decline"))
    legal, options = room.position.legal_cells, room.position.options
    rare: list[tuple[Player, Action]] = [
        (somebody, Draw(room=code, action=action)),
        (somebody, Undo(room=code, action=action)),
        (somebody, Undo(room=code, action="accept")),
        (somebody, Draw(room=code, action="decline")),
        (somebody, drop),
        (Player(somebody.id, chance.choice((somebody.name, "dee"))), seating.enter),
        (somebody, Claim(room=code, as_="win")),
        (somebody, Resign(room=code)),
        (somebody, Leave(room=code)),
    ]
    rematches: list[tuple[Player, Action]] = [(one, Rematch(room=code)) for one in people]
    open_to = next((kind for kind in (Draw, Undo) if getattr(room.offers, kind.__name__.lower())), None)
    if open_to is not None and chance.random() < 0.6:
        yield somebody, open_to(room=code, action=action)
    if room.gone_at and chance.random() < 0.4:
        yield somebody, Claim(room=code, as_=chance.choice(("win", "draw")))
    if room.result is not None and chance.random() < 0.8:
        yield from rematches
    if room.position.opening and chance.random() < 0.2:
        yield somebody, Draw(room=code, action="offer")
    if options and chance.random() < 0.6:
        yield mover, Choose(room=code, take=chance.choice(options), ply=ply)
    if legal and chance.random() < 0.55:
        yield mover, Move(room=code, cell=chance.choice(legal), ply=ply)
    yield chance.choice(rare[:6] if chance.random() < 0.85 else rare)


def make_tournaments() -> Iterator[dict[str, Any]]:
    """Yield the actions in tournaments of every kind and status, their tables, and the texts about them."""
    for kind in EVENT_KINDS:
        event = open_tournament(kind)
        for name in ("Ana", "Bo", "Cy"):
            event = enter(event, name)
            yield from tell_tournament(event)
        yield from tell_tournament(run_event(event, "close"))
        event = run_event(event, "begin")
        yield from tell_tournament(act(event, "", pair_next(event)))
        event = open_rooms(event)
        yield from tell_tournament(event)
        yield from tell_tournament(run_event(event, "pause"))
        yield from tell_tournament(act(event, "p-Ana", EventReady(event=event.code, on=False)))
        yield from tell_tournament(act(event, "p-Bo", EventLeave(event=event.code)))
        yield from tell_tournament(run_event(event, "expel", player="p-Cy"))
        first = event.open_pairings[0]
        yield from tell_tournament(run_event(event, "void", pairing=first.id))
        mark, player = next(iter(first.players.items()))
        yield from tell_tournament(run_event(event, "forfeit", pairing=first.id, player=player))
        drawn = act(event, "", Score(first.id, mark if kind == "knock_out" else "draw"))
        yield from tell_tournament(drawn)
        yield from tell_tournament(replace(drawn, due_at=None))
        yield from tell_tournament(run_event(drawn, "close"))


def make_notes() -> Iterator[dict[str, Any]]:
    """Yield tournaments with notes below the table, and one with more running games than are listed singly."""
    for level in (False, True):
        event = enter_all(open_tournament("round_robin"), ("Ana", "Bo", "Cy"))
        while not event.is_over:
            event = open_rooms(event)
            for one in event.open_pairings:
                event = act(event, "", Score(one.id, "draw" if level or one.round == 1 else "X"))
        yield from tell_tournament(event)
    event = enter_all(open_tournament("swiss", ("Ana", "Bo", "Cy", "Dan")), ("Ana", "Bo", "Cy"))
    yield from tell_tournament(open_rooms(event))
    yield from tell_tournament(replace(open_rooms(event), round=2))
    crowd = [f"P{number}" for number in range(10)]
    for players in (8, 10):  # of four games the player on turn is named, of five only the number
        event = open_rooms(enter_all(open_tournament("round_robin"), crowd[:players]))
        yield from tell_tournament(event, ("p-P0", "p-P3"))
    yield from tell_tournament(event, [f"p-{name}" for name in crowd])
    yield from tell_tournament(act(event, "", Deserted()), [f"p-{name}" for name in crowd])
    yield from tell_tournament(open_rooms(enter_all(open_tournament("knock_out"), crowd)))


def open_tournament(kind: Any, roster: tuple[str, ...] = ("Ana", "Bo", "Cy")) -> Event:
    """Return a new tournament, a Swiss by cards for this roster."""
    is_swiss = kind == "swiss"
    request = EventOpen(
        kind=kind,
        title="Friday",
        clock=ClockFields(initial_ms=60_000, increment_ms=0),
        entry="roster" if is_swiss else "open",
        roster=roster if is_swiss else (),
        late_until=1 if is_swiss else 0,
    )
    return open_event("EV3NTS", "p-org", request, PRESETS["classic"], now=0, seed=7, secret="secret")


def enter(event: Event, name: str) -> Event:
    """Return the tournament after a player has entered."""
    ticket = event.ticket_of(name) if event.entry == "roster" else ""
    return act(event, f"p-{name}", EnterEvent(name, ticket=ticket))


def enter_all(event: Event, names: Iterable[str]) -> Event:
    """Return the tournament after these players have entered, begun."""
    for name in names:
        event = enter(event, name)
    return run_event(event, "begin")


def open_rooms(event: Event) -> Event:
    """Return the tournament with its next round and that round's rooms."""
    event = act(replace(event, due_at=0), "", pair_next(event))
    event = act(event, "", RoomCodes({one.id: "K7M4PQ" for one in event.open_pairings}))
    for one in event.open_pairings:
        event = act(event, "", Opened(one.id))
    return event


def tell_tournament(event: Event, away: Iterable[str] = ("p-Bo",)) -> Iterator[dict[str, Any]]:
    """Yield how the organiser, a player and a watcher see a tournament with these players away."""
    due, gone = due_at(event), [] if event.is_over else [one for one in away if event.entrant(one)]
    games = [EventGame(3, "O", ClockState({"X": 62_000, "O": 9_000}, "O")), EventGame(0, "X")]
    playing = [one.id for one in event.open_pairings if one.state == "open"]
    attendance = Attendance(1, dict.fromkeys(gone, 75_000), dict(zip(playing, games, strict=False)))
    state = replace(with_attendance(state_of_event(event), attendance), due_ms=None if due is None else max(0, due - 1))
    for viewer, age_ms in (("p-org", 0), ("p-Ana", 0), ("p-Bo", 0), ("p-Cy", 2_000), ("", 2_000)):
        said = {}
        for language in LANGUAGES:
            speak(language)
            said[language] = [
                *(tournaments.describe_standing(state), tournaments.describe_own(state, viewer)),
                *(tournaments.describe_word("kind", kind) for kind in (*EVENT_KINDS, "newer")),
                *(tournaments.describe_score(one) for one in state.pairings),
                *(tournaments.describe_tie(*tie) for row in state.table for tie in row.tie),
                *(tournaments.describe_word("tie", tie[0]) for row in state.table for tie in row.tie),
                *(tournaments.describe_word("is", row.status) for row in state.table),
                *(tournaments.format_points(row.points) for row in state.table),
                *(describe_waiting(state, age_ms), ask_to_begin(state, age_ms)),
                *(describe_game(state, one, age_ms) for one in state.pairings),
                *list_notes(state),
                *name_rounds(len(state.bracket or ()), state.head.rounds),
            ]
        speak("en")
        yield {"state": msgspec.to_builtins(state), "viewer": viewer, "age_ms": age_ms, "said": said}


def act(event: Event, actor: str, command: Any) -> Event:
    """Return the event after a command."""
    return change_event(event, actor, command, 1)


def run_event(event: Event, action: Any, **more: str) -> Event:
    """Return the event after its organiser has done something."""
    return act(event, "p-org", EventRun(event=event.code, seq=event.seq, action=action, **more))


def make_ladders() -> Iterator[dict[str, Any]]:
    """Yield ladders, players, changes by games and challenges, and their texts for different viewers."""
    names = {"p-ana": "ana", "p-bo": "b\u200bo"}
    for figure in (0.0, 0.4, 62.6, 249.4):
        row = LadderRow(7, "p-ana", "a\u200bna", 1500 + figure, figure, 41, -figure)
        ladder = LadderState(
            "four",
            (row, replace(row, player="p-bo", trend=figure, place=None)),
            round(figure * 10),
            figure,
            figure / 250,
        )
        for told in (ladder, *(replace(ladder, closed=LadderClosing(why, 20, 200)) for why in (*CLOSINGS, "newer"))):
            yield from tell_ladders("ladder", told)
        changes = {"p-bo": RatingChange(1500, 1500 + figure, figure / 250), "p-ana": RatingChange(1500, 1, 0.075)}
        yield from tell_ladders("rated", Rated("K7M4PQ", 1, "four", changes), names)
        changes["p-ana"] = replace(changes["p-ana"], provisional=True)
        yield from tell_ladders("rated", Rated("K7M4PQ", 1, "four", changes), names)
    seats = {"X": SeatState("p-ana", "ana", online=True, bot=None), "O": None}
    summary = RoomSummary("K7M4PQ", "waiting", RulesState.of(PRESETS["four"]), None, seats, 0, 0, 1, rated=True)
    for room in (
        summary,
        replace(summary, host_rating=1623),
        replace(summary, host_rating=1500, host_provisional=True),
    ):
        yield from tell_ladders("room", room)
    standing = LadderStanding("four", 3, 1, 2, rating=1512.6, deviation=60.2, place=4)
    profile = PlayerProfile(
        "p-bo", "b\u200bo", (standing, LadderStanding("pie", 1, 0, 0, 1612.4, 201.0, provisional=True)), ()
    )
    yield from tell_ladders("profile", profile)
    usual: dict[str, Any] = {"rules": RulesState.of(PRESETS["connect-four"]), "clock": None, "expires_ms": 60_000}
    clock = ClockTerms(initial_ms=180_000, increment_ms=2_000)
    for challenge in (
        OpenChallenge(challenge="c", player="p-ana", name="ana", to="p-bo", **usual),
        OpenChallenge(challenge="c", player="p-ana", name="ana", to="p-bo", **usual | {"clock": clock}, rated=True),
        OpenChallenge(challenge="c", player="p-ana", name="ana", to="p-bo", **usual | {"clock": ClockTerms(days=1)}),
        OpenChallenge(
            challenge="c", player="p-ana", name="ana", to="p-bo", **usual | {"clock": ClockTerms(days=3, bank_days=2)}
        ),
        OpenChallenge(challenge="c", player="p-ana", name="a\u200bna", to="p-cy", **usual, side="O"),
    ):
        yield from tell_ladders("challenge", challenge, names)


def tell_ladders(kind: str, told: Any, names: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the texts about something of a ladder, for a player and for another viewer."""
    known = names or {}
    for viewer in ("p-ana", "p-bo"):
        said = {}
        for language in LANGUAGES:
            speak(language)
            match told:
                case LadderState():
                    said[language] = [*chain(*ladders.tabulate_ladder(told).values())]
                case Rated():
                    said[language] = ladders.describe_rated(told, known, viewer)
                case RoomSummary():
                    said[language] = describe_manners(told)
                case PlayerProfile():
                    said[language] = [*chain(*ladders.tabulate_standings(told).values())]
                case _:
                    other = known.get(told.to, "")
                    overs = [ChallengeOver("c", how, "K7M4PQ") for how in (*CHALLENGE_ENDS, "newer")]
                    ends = [ladders.describe_challenge_end(over, told, viewer, other) for over in overs]
                    said[language] = [ladders.describe_challenge(told, viewer, other), *ends]
        speak("en")
        yield {"kind": kind, "told": msgspec.to_builtins(told), "viewer": viewer, "names": known, "said": said}


def render_vectors() -> str:
    """Return the file: a line for each vector."""
    parts: dict[str, list[Any]] = {
        "vectors": make_vectors(),
        "tournaments": [*make_tournaments(), *make_notes()],
        "ladders": [*make_ladders()],
        "durations": [
            [ms, format_duration(ms)] for ms in (0, 61_000, 86_399_999, 86_400_000, 187_199_999, 187_200_000)
        ],
    }
    told = []
    for name, vectors in parts.items():
        rows = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in vectors)
        told.append(f'"{name}": [\n{rows}\n]')
    return "{" + ",\n".join(told) + "}\n"


def main() -> None:
    """Write the vectors."""
    PATH.write_text(render_vectors(), encoding="utf-8", newline="\n")
    print(PATH)


if __name__ == "__main__":
    main()
