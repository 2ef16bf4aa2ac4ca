"""Random commands in games of two to four players: the announced moves are the moves, and missed ones are counted."""

import re
from itertools import pairwise
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from tests.server.tables import ANA, BO, CODE, CY, DI, START
from tictactoe_engine import Rules, parse_cell
from tictactoe_protocol.pushes import Happening, RoomState
from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_server.rooms.play import Command, apply
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.seating import Dropped, Enter, open_room
from tictactoe_server.rooms.view import news_of, state_of
from tictactoe_words.telling import announce, news_since
from tools.vectors import coalesce, has_new_seats, play

PEOPLE = (ANA, BO, CY, DI)
RULES = (
    Rules(),
    Rules(rows=2, columns=3, line=2, misere=True),
    Rules(rows=3, columns=4, line=3, gravity=True),
    Rules(rows=3, columns=3, line=3, marks="XOA"),
    Rules(rows=4, columns=4, line=4, marks="XOAB"),
)
COMMANDS: tuple[Command | None, ...] = (
    *(None,) * 20,  # a move by the player on turn
    *(Undo(room=CODE, action=action) for action in ("offer", "offer", "accept", "accept", "decline")),
    *(Undo(room=CODE, action=action) for action in ("offer", "accept", "offer", "accept")),
    *(Draw(room=CODE, action=action) for action in ("offer", "decline", "accept")),
    *(Rematch(room=CODE),) * 6,
    Resign(room=CODE),
    Claim(room=CODE, as_="win"),
    Dropped(),
    Enter(),
    Enter(),
)
MOVE = re.compile(r"(\S+) plays? ([A-Z]\d+)")
BACK = re.compile(r"(?:The last (\d+) moves|(.+)) (?:is|are) taken back|\S+ takes? back (.+)\.")
CELL = re.compile(r"[A-Z]+\d+")
LATER = re.compile(r" Waiting for them: \d:\d\d\.$|(?<=left the )(game|room)\.$|(?<= is )(here|back)\.$")
"""What depends on the newest state: how long a seat is held, and whether the game has begun or is over."""
GAME = re.compile(r"Game (\d+)\. ")


class Listener:
    """A listener who reconstructs the current game from the announcements."""

    def __init__(self, viewer: str) -> None:
        self.viewer = viewer
        self.state: RoomState | None = None
        self.moves: list[tuple[str, int]] = []
        self.heard: list[str] = []

    def see(self, state: RoomState) -> None:
        old, self.state = self.state, state
        moves = [(state.board[cell], cell) for cell in state.moves]
        if old is None:
            self.moves = moves
            return
        self.heard = announce(news_since(old, state), state, self.viewer)
        if state.seq == old.seq + 1:
            for line in self.heard:
                self.write_down(line, state)
            return
        missed = state.ply - (old.ply if state.game == old.game else 0)
        told = {1: "You missed a move"}.get(missed, f"You missed {missed} moves")
        assert any(line.startswith((f"{told}.", f"{told}: ")) for line in self.heard) == (missed > 0)
        self.moves = moves

    def write_down(self, line: str, state: RoomState) -> None:
        if GAME.match(line):
            self.moves = []
        elif taken := BACK.match(line):
            named = [parse_cell(name, state.rules.to_rules()) for name in CELL.findall(taken[2] or taken[3] or "")]
            count = int(taken[1] or len(named))
            assert not named or named == [cell for _, cell in self.moves[-count:]]
            del self.moves[-count:]
        elif played := MOVE.match(line):
            who, cell = played[1], parse_cell(played[2], state.rules.to_rules())
            seats = {seat.name: mark for mark, seat in state.seats.items() if seat}
            own = next((mark for mark, seat in state.seats.items() if seat and seat.player == self.viewer), "")
            self.moves.append((own if who == "You" else seats[who], cell))


def audible(state: RoomState) -> object:
    """Return the part of a state that announcements cover: neither time nor watchers nor `seq`."""
    seats = {mark: seat and replace(seat, hold_ms=0) for mark, seat in state.seats.items()}
    return (state.game, state.board, state.status, state.result, replace(state.offers, ended=UNSET), seats)


def step(room: Room, command: Command | None, who: int, choice: int, now: int) -> Room:
    """Return the room after a move, or after the command by the first player who may give it."""
    if command is None:
        if room.status != "playing":
            return room
        seat, cells = room.seat(room.position.turn), room.position.legal_cells
        command = Move(room=CODE, cell=cells[choice % len(cells)], ply=room.position.ply)
        return apply(room, Player(seat.player, seat.name), command, now)
    count = len(room.seats)
    for player in (PEOPLE[(who + turn) % count] for turn in range(count)):
        try:
            after = apply(room, player, command, now)
        except Refused:
            continue
        if after is not room:
            return after
    return room


@given(st.integers(0, 2**32))
def test_watchers_hear_the_same_if_states_are_coalesced(seed: int) -> None:
    chance = Random(seed)
    states = play(chance)
    assume(not any(event.type == "renamed" for state in states for event in state.news))  # sentences have the new name
    first, heard, coalesced = 0, list[str](), list[str]()
    for number, (old, state) in enumerate(pairwise(states), 1):
        heard += announce(news_since(old, state), state, "")
        if state is states[-1] or has_new_seats(state, states[number + 1]) or chance.random() < 0.2:
            newest = coalesce(states[first : number + 1])
            coalesced += announce(news_since(states[first], newest), newest, "")
            first = number
    assert [LATER.sub("", line) for line in coalesced] == [LATER.sub("", line) for line in heard]


@given(st.integers(0, 2**32), st.sampled_from(RULES), st.sampled_from(["pwatcher", ANA.id, BO.id]))
def test_announcements_are_enough_to_follow_the_game(seed: int, rules: Rules, viewer: str) -> None:
    now = START
    room = open_room(CODE, rules, ANA, now, hold_ms=500)
    for player in PEOPLE[1 : len(rules.marks)]:
        room = apply(room, player, Enter(), now)
    listener = Listener(viewer)
    listener.see(state_of(room, now, watchers=0))
    chance = Random(seed)
    news: tuple[Happening, ...] = ()
    is_attentive = chance.random() < 0.3
    for _ in range(60):
        now, was = now + 100, room
        if chance.random() < 0.01:
            room = step(room, Leave(room=CODE), chance.randrange(4), 0, now)
        command, who, choice = chance.choice(COMMANDS), chance.randrange(4), chance.randrange(99)
        is_seen = is_attentive or chance.random() < 0.4
        before = listener.state
        room = step(room, command, who, choice, now)
        news = news if room is was else news_of(was, room)
        state = replace(state_of(room, now, watchers=0), news=news)
        if not is_seen or before is None or state.seq == before.seq:
            continue
        listener.see(state)
        assert listener.moves == [(room.position.board[cell], cell) for cell in room.position.moves]
        if viewer == "pwatcher" and state.seq == before.seq + 1 and audible(before) != audible(state):
            assert listener.heard, (before, state)
        assert len(listener.heard) == len(set(listener.heard))
