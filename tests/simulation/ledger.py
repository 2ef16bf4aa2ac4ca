"""The promises made to each user, and every invariant that the server's messages must keep. No I/O.

People report what they ask and what they receive. The first contradiction raises `Violation`, which ends the run; the
ledger then tells the story of that room.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

Message = dict[str, Any]

ROUNDING_MS: Final = 60
"""How far a clock may be off: it is rounded, and read once for a turn of the event loop."""
CLUSTER_MS: Final = 1_000
"""How far the times of two servers may be apart."""
FIRST_MOVE_SECONDS: Final = 28.6
"""The time for a first move, 30 s, less 1.4 s: the longest time a disk may refuse everything before time stops."""
HOLD_SECONDS: Final = 20.0
NOTICED_SECONDS: Final = 35.0
"""How late a lost connection or the end of a clock may be noticed, stored in trouble and seen."""
KEPT_SECONDS: Final = 590.0
"""A room whose game is over is kept for ten minutes without its players."""
STORY_LINES: Final = 40

_UNSTORED: Final = ("type", "watchers", "clock", "happened")
"""Fields of a state that may differ between two messages with the same `seq`."""


class Violation(Exception):
    """A broken promise."""


class ServedTime:
    """How long the server served between two moments: neither while it was down nor while its disk was silent.

    Its time may also have stood still while the disk refused everything, or was silent as the machine was paused.

    Attributes:
        commits: When each durable commit was done.
    """

    def __init__(self) -> None:
        self.commits: list[float] = []
        self._excluded: list[tuple[float, float]] = []
        self._doubtful: list[tuple[float, float]] = []
        self._began_at = 0.0
        self._down_since: float | None = 0.0
        self._refused_since: float | None = None

    def begin(self, now: float) -> None:
        self.note_refusal_over(now)
        if self._down_since is not None:
            self._excluded.append((self._down_since, now))
        self._began_at, self._down_since = now, None

    def end(self, now: float) -> None:
        self._down_since = now if self._down_since is None else self._down_since

    def note_refusal(self, now: float) -> None:
        """Note that the store refuses everything from now on."""
        self._refused_since = now

    def note_refusal_over(self, now: float) -> None:
        if self._refused_since is not None:
            self._doubtful.append((self._refused_since, now))
            self._refused_since = None

    def exclude(self, start: float, end: float, *, is_certain: bool) -> None:
        """Exclude an interval of this life of the server."""
        if self._down_since is None:
            (self._excluded if is_certain else self._doubtful).append((start, end))

    def first_commit_after(self, moment: float) -> float:
        """Return when the first commit after a moment was done, or the moment without a disk or in an earlier life."""
        index = bisect_right(self.commits, moment)
        return self.commits[index] if index < len(self.commits) and self._began_at < moment else moment

    def since(self, start: float, end: float) -> float:
        """Return the least seconds served from `start` to `end` in this life of the server; a crash may lose more."""
        start = max(start, self._began_at)
        return self.between(start, end) - _overlap(start, end, [*self._doubtful, (self._refused_since or end, end)])

    def between(self, start: float, end: float) -> float:
        """Return the seconds served from `start` to `end`."""
        excluded = [*self._excluded, (end if self._down_since is None else self._down_since, end)]
        return max(0.0, end - start - _overlap(start, end, excluded))


def _overlap(start: float, end: float, intervals: Iterable[tuple[float, float]]) -> float:
    return sum(max(0.0, min(end, last) - max(start, first)) for first, last in intervals)


@dataclass
class GameRecord:
    """What is known of one game of a room.

    Attributes:
        began_at: When the first state of the game was seen.
        takebacks: How often somebody offered or accepted a takeback.
        giving_up: The ids of the players who asked to resign, leave or claim.
        drawing: The ids of the players who offered or accepted a draw.
        offers: The draws and takebacks that were offered: kind, player and ply.
        moves: The acknowledged moves: cells by ply.
        sent_at: When the request for a ply was first sent.
        clocks, seen_at: The first `remaining_ms` seen at each ply, and when.
        result: The result that was first seen, with `ended_at`, `final_ply` and `players`, their ids.
        rematch: The ids of the players who asked for the next game, the last one for the first time at `asked_at`.
    """

    began_at: float
    takebacks: int = 0
    giving_up: set[str] = field(default_factory=set)
    drawing: set[str] = field(default_factory=set)
    offers: set[tuple[str, str, int]] = field(default_factory=set)
    moves: dict[int, int] = field(default_factory=dict)
    sent_at: dict[int, float] = field(default_factory=dict)
    clocks: dict[int, dict[str, int]] = field(default_factory=dict)
    seen_at: dict[int, float] = field(default_factory=dict)
    first_seq: dict[int, int] = field(default_factory=dict)
    result: Message | None = None
    ended_at: float = 0.0
    final_ply: int = 0
    players: set[str] = field(default_factory=set)
    rematch: set[str] = field(default_factory=set)
    asked_at: float | None = None


@dataclass
class RoomRecord:
    """What is known of a room.

    Attributes:
        states: The stored part of each state, by `seq`.
        newest_seqs: The largest `seq` that each life of the server has shown.
        away_since: When each disconnected player was last connected, by id.
        asked_to_join: When each player last asked to join, by id.
        shown_away_since: When each player that the newest state shows as away was first shown so, by id.
        last_away: The value that `away_since` had for each player who came back.
        tried_at: When each player last lost a connection, or failed to connect.
        still_at: When its clock was last seen standing still.
        was_left: Whether a player has asked to leave it for good.
        chats: The texts of acknowledged chats, and when they were acknowledged.
        newest, newest_at: The largest `seq`, and when it was first seen.
    """

    states: dict[int, Message] = field(default_factory=dict)
    newest_seqs: dict[int, int] = field(default_factory=dict)
    games: dict[int, GameRecord] = field(default_factory=dict)
    away_since: dict[str, float] = field(default_factory=dict)
    shown_away_since: dict[str, float] = field(default_factory=dict)
    asked_to_join: dict[str, float] = field(default_factory=dict)
    last_away: dict[str, float] = field(default_factory=dict)
    tried_at: dict[str, float] = field(default_factory=dict)
    chats: list[tuple[str, float]] = field(default_factory=list)
    still_at: float = 0.0
    was_left: bool = False
    newest: int = 0
    newest_at: float = 0.0

    def note_back(self, player: str) -> None:
        """Note that a player, and the guests at the same device, are connected again."""
        for id in [id for id in self.away_since if id.partition(".")[0] == player]:
            self.last_away[id] = self.away_since.pop(id)


class Ledger:
    """All records of a run.

    Attributes:
        served: The served time of the one server; in a cluster all time since the start.
        slack_ms: How far a clock may be off.
        counts: How often things happened, for the summary of a run.
        failures: The broken promises so far, each with its room or "".
        has_unseen_games: Whether bots play each other in an event.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.served = ServedTime()
        self.slack_ms = ROUNDING_MS
        self.rooms: dict[str, RoomRecord] = defaultdict(RoomRecord)
        self.counts: Counter[str] = Counter()
        self.failures: list[tuple[str, str]] = []
        self.has_unseen_games = False
        self._story: list[tuple[float, str, str]] = []

    # -- the story -------------------------------------------------------------------------------------------------

    @property
    def is_cluster(self) -> bool:
        """Whether several servers share the rooms, so that time also stands still while the store is away."""
        return self.slack_ms > ROUNDING_MS

    def tell(self, text: str, room: str = "") -> None:
        """Add a line to the story: to that of a room, or to everybody's."""
        self._story.append((self.now(), room, text))
        if len(self._story) > 20_000:
            del self._story[:10_000]

    def story_of(self, room: str) -> Iterable[str]:
        """Yield the last lines that concern a room, or everybody; all lines for room ""."""
        lines = [line for line in self._story if line[1] in ("", room) or not room]
        for at, _, text in lines[-STORY_LINES:]:
            yield f"{at:10.3f} s  {text}"

    def fail(self, found: str, room: str = "") -> None:
        """Note a broken promise, and end the run."""
        self.failures.append((found, room))
        raise Violation(found)

    def check_same(self, known: dict[str, Any], key: str, value: object, what: str) -> None:
        """Check that something is shown like the first time."""
        if known.setdefault(key, value) != value:
            self.fail(f"{what} {key} was shown with {known[key]}, and now with {value}.")

    def count(self, what: str, times: int = 1) -> None:
        self.counts[what] += times

    # -- what people ask -------------------------------------------------------------------------------------------

    def note_request(self, player: str, request: Message, state: Message | None) -> None:
        """Note a request that is about to be sent, and the newest state that its sender knows."""
        code = request.get("room")
        if code is not None and request["type"] == "join":
            self.rooms[code].asked_to_join[player] = self.now()
        if code is None or (state is None and "game" not in request):
            return
        room = self.rooms[code]
        number: int = request["game"] if state is None or "game" in request else state["game"]
        game = self.game(code, number)
        kind, action, actor = request["type"], request.get("action"), request.get("player", player)
        if kind == "move":
            game.sent_at.setdefault(request["ply"], self.now())
        elif kind in ("resign", "leave", "claim"):
            game.giving_up.add(actor)
            if kind == "leave":
                room.away_since.setdefault(player, self.now())
        elif kind == "draw" and action != "decline":
            game.drawing.add(actor)
        elif kind == "undo" and action != "decline":
            game.takebacks += 1
        elif kind == "rematch":
            if actor not in game.rematch:
                game.asked_at = self.now()
            game.rematch.add(actor)

    def note_accepted(self, request: Message, number: int) -> None:
        """Note that a request of a player in game `number` was answered with ok."""
        self.count(f"ok {request['type']}")
        if request["type"] == "move":
            game = self.game(request["room"], number)
            cell = game.moves.setdefault(request["ply"], request["cell"])
            if cell != request["cell"] and not game.takebacks:
                self.fail(
                    f"Move {request['ply']} of game {number} was acknowledged twice: at cell {cell} and at cell "
                    f"{request['cell']}.",
                    request["room"],
                )

    # -- what people see -------------------------------------------------------------------------------------------

    def check_state(self, viewer: str, life: int, newest_before: int, state: Message) -> None:
        """Check a state against all that is known.

        Args:
            viewer: Who received it.
            life: Which life of the server sent it; 0 where several servers share the rooms.
            newest_before: The largest `seq` of the room that came to the viewer before.
            state: The message.
        """
        self.count("states")
        code, seq = state["room"], state["seq"]
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
        stored = stored_part(state)
        known = room.states.setdefault(seq, stored)
        if known is stored:
            self.tell(describe(state), code)
        elif known != stored:
            differing = {key: (known.get(key), stored.get(key)) for key in stored if known.get(key) != stored.get(key)}
            self.fail(f"Seq {seq} means two things; {viewer} received the second of {differing}.", code)
        is_new_game = state["game"] not in room.games
        game = self.game(code, state["game"])
        if is_new_game and state["game"] > 1:
            self._check_rematch(code, room, state)
            if (before := room.games.get(state["game"] - 1)) is not None and before.asked_at is not None:
                game.began_at = before.asked_at  # it may have begun before anybody saw it
        game.first_seq.setdefault(state["ply"], seq)
        self._check_board(game, state)
        if known is stored and seq - 1 in room.states:
            self._check_step(game, room.states[seq - 1], state)
        self._check_guests(state)
        self._check_holds(code, room, state)
        if state["clock"] is not None:
            self._check_clock(game, state)
        if state["result"] is not None:
            self._check_result(room, game, state)

    def _check_board(self, game: GameRecord, state: Message) -> None:
        code, board, ply = state["room"], state["board"], state["ply"]
        if sum(cell not in ".#" for cell in board) != ply:
            self.fail(f"A state has {ply} moves and the board {board}.", code)
        if game.takebacks:
            return
        for number, cell in game.moves.items():
            if number < ply and board[cell] == ".":
                self.fail(f"Acknowledged move {number} at cell {cell} is gone from game {state['game']}.", code)
            if number >= ply and state["seq"] > game.first_seq.get(number + 1, 1 << 60):
                self.fail(f"Acknowledged move {number} at cell {cell} of game {state['game']} was taken back.", code)

    def _check_step(self, game: GameRecord, before: Message, state: Message) -> None:
        """Check what one change made of the state before."""
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
        shown = {(seat["player"].partition(".")[0], seat["online"]) for seat in state["seats"].values() if seat}
        if len({owner for owner, _ in shown}) < len(shown):
            self.fail(f"A player and guests are not online together: {state['seats']}.", state["room"])

    def _check_holds(self, code: str, room: RoomRecord, state: Message) -> None:
        if self.is_cluster:
            return
        for seat in filter(None, state["seats"].values()):
            since = room.tried_at.get(seat["player"])
            if since is not None and not room.was_left and seat["player"] in room.away_since and seat.get("hold_ms"):
                seconds, left = self.served.since(max(since, room.still_at), self.now()), seat["hold_ms"]
                if seconds > HOLD_SECONDS + NOTICED_SECONDS:
                    self.fail(f"The seat of {seat['name']}, away for {seconds:.1f} s, is held {left} ms more.", code)

    def note_standstill(self, code: str) -> None:
        """Note that the time of a room may have stood still until now."""
        self.rooms[code].still_at = now = self.now()
        for game in self.rooms[code].games.values():
            game.seen_at = dict.fromkeys(game.seen_at, now)

    def _check_clock(self, game: GameRecord, state: Message) -> None:
        ply, control, turn = state["ply"], state["time_control"] or {}, state["clock"]["running"]
        if turn is None:  # after a start, time stands still in a room of an event until its players are back
            self.rooms[state["room"]].still_at = game.seen_at[ply] = self.now()
        if ply in game.clocks:
            seconds = self.served.since(game.seen_at[ply], self.now()) - NOTICED_SECONDS
            is_plain = len(state["seats"]) == 2 and not game.takebacks and "opening" not in state["rules"]
            is_late = turn is not None and 1000 * seconds > game.clocks[ply][turn]
            if is_late and is_plain and not self.is_cluster:
                self.fail(f"{turn} is to move after {seconds:.1f} s, with {game.clocks[ply]} left.", state["room"])
            return
        game.clocks[ply], game.seen_at[ply] = dict(state["clock"]["remaining_ms"]), self.now()
        mover = _mark_before(state)
        before = game.clocks.get(ply - 2)
        is_plain = "increment_ms" in control and "opening" not in state["rules"]
        full = control.get("move_ms") or control.get("initial_ms")
        if ply < 2 and "opening" not in state["rules"] and set(game.clocks[ply].values()) != {full}:
            self.fail(f"Before all have moved, the clocks of {full} ms show {game.clocks[ply]}.", state["room"])
        if before is None or mover is None or ply < 4 or game.takebacks or not is_plain:
            return
        if ply - 2 not in game.sent_at or state["result"] is not None:
            return
        charged = before[mover] + control["increment_ms"] - game.clocks[ply][mover]
        began_at = self.served.first_commit_after(game.sent_at[ply - 2])
        most = 1000 * self.served.between(began_at, self.now()) + self.slack_ms
        self.count("turns timed")
        if not -1 <= charged <= most:
            self.fail(
                f"{mover} was charged {charged} ms for move {ply - 1} of game {state['game']}; "
                f"the server served at most {most:.0f} ms meanwhile.",
                state["room"],
            )

    def _check_result(self, room: RoomRecord, game: GameRecord, state: Message) -> None:
        code, number, result, now = state["room"], state["game"], state["result"], self.now()
        if game.result is not None:
            if game.result != result:
                self.fail(f"Game {number} ended with {game.result} and with {result}.", code)
            return
        game.result, game.final_ply, game.ended_at = result, state["ply"], now
        game.players = {seat["player"] for seat in state["seats"].values() if seat}
        reason = result["reason"]
        self.count(f"end {reason}")
        if reason == "timeout":
            self._check_timeout(game, state)
        elif reason == "aborted" and not (game.giving_up or room.was_left or _is_out_of_time(state)):
            seconds = self.served.between(game.began_at, now)
            if seconds < FIRST_MOVE_SECONDS and game.began_at < now:
                self.fail(f"Game {number} was aborted after {seconds:.1f} s.", code)
        elif reason in ("resigned", "claimed") and not _asked_for_end(game, state) and "event" not in state:
            self.fail(f"Game {number} ended with {result}, but not because of {game.giving_up}.", code)
        elif reason == "agreed" and len(game.drawing) < 2 and not any(seat["bot"] for seat in state["seats"].values()):
            self.fail(f"Game {number} ended as agreed, but only {game.drawing} wanted a draw.", code)
        if reason == "claimed" and len(state["seats"]) == 2 and result["winner"] is not None and "event" not in state:
            self._check_claim(room, state)
        results = [other.result for other in room.games.values() if other.result is not None]
        ended = sum(bool(one["winner"]) or one["reason"] not in ("aborted", "forfeit") for one in results)
        if not ended <= sum(state["score"].values()) <= ended + number - len(results):
            self.fail(f"The score is {state['score']} after {ended} games that count, in game {number}.", code)

    def _check_timeout(self, game: GameRecord, state: Message) -> None:
        ply, winner = state["ply"], state["result"]["winner"]
        losers = [mark for mark in state["seats"] if mark != winner]
        if len(losers) == 1 and state["clock"]["remaining_ms"][losers[0]]:
            self.fail(f"{losers[0]} lost on time with {state['clock']['remaining_ms']} ms left.", state["room"])
        if len(losers) != 1 or game.takebacks or ply - 1 not in game.sent_at or "opening" in state["rules"]:
            return
        had = game.clocks.get(ply - 1, {}).get(losers[0])
        seconds = self.served.between(game.sent_at[ply - 1], self.now())
        if had is not None and 1000 * seconds + self.slack_ms < had:
            self.fail(
                f"{losers[0]} lost game {state['game']} on time after {seconds:.3f} s, with {had} ms left.",
                state["room"],
            )

    def _check_claim(self, room: RoomRecord, state: Message) -> None:
        (loser,) = (mark for mark in state["seats"] if mark != state["result"]["winner"])
        player = state["seats"][loser]["player"]
        since = room.away_since.get(player) or room.last_away.get(player)
        since = min(filter(None, (since, room.shown_away_since.get(player))), default=None)
        if since is None:
            self.fail(f"Game {state['game']} was claimed from {loser}, who was never away.", state["room"])
        elif (seconds := self.served.between(since, self.now())) < HOLD_SECONDS - self.slack_ms / 1000:
            self.fail(f"Game {state['game']} was claimed after {seconds:.1f} s of the hold.", state["room"])

    def _check_rematch(self, code: str, room: RoomRecord, state: Message) -> None:
        before = room.games.get(state["game"] - 1)
        asked = set() if before is None else before.rematch
        missing = [
            seat["name"]
            for seat in state["seats"].values()
            if seat and not seat["bot"] and not seat.get("left") and seat["player"] not in asked
        ]
        if missing:
            self.fail(f"Game {state['game']} began, but {', '.join(missing)} never asked for a rematch.", code)

    # -- what is left at the end -----------------------------------------------------------------------------------

    def check_convergence(self, code: str, states: dict[str, Message]) -> None:
        """Check that everybody ends with the same state of a room."""
        (first, expected), *others = states.items()
        for viewer, state in others:
            if stored_part(state) != stored_part(expected):
                self.fail(f"{viewer} ends with {stored_part(state)}, {first} with {stored_part(expected)}.", code)

    def check_history(self, code: str, player: str, listed: list[Message], asked_at: float) -> None:
        """Check a player's history of a room: each finished game once, with its moves, and no aborted one.

        Args:
            code: The room.
            player: The id of the player who asked for the history.
            listed: Every game that the server listed.
            asked_at: When; all games that were seen to end before have to be there.
        """
        found = defaultdict(list)
        for row in listed:
            if row["room"] == code:
                found[row["game"]].append(row)
        for number, game in self.rooms[code].games.items():
            if game.result is None or player not in game.players:
                continue
            rows = found[number]
            is_kept = game.result["reason"] != "aborted"
            is_missing = is_kept and not rows and game.ended_at < asked_at
            if len(rows) > 1 or (rows and not is_kept) or is_missing:
                self.fail(
                    f"Game {number} ended with {game.result}; {player}'s history lists it {len(rows)} times.", code
                )
            if rows and (rows[0]["result"], rows[0]["moves"]) != (game.result, game.final_ply):
                self.fail(
                    f"Game {number} ended with {game.result} after {game.final_ply} moves, kept is {rows[0]}.", code
                )
            self.count("games looked up")

    def count_changes(self, life: int) -> int:
        """Return how many changes of rooms were shown in a life of the server, or 0 if some may not be seen."""
        if self.has_unseen_games:
            return 0
        rooms = [room.newest_seqs for room in self.rooms.values() if life in room.newest_seqs]
        return sum(seqs[life] - max((seqs[other] for other in seqs if other < life), default=0) for seqs in rooms)

    def is_closed(self, code: str) -> bool:
        """Return whether a finished room may be gone: all its players have been away for ten minutes."""
        away_since = self.rooms[code].away_since.values()
        return self.now() - max(away_since, default=self.now()) > KEPT_SECONDS

    def game(self, code: str, number: int) -> GameRecord:
        """Return the record of a game, which begins now if it is new."""
        games = self.rooms[code].games
        if number not in games:
            games[number] = GameRecord(self.now())
        return games[number]


