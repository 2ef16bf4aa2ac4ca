"""The promises made to each user, and every invariant that the server's messages must keep. No I/O.

People report what they ask and receive. The first contradiction raises `Violation`, which ends the run.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tictactoe_protocol.guests import owner_of

Message = dict[str, Any]

ROUNDING_MS: Final = 60  # a clock is rounded, and read once for a turn of the event loop
CLUSTER_MS: Final = 1_000  # so far the times of two servers may be apart
FIRST_MOVE_SECONDS: Final = 28.6  # 30 s, less the longest time a disk may refuse everything before time stops
HOLD_SECONDS: Final = 20.0
NOTICED_SECONDS: Final = 35.0  # to notice a lost connection or the end of a clock, and to store it in trouble
KEPT_SECONDS: Final = 590.0  # a room whose game is over is kept for ten minutes without its players
STORY_LINES: Final = 40

_UNSTORED: Final = ("type", "watchers", "clock", "may", "news", "since")  # may differ for the same `seq`


class Violation(Exception):
    """A broken promise."""


class ServedTime:
    """How long the server served between two moments: neither while it was down nor while its disk was silent.

    Its time may also have stood still while the disk refused everything, or was silent as the machine was paused.
    """

    def __init__(self) -> None:
        self.commits: list[float] = []  # when each durable commit was done
        self._certain, self._doubtful = [(0.0, math.inf)], list[tuple[float, float]]()
        self._began_at = 0.0

    def begin(self, now: float) -> None:
        self._began_at = now
        self.end_gap(now)

    def end(self, now: float) -> None:
        self.begin_gap(now, is_certain=True)

    def begin_gap(self, now: float, end: float = math.inf, *, is_certain: bool) -> None:
        """Note that the time stands still from now on, or perhaps does, unless the server is down."""
        if math.inf not in self._certain[-1]:
            (self._certain if is_certain else self._doubtful).append((now, end))

    def end_gap(self, now: float) -> None:
        for gaps in (self._certain, self._doubtful):
            gaps[:] = [(start, min(end, now)) for start, end in gaps]

    def first_commit_after(self, moment: float) -> float:
        """Return when the first commit after a moment was done, or the moment without a disk or in an earlier life."""
        index = bisect_right(self.commits, moment)
        return self.commits[index] if index < len(self.commits) and self._began_at < moment else moment

    def since(self, start: float, end: float) -> float:
        """Return the least seconds served from `start` to `end` in this life of the server; a crash may lose more."""
        start = max(start, self._began_at)
        return self.between(start, end) - _overlap(start, end, self._doubtful)

    def between(self, start: float, end: float) -> float:
        return max(0.0, end - start - _overlap(start, end, self._certain))


def _overlap(start: float, end: float, intervals: Iterable[tuple[float, float]]) -> float:
    return sum(max(0.0, min(end, last) - max(start, first)) for first, last in intervals)


@dataclass
class GameRecord:
    """The facts known about a game of a room.

    Attributes:
        takebacks: How often a takeback was offered or accepted.
        giving_up, drawing, rematch: Who asked to resign, leave or claim; for a draw; for the next game.
        offers: The draws and takebacks that were offered: kind, player and ply.
        moves: The acknowledged moves: cells by ply.
        sent_at: When the move was sent, by ply.
        clocks, seen_at, first_seq: The first `remaining_ms` that were seen, when, and with which `seq`, by ply.
    """

    began_at: float
    takebacks: int = 0
    giving_up: set[str] = field(default_factory=set)
    drawing: set[str] = field(default_factory=set)
    rematch: set[str] = field(default_factory=set)
    offers: set[tuple[str, str, int]] = field(default_factory=set)
    moves: dict[int, int] = field(default_factory=dict)
    sent_at: dict[int, float] = field(default_factory=dict)
    clocks: dict[int, dict[str, int]] = field(default_factory=dict)
    seen_at: dict[int, float] = field(default_factory=dict)
    first_seq: dict[int, int] = field(default_factory=dict)
    end: Message | None = None
    asked_at: float | None = None


@dataclass
class RoomRecord:
    """The facts known about a room; players are known by their ids.

    Attributes:
        states: The stored part of each state, by `seq`.
        newest_seqs: The largest `seq` that each life of the server has shown.
        away_since, last_away: When each disconnected player, or each who came back, was last connected.
        tried_at: When each player last lost a connection, or failed to connect.
        newest, newest_at: The largest `seq`, and when it was first seen.
    """

    states: dict[int, Message] = field(default_factory=dict)
    newest_seqs: dict[int, int] = field(default_factory=dict)
    games: dict[int, GameRecord] = field(default_factory=dict)
    away_since: dict[str, float] = field(default_factory=dict)
    last_away: dict[str, float] = field(default_factory=dict)
    shown_away_since: dict[str, float] = field(default_factory=dict)
    asked_to_join: dict[str, float] = field(default_factory=dict)
    tried_at: dict[str, float] = field(default_factory=dict)
    chats: list[tuple[str, float]] = field(default_factory=list)
    was_left: bool = False
    newest: int = 0
    newest_at: float = 0.0

    def note_back(self, player: str) -> None:
        if player in self.away_since:
            self.last_away[player] = self.away_since.pop(player)


class Ledger:
    """All records of a run.

    Attributes:
        served: The served time of the one server; in a cluster all time since the start.
        is_cluster: Whether several servers share the rooms; their time also stands still while the store is away.
        slack_ms: How far a clock may be off.
        failures: The broken promises so far, each with its room or "".
    """

    def __init__(self, now: Callable[[], float], *, is_cluster: bool = False) -> None:
        self.now, self.is_cluster = now, is_cluster
        self.served = ServedTime()
        self.slack_ms = CLUSTER_MS if is_cluster else ROUNDING_MS
        self.rooms: dict[str, RoomRecord] = defaultdict(RoomRecord)
        self.counts: Counter[str] = Counter()
        self.failures: list[tuple[str, str]] = []
        self._story: list[tuple[float, str, str]] = []

    def tell(self, text: str, room: str = "") -> None:
        """Add a line to the story of a room, or to all stories."""
        self._story.append((self.now(), room, text))

    def story_of(self, room: str) -> Iterable[str]:
        """Yield the last lines about a room and about all rooms; the last of all lines for room ""."""
        lines = [line for line in self._story if line[1] in ("", room) or not room]
        for at, _, text in lines[-STORY_LINES:]:
            yield f"{at:10.3f} s  {text}"

    def fail(self, found: str, room: str = "") -> None:
        self.failures.append((found, room))
        raise Violation(found)

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def note_request(self, player: str, request: Message, state: Message | None) -> None:
        """Note a request that is about to be sent, and the newest state that its sender knows."""
        code, kind = request.get("room"), request["type"]
        if code is not None and kind == "join":
            self.rooms[code].asked_to_join[player] = self.now()
        if code is None or (state is None and "game" not in request):
            return
        game = self.game(code, request.get("game") or (state or request)["game"])
        actor, is_wish = request.get("player", player), request.get("action") != "decline"
        if kind == "move":
            game.sent_at.setdefault(request["ply"], self.now())
        elif kind in ("resign", "leave", "claim"):
            game.giving_up.add(actor)
            if kind == "leave":
                self.rooms[code].away_since.setdefault(player, self.now())
        elif kind == "draw" and is_wish:
            game.drawing.add(actor)
        elif kind == "undo" and is_wish:
            game.takebacks += 1
        elif kind == "rematch":
            game.asked_at = game.asked_at if actor in game.rematch else self.now()
            game.rematch.add(actor)

    def note_accepted(self, request: Message, number: int) -> None:
        self.count(f"ok {request['type']}")
        if request["type"] == "move":
            self.game(request["room"], number).moves.setdefault(request["ply"], request["cell"])

    def check_state(self, viewer: str, life: int, newest_before: int, state: Message) -> None:
        """Check a state from a life of the server, 0 in a cluster, whose viewer saw `newest_before` before."""
        self.count("states")
        code, seq, number = state["room"], state["seq"], state["game"]
        room = self.rooms[code]
        if seq < newest_before:
            self.fail(f"{viewer} received seq {seq} after seq {newest_before}.", code)
        earlier = max((newest for other, newest in room.newest_seqs.items() if other < life), default=0)
        if seq < earlier:
            self.fail(f"{viewer} received seq {seq}, but seq {earlier} was shown before the server died.", code)
        room.newest_seqs[life] = max(seq, room.newest_seqs.get(life, 0))
        if seq > room.newest:
            room.newest, room.newest_at = seq, self.now()
            away = [seat["player"] for seat in state["seats"].values() if seat and not seat["online"]]
            room.shown_away_since = {id: room.shown_away_since.get(id, self.now()) for id in away}
        stored = {key: value for key, value in state.items() if key not in _UNSTORED}
        stored["seats"] = {mark: seat and {**seat, "hold_ms": None} for mark, seat in state["seats"].items()}
        known = room.states.setdefault(seq, stored)
        if known is stored:
            self.tell(describe(state), code)
        elif known != stored:
            differing = {key: (known.get(key), stored.get(key)) for key in stored if known.get(key) != stored.get(key)}
            self.fail(f"Seq {seq} means two things; {viewer} received the second of {differing}.", code)
        if number > 1 and number not in room.games:
            self._check_rematch(room.games.get(number - 1), self.game(code, number), state)
        game = self.game(code, number)
        game.first_seq.setdefault(state["ply"], seq)
        self._check_board(game, state)
        if known is stored and seq - 1 in room.states:
            self._check_step(game, room.states[seq - 1], state)
        self._check_guests(state)
        if "event" not in state:  # where time may stand still until the players are back
            self._check_holds(room, state)
            if state["clock"] is not None:
                self._check_clock(game, state)
        if state["result"] is not None and game.end is None:
            self._check_result(room, game, state)
        elif game.end is not None and state["result"] not in (None, game.end["result"]):
            self.fail(f"Game {number} ended with {game.end['result']} and with {state['result']}.", code)

    def _check_rematch(self, before: GameRecord | None, game: GameRecord, state: Message) -> None:
        if before is not None and before.asked_at is not None:
            game.began_at = before.asked_at  # it may have begun before it was first seen
        for seat in filter(None, state["seats"].values()):
            has_asked = before is not None and seat["player"] in before.rematch
            if not (has_asked or seat["bot"] or seat.get("left")):
                self.fail(f"Game {state['game']} began, but {seat['name']} never asked for a rematch.", state["room"])

    def _check_board(self, game: GameRecord, state: Message) -> None:
        code, board, ply = state["room"], state["board"], state["ply"]
        for number, cell in {} if game.takebacks else game.moves.items():
            is_late = number >= ply and state["seq"] > game.first_seq.get(number + 1, 1 << 60)
            if is_late or (number < ply and board[cell] == "."):
                self.fail(f"Acknowledged move {number} at cell {cell} is gone from game {state['game']}.", code)

    def _check_step(self, game: GameRecord, before: Message, state: Message) -> None:
        code, ply, step = state["room"], state["ply"], state["ply"] - before["ply"]
        if state["game"] != before["game"]:
            if state["game"] != before["game"] + 1 or before["result"] is None:
                self.fail(f"Game {state['game']} followed game {before['game']}, {before['status']}.", code)
            return
        changed = sum(cell != other for cell, other in zip(state["board"], before["board"], strict=True))
        if not -2 <= step <= 1 or changed != abs(step):
            self.fail(f"One change led from {before['ply']} moves, {before['board']}, to {state['board']}.", code)
        if step < 0:
            game.offers.clear()
        for kind in ("draw", "undo"):
            if (mark := state["offers"][kind]) is not None and before["offers"][kind] is None:
                offer = kind, state["seats"][mark]["player"], ply
                if offer in game.offers:
                    self.fail(f"{mark} has offered a second {kind} after move {ply} of game {state['game']}.", code)
                game.offers.add(offer)

    def _check_guests(self, state: Message) -> None:
        """Check that guests are online together with the player whose connection they use."""
        shown = {(owner_of(seat["player"]), seat["online"]) for seat in state["seats"].values() if seat}
        if len({owner for owner, _ in shown}) < len(shown):
            self.fail(f"A player and guests are not online together: {state['seats']}.", state["room"])

    def _check_holds(self, room: RoomRecord, state: Message) -> None:
        for seat in filter(None, state["seats"].values()):
            player, left = owner_of(seat["player"]), seat.get("hold_ms")
            if not left or room.was_left or self.is_cluster or player not in room.away_since:
                continue
            seconds = self.served.since(room.tried_at.get(player, math.inf), self.now())
            if seconds > HOLD_SECONDS + NOTICED_SECONDS:
                found = f"The seat of {seat['name']}, away for {seconds:.1f} s, is held {left} ms more."
                self.fail(found, state["room"])

    def _check_clock(self, game: GameRecord, state: Message) -> None:
        code, ply, now, control = state["room"], state["ply"], self.now(), state["time_control"] or {}
        shown, turn = state["clock"]["remaining_ms"], state["clock"]["running"]
        has_opening, is_for_two = "opening" in state["rules"], len(state["seats"]) == 2
        if ply in game.clocks:
            seconds = self.served.since(game.seen_at[ply], now) - NOTICED_SECONDS
            is_plain = is_for_two and not (game.takebacks or has_opening or self.is_cluster)
            if is_plain and turn is not None and 1000 * seconds > game.clocks[ply][turn]:
                self.fail(f"{turn} is to move after {seconds:.1f} s, with {game.clocks[ply]} left.", code)
            return
        game.clocks[ply], game.seen_at[ply] = dict(shown), now
        full = control.get("move_ms") or control.get("initial_ms")
        if ply < 2 and not has_opening and set(shown.values()) != {full}:
            self.fail(f"Before all have moved, the clocks of {full} ms show {shown}.", code)
        before, is_running = game.clocks.get(ply - 2), state["turn"] is not None and state["result"] is None
        if before is None or ply < 4 or game.takebacks or has_opening or "increment_ms" not in control:
            return
        if not is_for_two or not is_running or ply - 2 not in game.sent_at:
            return
        mover = next(mark for mark in state["seats"] if mark != state["turn"])
        charged = before[mover] + control["increment_ms"] - shown[mover]
        began_at = self.served.first_commit_after(game.sent_at[ply - 2])
        most = 1000 * self.served.between(began_at, now) + self.slack_ms
        if not -1 <= charged <= most:
            self.fail(f"{mover} was charged {charged} ms for move {ply - 1}, but served were {most:.0f} ms.", code)

    def _check_result(self, room: RoomRecord, game: GameRecord, state: Message) -> None:
        code, number, result, now = state["room"], state["game"], state["result"], self.now()
        game.end = state
        losers = [mark for mark in state["seats"] if mark != result["winner"]]
        reason, loser, is_event = result["reason"], losers[0] if len(losers) == 1 else None, "event" in state
        is_out_of_time = state["clock"] is not None and 0 in state["clock"]["remaining_ms"].values()
        self.count(f"end {reason}")
        if reason == "timeout" and loser is not None:
            self._check_timeout(game, loser, state)
        elif reason == "aborted" and not (game.giving_up or room.was_left or is_out_of_time):
            seconds = self.served.between(game.began_at, now)
            if seconds < FIRST_MOVE_SECONDS and game.began_at < now:
                self.fail(f"Game {number} was aborted after {seconds:.1f} s.", code)
        elif reason in ("resigned", "claimed") and not (is_event or _asked_for_end(game, loser, state)):
            self.fail(f"Game {number} ended with {result}, but not because of {game.giving_up}.", code)
        elif reason == "agreed" and len(game.drawing) < 2 and not any(seat["bot"] for seat in state["seats"].values()):
            self.fail(f"Game {number} ended as agreed, but only {game.drawing} wanted a draw.", code)
        if reason == "claimed" and loser is not None and not is_event:
            self._check_claim(room, state["seats"][loser], state)
        results = [other.end["result"] for other in room.games.values() if other.end is not None]
        ended = sum(bool(one["winner"]) or one["reason"] not in ("aborted", "forfeit") for one in results)
        if not ended <= sum(state["score"].values()) <= ended + number - len(results):
            self.fail(f"The score is {state['score']} after {ended} games that count, in game {number}.", code)

    def _check_timeout(self, game: GameRecord, loser: str, state: Message) -> None:
        code, before, left = state["room"], state["ply"] - 1, state["clock"]["remaining_ms"][loser]
        if left:
            self.fail(f"{loser} lost on time with {left} ms left.", code)
        if game.takebacks or before not in game.sent_at or "opening" in state["rules"]:
            return
        had, seconds = game.clocks.get(before, {}).get(loser), self.served.between(game.sent_at[before], self.now())
        if had is not None and 1000 * seconds + self.slack_ms < had:
            self.fail(f"{loser} lost game {state['game']} on time after {seconds:.3f} s, with {had} ms left.", code)

    def _check_claim(self, room: RoomRecord, seat: Message, state: Message) -> None:
        player, shown_at = owner_of(seat["player"]), room.shown_away_since.get(seat["player"])
        noticed = room.away_since.get(player) or room.last_away.get(player), shown_at
        seconds = self.served.between(min(filter(None, noticed), default=math.inf), self.now())
        if seconds < HOLD_SECONDS - self.slack_ms / 1000:
            self.fail(f"Game {state['game']} was claimed from {player} after {seconds:.1f} s away.", state["room"])

    def check_history(self, code: str, player: str, listed: list[Message]) -> None:
        """Check the history that a player got: it has each finished game of a room, and no aborted one."""
        for number, game in self.rooms[code].games.items():
            if game.end is None or all(seat["player"] != player for seat in game.end["seats"].values() if seat):
                continue
            rows = [(row["result"], row["moves"]) for row in listed if (row["room"], row["game"]) == (code, number)]
            result, moves = game.end["result"], game.end["ply"]
            expected = [] if result["reason"] == "aborted" else [(result, moves)]
            if rows != expected:
                self.fail(f"Game {number} ended with {expected}, but the history of {player} lists {rows}.", code)

    def is_closed(self, code: str) -> bool:
        """Return whether a finished room may be gone: all its players have been away for ten minutes."""
        away_since = self.rooms[code].away_since.values()
        return self.now() - max(away_since, default=self.now()) > KEPT_SECONDS

    def game(self, code: str, number: int) -> GameRecord:
        """Return the record of a game, which begins now if it is new."""
        return self.rooms[code].games.setdefault(number, GameRecord(self.now()))


def describe(state: Message) -> str:
    shown = {key: state[key] for key in ("game", "status", "board", "turn", "clock", "offers", "result")}
    shown["online"] = [mark for mark, seat in state["seats"].items() if seat and seat["online"]]
    return f"state {state['seq']}: " + ", ".join(f"{key} {value}" for key, value in shown.items())


def _asked_for_end(game: GameRecord, loser: str | None, state: Message) -> bool:
    """Return whether the loser of a game for two asked to resign or leave, or its winner to claim."""
    is_claimed = state["result"]["reason"] == "claimed"
    if loser is None:
        return bool(game.giving_up)
    (actor,) = (seat for mark, seat in state["seats"].items() if (mark == loser) is not is_claimed)
    return bool(game.giving_up & {actor["player"], owner_of(actor["player"])})
