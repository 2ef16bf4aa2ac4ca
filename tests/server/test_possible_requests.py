"""Random games: `may` names exactly the requests that are accepted, and `news` leads from each state to the next."""

import json
import random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.limits import uncounted
from tests.peer import two_playing
from tests.server.tables import ANA, BO, CODE, CY, DI, START
from tictactoe_engine import Rules
from tictactoe_protocol import encode
from tictactoe_protocol.guests import guest_id
from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.features.ratings.folding import RATED
from tictactoe_server.features.tournaments.running import purpose_of
from tictactoe_server.rooms.play import Command, Expire, PlayerCommand, apply
from tictactoe_server.rooms.room import NOBODY, Player, Purpose, Refused, Room, is_expired
from tictactoe_server.rooms.seating import Dropped, Enter, open_room, seat_of
from tictactoe_server.rooms.view import StateEncoder, state_of
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

RULES = (
    Rules(),
    Rules(rows=2, columns=2, line=2),
    Rules(rows=6, columns=7, line=4, gravity=True),
    Rules(rows=3, columns=3, line=3, misere=True, blocked=frozenset({4})),
    Rules(rows=3, columns=3, line=3, marks="XOA"),
    Rules(rows=4, columns=4, line=4, marks="XOAB"),
    Rules(rows=5, columns=5, line=4, opening="pie"),
    Rules(rows=5, columns=5, line=4, exact=True, opening="swap2"),
    Rules(rows=15, columns=15, line=5, opening="swap2"),
)
CLOCKS = (None, None, ClockFields(initial_ms=60_000, increment_ms=0), ClockFields(move_ms=30_000))
PURPOSES = (Purpose(), Purpose(), purpose_of("EV3NTS", "r1-1"), RATED)
HOLD_MS = 2_000
GUEST = Player(guest_id(ANA.id, 0), "guest")
NAMES = {"resign abort": "resign", "leave abort": "leave", "leave lose": "leave"}


