"""What is typed while a recorded game is stepped through: the questions of a live game, about the position shown. Pure.

The steps themselves are parsed by `words.replay`; no server takes part, and nobody plays.
"""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.input.actions import answer_question
from tictactoe_client.input.intents import BadInput, Intent, Look, Marks, Moves, Place, Query, Read, Weigh
from tictactoe_client.input.parser import parse_intent
from tictactoe_client.settings import Settings
from tictactoe_client.text.aloud import list_moves, read_aloud
from tictactoe_client.text.replay import STEP_HELP, Replay
from tictactoe_protocol import clean_text

REPLAY_HELP = (
    "Step: n or an empty line next, p previous, a number that move (0: the start), live the end, q quit.",
    "Ask: b board, l last move, f free cells, o who played.",
    "Read: s A a column, s 1 a row, s b2 a cell.",
    "Look: a b2 around a cell, d b2 along its diagonals; alone: of the last move.",
    "List: m cells of each mark, m x of one, r rows of marks, moves (up to here), moves 6.",
)
_NO_VALUE = "What a position is worth is told in the room of a game, after its end: type value there."


@dataclass(frozen=True, slots=True)
class Told:
    """What a line brings: lines to print, or where to go, perhaps beyond the game."""

    lines: tuple[str, ...] = ()
    ply: int | None = None


def answer_in_replay(line: str, game: Replay, ply: int, settings: Settings) -> Told:
    """Return the answer to a line that is no step of its own, typed when `ply` moves lie on the board."""
    rules = game.record.rules
    try:
        intent = parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=False)
    except BadInput as bad:
        return _refuse(line) if bad.message.startswith("I don't know") else Told((clean_text(bad.message),))
    if isinstance(intent, Look) and intent.kind != "by":
        return Told(ply=game.last if intent.kind == "live" else intent.number)
    lines = _answer(intent, game, ply, settings)
    return Told(tuple(lines)) if lines else _refuse(line)


def _answer(intent: Intent, game: Replay, ply: int, settings: Settings) -> list[str]:
    """Return the answer to a question, nothing for what is none."""
    state = game.state(ply)
    match intent:
        case Query(kind="who"):
            return [f"{game.describe_players()}."]
        case Query(kind="clock"):
            return ["A record does not tell what the clocks showed."]
        case Query() | Read() | Marks():
            return answer_question(intent, state, "", settings)
        case Place():
            return read_aloud("cell", intent.cell, state)
        case Moves():
            return [list_moves(state, game.record.moves[:ply], intent.count)]
        case Weigh():
            return [_NO_VALUE]
        case _:
            return []


def _refuse(line: str) -> Told:
    return Told((f'I don\'t know "{clean_text(line.strip())}". Type {STEP_HELP}',))
