"""From one state of a room to the next, in sentences: every event once, in the order in which it happened.

Pure. It is for whoever cannot see the board change: screen readers, logs, pipes. The turn and the board are not
told here, as each face of the client draws them in its own way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from tictactoe_client.online.moves import count_kept
from tictactoe_client.text.company import (
    announce_arrivals,
    announce_departures,
    announce_offers,
    announce_passed_over,
)
from tictactoe_client.text.taking_back import announce_taken_back
from tictactoe_client.text.wording import (
    describe_cell,
    describe_lines,
    describe_players,
    describe_reason,
    is_draw,
    loser_of,
    name_of,
    seat_of,
)
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import ChatLine, Offers, RoomState


def announce(
    old: RoomState,
    new: RoomState,
    viewer: str,
    moves: Sequence[int] | None = None,
    before: Sequence[int] | None = None,
    declined: Collection[str] | None = None,
    *,
    after_loss: bool = False,
) -> list[str]:
    """Return what happened between two states of one room, `viewer` being the public id of whoever reads.

    `moves` are all cells played in the new state's game so far, which puts a gap of several moves in order, and
    `before` those of the old one's; None where they are not known. `declined` as for `announce_offers`,
    `after_loss` as for `announce_departures`.
    """
    if new.game != old.game:
        return _announce_new_game(old, new, viewer, moves, after_loss=after_loss)
    kept = count_kept(old, new, moves, before)
    return [
        *announce_arrivals(old, new, viewer),
        *_announce_play(old, new, viewer, moves, kept, before),
        *announce_departures(old, new, viewer, after_loss=after_loss),
        *announce_offers(old, new, viewer, is_taken_back=kept < old.ply, declined=declined, moves=moves),
    ]


def announce_company(
    old: RoomState,
    new: RoomState,
    viewer: str,
    declined: Collection[str] | None = None,
    moves: Sequence[int] | None = None,
    before: Sequence[int] | None = None,
    *,
    after_loss: bool = False,
) -> list[str]:
    """Return what happened between two states apart from moves and results, for those who see the board.

    `moves`, `before` and the others as for `announce`; moves that are not known in full count as unknown.
    """
    if new.game != old.game:
        return [f"Game {new.game}. {describe_players(new, viewer)}"]
    kept = count_kept(old, new)
    return [
        *announce_arrivals(old, new, viewer),
        *announce_taken_back(old, new, viewer, kept, before),
        *announce_passed_over(old, new, viewer),
        *announce_departures(old, new, viewer, with_hold=False, after_loss=after_loss),
        *announce_offers(old, new, viewer, is_taken_back=kept < old.ply, declined=declined, moves=moves),
    ]


def announce_standing(state: RoomState, viewer: str, moves: Sequence[int] | None = None) -> list[str]:
    """Return what somebody who comes now must know beside players and moves: who is away, what is offered, the end.

    `moves` are all cells of the game, None where they are not known.
    """
    seats = {mark: seat and replace(seat, online=True, left=False, out=False) for mark, seat in state.seats.items()}
    start = replace(state, seats=seats, offers=Offers(), result=None)
    return [
        *([f"This is game {state.game} of the room."] if state.game > 1 else []),
        *_announce_play(start, state, viewer, None, state.ply),
        *announce_departures(start, state, viewer),
        *announce_offers(start, state, viewer, is_taken_back=False, moves=moves),
    ]


def announce_chat(line: ChatLine) -> str:
    """Return what somebody said, safe to print; a watcher is marked as one."""
    role = "" if line.seat else " (watching)"
    return f"{clean_text(line.from_)}{role}: {clean_text(line.text)}"


def _announce_new_game(
    old: RoomState, new: RoomState, viewer: str, moves: Sequence[int] | None, *, after_loss: bool
) -> list[str]:
    start = _before_first_move(old, new)
    return [
        *_announce_missed_games(old, new),
        f"Game {new.game}. {describe_players(new, viewer)}",
        *announce_arrivals(start, new, viewer),
        *_announce_play(start, new, viewer, moves, 0),
        *announce_departures(start, new, viewer, after_loss=after_loss),
        *announce_offers(start, new, viewer, is_taken_back=False, moves=moves),
    ]


def _announce_missed_games(old: RoomState, new: RoomState) -> list[str]:
    """Return how the games ended whose end was not seen."""
    first = old.game + 1 if old.status == "over" else old.game
    if new.game == first:
        return []
    if new.game - first > 1:
        return [f"Games {first} to {new.game - 1} have been played unseen."]
    latest = new.seats.get(new.result.winner) if new.result is not None and new.result.winner else None
    for mark, seat in old.seats.items():
        if seat is None:
            continue
        since = 1 if latest is not None and latest.player == seat.player else 0
        if new.score.get(seat.player, 0) - since > old.score.get(seat.player, 0):
            return [f"Game {first} has ended: {name_of(old, mark)} won."]
    since = 1 if new.result is not None and is_draw(new.result) else 0
    is_drawn = new.score.get("draws", 0) - since > old.score.get("draws", 0)
    return [f"Game {first} has ended {'in a draw' if is_drawn else 'without a winner'}."]


def _before_first_move(old: RoomState, new: RoomState) -> RoomState:
    """Return the new state's game at its start, with the players as the old state had them."""
    board = "".join("#" if mark == "#" else "." for mark in new.board)
    known = {seat.player: replace(seat, out=False) for seat in old.seats.values() if seat is not None}
    seats = {mark: known.get(seat.player, seat) if seat is not None else None for mark, seat in new.seats.items()}
    return replace(new, board=board, ply=0, last=None, result=None, status="playing", seats=seats, offers=Offers())