class Played:
    """A room that is played in at random.

    Attributes:
        told: What a client knows from the first state and the `news` of all later ones.
    """

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.now = START
        rules, clock, purpose = RULES[seed % len(RULES)], chance.choice(CLOCKS), chance.choice(PURPOSES)
        terms: dict[str, Any] = {"clock": clock, "hold_ms": HOLD_MS}
        if purpose.terms.is_organised and clock is not None and len(rules.marks) == 2:
            reserved = {mark: replace(seat_of(one), online=False) for mark, one in zip("XO", (ANA, BO), strict=True)}
            self.room = open_room(CODE, rules, None, self.now, reserved=reserved, purpose=purpose, **terms)
        else:
            terms["guests"] = (GUEST,) if chance.random() < 0.2 else ()
            terms["purpose"] = Purpose() if purpose.terms.is_organised or len(rules.marks) > 2 else purpose
            self.room = open_room(CODE, rules, ANA, self.now, **terms)
        self.encoder = StateEncoder(self.room)
        self.told = _facts_of(self.state())

    def state(self, before: Room | None = None) -> dict[str, Any]:
        encoded = self.encoder.encode(self.room, self.now, 0, before)
        assert encoded == encode(state_of(self.room, self.now, watchers=0, before=before))
        state: dict[str, Any] = json.loads(encoded)
        return state

    def requests(self, mark: str) -> dict[str, PlayerCommand]:
        """Return a request for each name that `may` could contain."""
        ply, position = self.room.position.ply, self.room.position
        cells, options = position.legal_cells or range(len(position.board)), position.options or ("more", mark)
        return {
            "move": Move(room=CODE, cell=self.chance.choice(cells), ply=ply),
            "choose": Choose(room=CODE, take=self.chance.choice(options), ply=ply),
            "resign": Resign(room=CODE),
            **{f"draw {action}": Draw(room=CODE, action=action) for action in ("accept", "decline", "offer")},
            **{f"undo {action}": Undo(room=CODE, action=action) for action in ("accept", "decline", "offer")},
            "claim win": Claim(room=CODE, as_="win"),
            "claim draw": Claim(room=CODE, as_="draw"),
            "rematch": Rematch(room=CODE),
            "leave": Leave(room=CODE),
        }

    def check_may(self) -> list[tuple[Player, PlayerCommand]]:
        """Check `may` against what the room accepts, and return the accepted requests."""
        room, may = self.room, self.state()["may"]
        assert list(may) == list(room.seats)
        accepted = []
        for mark, seat in room.seats.items():
            if seat is None:
                assert may[mark] == []
                continue
            player = Player(seat.player, seat.name)
            listed = {NAMES.get(name, name): name for name in may[mark]}
            for name, request in self.requests(mark).items():
                try:
                    after = apply(room, player, request, self.now)
                except Refused:
                    after = room
                assert (after is not room) == (name in listed), (name, may)
                if after is not room:
                    accepted.append((player, request))
                    cost = _cost(room, after, seat.player) if name in ("resign", "leave") else ""
                    assert cost == listed[name].removeprefix(name).strip(), (name, may)
        return accepted

    def apply(self, player: Player, command: Command) -> None:
        before = self.room
        try:
            self.room = apply(before, player, command, self.now)
        except Refused:
            return
        if self.room is not before:
            assert self.room.seq == before.seq + 1
            state = self.state(before)
            _replay(self.told, state["news"])
            assert self.told | {"out": sorted(self.told["out"]), "swapped": None} == _facts_of(state), state["news"]

    def play(self, steps: int) -> None:
        people = [ANA, BO, CY, DI][: len(self.room.seats)]
        for person in people[1:]:
            self.apply(person, Enter())
        for _ in range(steps):
            accepted = self.check_may()
            self.now += self.chance.choice((0, 5, HOLD_MS // 2, HOLD_MS))
            while is_expired(self.room, self.now):
                self.apply(NOBODY, Expire())
            kind = self.chance.random()
            if kind < 0.15 or not accepted:
                command = self.chance.choice((Dropped(), Enter(), Enter()))
                self.apply(Player(self.chance.choice(people).id, self.chance.choice(("ana", "bo", "eve"))), command)
            else:
                final = (Resign, Leave, Claim)
                common = [one for one in accepted if not isinstance(one[1], final) or self.chance.random() < 0.1]
                self.apply(*self.chance.choice(common or accepted))


def _cost(room: Room, after: Room, player: str) -> str:
    """Return what a request cost the player and the player's guests: ``abort``, ``lose`` or nothing."""
    if room.status != "playing" or after.position.ply != room.position.ply:
        return ""
    if after.result is not None and after.result.reason == "aborted":
        return "abort"
    marks = [mark for mark in room.marks_of(player) if mark in room.position.active_marks]
    has_left = any(after.seat(mark).left for mark in marks)
    return "lose" if has_left else ""


def _facts_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a state that `news` tells."""
    offers = state["offers"]
    return {
        "game": state["game"] if state["status"] != "waiting" else 0,
        "moves": state["moves"],
        "stones": {cell: state["board"][cell] for cell in state["moves"]},
        "chosen": state.get("chosen", []),
        "seats": {
            mark: seat and [seat["name"], seat["online"], seat.get("left", False)]
            for mark, seat in state["seats"].items()
        },
        "out": sorted(mark for mark, seat in state["seats"].items() if seat and seat.get("out")),
        "swapped": None,
        "offers": {kind: offers[kind] for kind in ("draw", "undo")} | {"rematch": sorted(offers["rematch"])},
        "result": state["result"],
    }


def _replay(facts: dict[str, Any], news: list[dict[str, Any]]) -> None:
    """Change the facts as the events say."""
    for event in news:
        seats, offers, mark = facts["seats"], facts["offers"], event.get("mark")
        match event["type"]:
            case "began":
                if facts["game"]:
                    _begin_again(facts)
                facts["game"] = event["game"]
            case "moved":
                facts["moves"].append(event["cell"])
                facts["stones"][event["cell"]] = mark
            case "taken back":
                facts["moves"] = facts["moves"][: -len(event["cells"])]
                facts["stones"] = {cell: facts["stones"][cell] for cell in facts["moves"]}
                offers["undo"] = None
            case "chose":
                facts["chosen"].append(event["take"])
                if event["take"] not in ("more", mark):
                    facts["seats"] = dict(zip(seats, [*seats.values()][::-1], strict=True))
                    facts["swapped"] = True
                    offers["draw"] = offers["draw"] and next(other for other in seats if other != offers["draw"])
            case "out":
                facts["out"].append(mark)
            case "offered" if event["kind"] == "rematch":
                offers["rematch"] = sorted({*offers["rematch"], mark})
            case "lapsed" if event["kind"] == "rematch":
                offers["rematch"].remove(mark)
            case "offered":
                offers[event["kind"]] = mark
            case "declined" | "withdrawn" | "lapsed":
                offers[event["kind"]] = None
            case "joined":
                seats[mark] = [event["name"], True, False]
            case "renamed":
                assert seats[mark][0] == event["before"]
                seats[mark][0] = event["name"]
            case "back" | "dropped":
                seats[mark][1] = event["type"] == "back"
            case "left":
                seats[mark] = [event["name"], False, True] if facts["game"] else None
            case "ended":
                facts["result"] = event["result"]
                facts["offers"] = {"draw": None, "undo": None, "rematch": []}
                while len(seats) - len(facts["out"]) < 2:
                    facts["out"].pop()
            case unknown:
                raise AssertionError(unknown)


def _begin_again(facts: dict[str, Any]) -> None:
    """Begin the next game. Each player gets the next mark, unless a game was aborted or an opening swapped them."""
    seats = facts["seats"]
    if facts["result"]["reason"] != "aborted" and not facts["swapped"]:
        *others, last = seats.values()
        facts["seats"] = dict(zip(seats, (last, *others), strict=True))
    facts |= {"moves": [], "stones": {}, "chosen": [], "out": [], "swapped": None, "result": None}
    facts["offers"] = {"draw": None, "undo": None, "rematch": []}


@pytest.mark.parametrize("games", [36, pytest.param(2_000, marks=pytest.mark.long)])
def test_random_games_accept_exactly_what_may_says_and_news_lead_from_state_to_state(games: int) -> None:
    for seed in range(games):
        Played(seed).play(60)


async def test_a_state_at_the_end_of_a_hold_says_that_the_game_may_be_claimed() -> None:
    settings = Settings(host="127.0.0.1", port=0, hold_seconds=0.3)
    async with Server(settings, limits=uncounted()) as server, two_playing(server) as (ana, bo, room):
        await bo.socket.close()
        dropped = await ana.until(lambda message: [event["type"] for event in message.get("news", ())] == ["dropped"])
        assert "claim win" not in dropped["may"]["X"]
        claimable = await ana.until(lambda message: "claim win" in message.get("may", {}).get("X", ()))
        assert (claimable["seq"], claimable["seats"]["O"]["hold_ms"]) == (dropped["seq"], 0)
        assert (await ana.ask("claim", room=room, **{"as": "draw"}))["type"] == "ok"
