"""Room states for tests, built with the engine so that board, turn and result are consistent."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_protocol.pushes import Offers, Result, RoomState, SeatState, opening_state
from tictactoe_protocol.terms import RulesState
from tictactoe_words import telling
from tictactoe_words.happened import happened

CLASSIC = PRESETS["classic"]
ANA, BO, CY = "p-ana", "p-bo", "p-cy"


def seat(player: str, name: str, *, online: bool = True, left: bool = False) -> SeatState:
    return SeatState(player, name, online, None, left=left)


def players(rules: Rules = CLASSIC) -> dict[str, SeatState | None]:
    named = ((ANA, "ana"), (BO, "bo"), (CY, "cy"))
    return {mark: seat(*who) for mark, who in zip(rules.marks, named, strict=False)}


def state(
    moves: Sequence[int] = (),
    rules: Rules = CLASSIC,
    *,
    seats: Mapping[str, SeatState | None] | None = None,
    result: Result | None = None,
    offers: Offers | None = None,
    game: int = 1,
    watchers: int = 0,
    score: dict[str, int] | None = None,
    chosen: tuple[str, ...] = (),
) -> RoomState:
    """Return the state after these moves and choices; the result is the board's unless another is given."""
    position = Position.replay(rules, moves, (), chosen)
    outcome = position.outcome
    if result is None and outcome is not None:
        result = Result(outcome.winner, outcome.reason, outcome.line)
    held = dict(players(rules) if seats is None else seats)
    status = "over" if result else "waiting" if None in held.values() else "playing"
    return RoomState(
        room="K7M4PQ",
        seq=len(moves) + 1,
        status=status,
        visibility="public",
        game=game,
        rules=RulesState.of(rules),
        board=position.board,
        ply=position.ply,
        turn=position.turn if status == "playing" else None,
        last=position.last,
        seats=held,
        result=result,
        offers=offers or Offers(),
        clock=None,
        watchers=watchers,
        score=score or {},
        moves=position.moves,
        opening=UNSET if result else opening_state(position),
        chosen=chosen or UNSET,
    )


def announce(
    old: RoomState,
    new: RoomState,
    viewer: str,
    moves: Sequence[int] | None = None,
    before: Sequence[int] | None = None,
    *,
    sees_board: bool = False,
    after_loss: bool = False,
) -> list[str]:
    """Return the announcements to the viewer of a change between two states."""
    brought = happened(old, new, moves=moves, before=before)
    return telling.announce(brought, viewer, sees_board=sees_board, after_loss=after_loss)
