"""Room states for tests, built with the engine so that board, turn and result are consistent."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_protocol.pushes import Offers, Result, RoomState, SeatState, opening_state
from tictactoe_protocol.terms import RulesState
from tictactoe_server.features.ratings.folding import RATED
from tictactoe_server.features.tournaments.running import purpose_of
from tictactoe_server.rooms.room import CASUAL, HOLD_MS, Room
from tictactoe_server.rooms.view import news_of, possible_requests
from tictactoe_words import telling

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
    made = RoomState(
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
    return completed(made)


def completed(state: RoomState, old: RoomState | None = None) -> RoomState:
    """Return a state with the `may` that a server adds, and with the `news` after `old`, as the next state."""
    room = _room_of(state)
    may = possible_requests(room, 0)
    if old is None:
        return replace(state, may=may)
    return replace(state, seq=old.seq + 1, may=may, news=news_of(_room_of(old), room))


def _room_of(state: RoomState) -> Room:
    rules, held = state.rules.to_rules(), [seat for seat in state.seats.values() if seat is not None]
    position = Position.replay(rules, state.moves, (), state.chosen or ())
    for mark, seat in state.seats.items():
        position = position.pass_over(mark) if seat is not None and seat.out else position
    return Room(
        *(state.room, position, state.seats, 0),
        game=state.game,
        result=state.result,
        offers=state.offers,
        gone_at={seat.player: seat.hold_ms - HOLD_MS for seat in held if isinstance(seat.hold_ms, int)},
        purpose=purpose_of(state.event, "r1-1") if state.event else RATED if state.rated else CASUAL,
    )


def announce(
    old: RoomState, new: RoomState, viewer: str, *, sees_board: bool = False, after_loss: bool = False
) -> list[str]:
    """Return the announcements to the viewer of a change between two states."""
    now = completed(new, old)
    return telling.announce(now.news, now, viewer, sees_board=sees_board, after_loss=after_loss)