def stored_part(state: Message) -> Message:
    """Return a state without the fields that are not stored."""
    stored = {key: value for key, value in state.items() if key not in _UNSTORED}
    stored["seats"] = {
        mark: seat and {key: value for key, value in seat.items() if key != "hold_ms"}
        for mark, seat in state["seats"].items()
    }
    return stored


def describe(state: Message) -> str:
    """Return one line about a state, for a story."""
    online = "".join(mark if seat and seat["online"] else mark.lower() for mark, seat in state["seats"].items() if seat)
    board = state["board"] if len(state["board"]) <= 42 else f"{state['ply']} moves, the last at {state['last']}"
    parts = [f"state {state['seq']}: game {state['game']}, {board} {online}", state["status"]]
    if state["turn"]:
        parts.append(f"{state['turn']} to move")
    if state["clock"]:
        parts.append(f"clocks {state['clock']['remaining_ms']}")
    offers = {key: value for key, value in state["offers"].items() if value}
    if offers:
        parts.append(f"offers {offers}")
    if state["result"]:
        parts.append(f"{state['result']['reason']}, winner {state['result']['winner']}, score {state['score']}")
    return ", ".join(parts)


def _mark_before(state: Message) -> str | None:
    """Return the mark that moved last in a running game for two."""
    if state["turn"] is None or len(state["seats"]) != 2:
        return None
    mover: str = next(mark for mark in state["seats"] if mark != state["turn"])
    return mover


def _asked_for_end(game: GameRecord, state: Message) -> bool:
    """Return whether the loser of a game for two asked to resign or leave, or its winner to claim."""
    winner = state["result"]["winner"]
    if len(state["seats"]) > 2 or winner is None:
        return bool(game.giving_up)
    is_claimed = state["result"]["reason"] == "claimed"
    (actor,) = (seat["player"] for mark, seat in state["seats"].items() if (mark == winner) is is_claimed)
    return bool(game.giving_up & {actor, actor.partition(".")[0]})


def _is_out_of_time(state: Message) -> bool:
    """Return whether a side's clock has run out, as it may in an opening before everybody has moved."""
    return state["clock"] is not None and 0 in state["clock"]["remaining_ms"].values()