def _announce_play(
    old: RoomState,
    new: RoomState,
    viewer: str,
    moves: Sequence[int] | None,
    kept: int,
    before: Sequence[int] | None = None,
) -> list[str]:
    """Return what happened on the board after the first `kept` moves, who was passed over, and how it ended."""
    taken_back = announce_taken_back(old, new, viewer, kept, before)
    told = [*taken_back, *_announce_moves(old, new, viewer, moves, kept)]
    passed = announce_passed_over(old, new, viewer)
    if new.result is None or old.result is not None:
        return [*told, *passed]
    verdict = describe_result(new, viewer)
    if told and new.result.reason in ("line", "full"):
        return [*passed, *told[:-1], f"{told[-1]} {verdict}"]
    return [*told, *passed, verdict]


def _announce_moves(old: RoomState, new: RoomState, viewer: str, moves: Sequence[int] | None, kept: int) -> list[str]:
    rules, own = new.rules.to_rules(), seat_of(new, viewer)
    told = []
    played = _cells_since(kept, old, new, moves)
    for position, cell in enumerate(played):
        mark = new.board[cell]
        who = "You play" if mark == own else f"{name_of(new, mark)} plays"
        decides = new.result is not None and cell in new.result.line and position == len(played) - 1
        told.append(f"{who} {format_cell(cell, rules) if decides else describe_cell(cell, rules)}.")
    return told


def _cells_since(kept: int, old: RoomState, new: RoomState, moves: Sequence[int] | None) -> list[int]:
    """Return the cells played after the first `kept` moves in their order, as far as it can be known."""
    if new.last is None or new.ply <= kept:
        return []
    if new.ply == kept + 1:
        return [new.last]
    if moves is not None and len(moves) >= new.ply:
        return list(moves[kept : new.ply])
    fresh = [cell for cell, mark in enumerate(new.board) if mark != old.board[cell] and cell != new.last]
    return [*fresh, new.last]


def describe_result(state: RoomState, viewer: str) -> str:
    """Return how a game ended, the deciding line first: ``Row 1 is X X X. You lose.``"""
    result = state.result
    if result is None:
        return ""
    verdict = _verdict(state, viewer)
    if result.reason == "line":
        return f"{describe_lines(state)} {verdict}"
    if result.reason == "full":
        return f"The board is full. {verdict}"
    if result.reason == "agreed":
        return f"Both agreed. {verdict}"
    if result.reason == "claimed":
        return f"The game was claimed, as the other seat stayed empty. {verdict}"
    if result.reason == "aborted":
        return "The game was aborted, as not everybody had moved yet. It doesn't count."
    if result.reason not in ("resigned", "timeout"):
        return f"The game ended {describe_reason(result.reason)}. {verdict}"
    loser = loser_of(state)
    if loser is None:
        return f"Nobody else is left in the game. {verdict}"
    who = "You" if loser == seat_of(state, viewer) else name_of(state, loser)
    if result.reason == "timeout":
        return f"{who} ran out of time. {verdict}"
    seat = state.seats.get(loser)
    if seat is not None and seat.left:
        return f"{who} left the game. {verdict}"
    return f"{who} {'resign' if who == 'You' else 'resigns'}. {verdict}"


def _verdict(state: RoomState, viewer: str) -> str:
    result = state.result
    winner = result.winner if result is not None else None
    own = seat_of(state, viewer)
    if winner is None:
        return "It's a draw." if result is not None and is_draw(result) else "It has no winner."
    if winner == own:
        return "You win."
    if own is not None and len(state.seats) == 2:
        return "You lose."
    return f"{name_of(state, winner)} wins."
