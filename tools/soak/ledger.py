"""What clients were told, and whether it holds together: acknowledgements, states and the end, compared.

It is the judge of every long run, so it owns no connection and can be shown to fail. A violation is a sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.peer import Message

PASSING = frozenset({"watchers", "clock"})
"""What two true states with one `seq` may differ in: watchers come without a stored change, and times run."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A move that was answered `ok`."""

    room: str
    game: int
    ply: int
    cell: int


@dataclass
class Ledger:
    """Everything that a fleet was told. `acknowledged` counts every `ok`, `moves` are those that can be looked up.

    `unavailable_seconds` is how long each `unavailable` took to come, `slowest_answer` the longest that any answer did.
    """

    acknowledged: int = 0
    states: int = 0
    moves: list[Acknowledged] = field(default_factory=list)
    rematches: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    seq_violations: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    unavailable_seconds: list[float] = field(default_factory=list)
    slowest_answer: float = 0.0
    _newest: dict[tuple[str, str], int] = field(default_factory=dict)
    _told: dict[str, dict[int, tuple[int, str]]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def violations(self) -> list[str]:
        """Everything that must not be."""
        return [*self.lost, *self.doubled, *self.seq_violations, *self.contradictions, *self.refusals]

    def note_state(self, client: str, state: Message) -> None:
        """Take notice of a state that a client was sent: its `seq` never goes back, and means one state for all."""
        room, seq = state["room"], state["seq"]
        self.states += 1
        newest = self._newest.get((client, room), 0)
        if seq < newest:
            self.seq_violations.append(f"{client} saw seq {seq} of {room} after {newest}")
        self._newest[client, room] = max(newest, seq)
        meaning = (state["game"], state["board"])
        if self._told[room].setdefault(seq, meaning) != meaning:
            self.contradictions.append(f"seq {seq} of {room} was {self._told[room][seq]} and is {meaning}")

    def note_move(self, room: str, game: int, ply: int, cell: int) -> None:
        """Take notice of a move that was answered `ok`."""
        self.acknowledged += 1
        self.moves.append(Acknowledged(room, game, ply, cell))

    def note_rematch(self, room: str, game: int) -> None:
        """Take notice of an `ok` to a rematch after this game."""
        self.acknowledged += 1
        self.rematches[room] = max(game, self.rematches.get(room, 0))

    def note_refusal(self, client: str, command: Message, error: Message) -> None:
        """Take notice of a refusal that nothing explains."""
        self.refusals.append(f"{client} sent {command} and was told {error}")

    def compare_games(self, games: Mapping[tuple[str, int], Sequence[Sequence[int]]]) -> None:
        """Look for every acknowledged move in `games`: the moves of each room and game, once for each copy found."""
        for (room, game), copies in games.items():
            if len(copies) != 1:
                self.doubled.append(f"game {game} of {room} is there {len(copies)} times")
            if any(len(set(moves)) != len(moves) for moves in copies):
                self.doubled.append(f"a cell was taken twice in game {game} of {room}: {copies}")
        for move in self.moves:
            copies = games.get((move.room, move.game), ())
            if not any(move.ply < len(moves) and moves[move.ply] == move.cell for moves in copies):
                self.lost.append(f"{move} is not in {list(copies)}")

    def compare_rematches(self, newest: Mapping[str, Message]) -> None:
        """Look for every acknowledged rematch in the last state of its room."""
        for room, game in self.rematches.items():
            state = newest.get(room)
            if state is None or (state["game"] <= game and not state["offers"]["rematch"]):
                self.lost.append(f"the rematch after game {game} of {room} is not in {state}")

    def compare_ends(self, room: str, ends: Mapping[str, Message]) -> None:
        """Compare the last state of every client in a room: they are one, but for what passes."""
        stripped = {
            client: {key: value for key, value in state.items() if key not in PASSING} for client, state in ends.items()
        }
        first = next(iter(stripped.values()), None)
        for client, state in stripped.items():
            if state != first:
                self.contradictions.append(f"{client} ends with {state} in {room}, others with {first}")

    def report(self) -> str:
        """Return the figures in one line."""
        return (
            f"{self.acknowledged:,} acknowledged commands, {len(self.lost)} lost, {len(self.doubled)} doubled; "
            f"{self.states:,} states, {len(self.seq_violations)} seq violations, "
            f"{len(self.contradictions)} contradictions, {len(self.refusals)} unexplained refusals"
        )
