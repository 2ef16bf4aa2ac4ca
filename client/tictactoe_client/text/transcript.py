"""What plain mode says of a room: from the states, in their order, to lines; each event once. Pure.

It remembers what has been told, and knows nothing of connections, keyboards and time. The sentences come from
`announcer` and `guide`; here it is decided what is news and where a board helps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from tictactoe_client.online.address import Address
from tictactoe_client.online.changes import changes
from tictactoe_client.online.moves import fits, follow_moves
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import describe_score, draw_board
from tictactoe_client.text.arrival import describe_arrival, describe_progress, describe_return
from tictactoe_client.text.help import describe_controls
from tictactoe_client.text.news import announce, announce_standing
from tictactoe_client.text.offers import describe_choices, describe_ways_on
from tictactoe_client.text.wording import describe_turn, name_of, seat_of
from tictactoe_protocol.pushes import Offers, RoomState


class Transcript:
    """What has been told of one room to `viewer`; `state` is the newest one told, None before the first.

    `moves` are the cells played in its game, as far as they are known; `unblamed` the marks of those who have been away
    since the viewer came back from a loss of their own connection.
    """

    def __init__(self, viewer: str, settings: Settings, moves: tuple[int, ...] = ()) -> None:
        self.state: RoomState | None = None
        self.moves = moves
        self.unblamed: frozenset[str] = frozenset()
        self._viewer = viewer
        self._settings = settings

    def is_old(self, state: RoomState) -> bool:
        """Tell whether a newer state has been told."""
        return self.state is not None and state.seq < self.state.seq

    def needs_moves(self, state: RoomState) -> bool:
        """Tell whether the server must be asked for the moves before this state is told: states were skipped."""
        old = self.state
        is_gap = old is not None and state.seq > old.seq + 1 and state.ply > 0
        return is_gap or not fits(follow_moves(self.moves, old, state), state)

    def arrive(
        self, state: RoomState, moves: Sequence[int] | None, address: Address, latency_seconds: float
    ) -> list[str]:
        """Return what the first state of a room says: where one is, what has happened, and how to play.

        `moves` are those that the server has told, None where it was not asked. `address` is for those to be invited.
        """
        viewer, settings = self._viewer, self._settings
        self._note(state, moves)
        lines = describe_arrival(state, viewer, address, latency_seconds, with_own_name=settings.name is None)
        lines += describe_progress(state, self.moves)
        standing = announce_standing(state, viewer, self.moves)
        asked = describe_choices(_without_offers(state), state, viewer)
        if seat_of(state, viewer) is not None and not settings.quiet:
            lines += describe_controls(state.rules.to_rules(), settings)
        elif settings.asks and not settings.quiet:
            lines.append("To look back, type p. h for help, leave to go.")
        lines += [*standing, *asked]
        if state.status == "waiting":
            lines.append(describe_turn(state, viewer))
        return lines

    def go_on(
        self,
        state: RoomState,
        moves: Sequence[int] | None,
        away_seconds: float | None = None,
        declined: Collection[str] = (),
    ) -> list[str]:
        """Return what has happened since the last state; `away_seconds` is how long the connection was lost, if it was.

        `moves` are those that the server has told, None where it was not asked; `declined` are the offers that the
        viewer has put an end to.
        """
        old, before = self.state, self.moves
        if old is None:
            return []
        away = _marks_away(state)
        newly = away - _marks_away(old) if away_seconds is not None else frozenset()
        self.unblamed = away & (self.unblamed | newly)
        known = before if fits(before, old) else None
        self._note(state, moves)
        now = self.moves if fits(self.moves, state) else None
        viewer = self._viewer
        brought = changes(old, state, moves=now, before=known, own=seat_of(state, viewer), ended=declined)
        told = announce(brought, viewer, after_loss=away_seconds is not None)
        news = [*told, *describe_choices(old, state, viewer)]
        if away_seconds is None:
            return news
        back = describe_return(away_seconds)
        return [back, *news] if news else [f"{back} Nothing was missed. {describe_turn(state, viewer)}"]

    def set_scene(self, old: RoomState | None) -> list[str]:
        """Return the board where it helps, and whose move it is where that is news; `old` is the state before.

        Nothing where neither the board nor the turn has changed.
        """
        state = self.state
        if state is None or (old is not None and not has_moved_on(old, state)):
            return []
        own = seat_of(state, self._viewer)
        begins = old is None or old.status != "playing" or old.game != state.game
        is_taken_back = old is not None and state.ply < old.ply and state.game == old.game
        if state.status == "over":
            return self._end(state)
        if state.status != "playing":
            return []
        if state.turn == own:
            return [*self._draw(state), describe_turn(state, self._viewer)]
        board = self._draw(state) if own is None or is_taken_back or (begins and state.ply > 0) else []
        return [*board, f"{state.turn}'s move."] if begins or is_taken_back else board

    def _end(self, state: RoomState) -> list[str]:
        winner = state.result.winner if state.result is not None else None
        lines = self._draw(state)
        if winner is not None:
            lines.append(f"Winner: {name_of(state, winner)}, {winner}.")
        if state.game > 1:
            lines.append(describe_score(state))
        return lines

    def ways_on(self) -> list[str]:
        """Return what one may do after the end of the game."""
        return [] if self.state is None else [describe_ways_on(self.state, self._viewer)]

    def _note(self, state: RoomState, moves: Sequence[int] | None) -> None:
        """Keep a state, with the moves that the server has told where they belong to it."""
        followed = follow_moves(self.moves, self.state, state)
        if moves is not None:
            told = tuple(moves[: state.ply])
            followed = told if fits(told, state) else ()
        self.moves, self.state = followed, state

    def _draw(self, state: RoomState) -> list[str]:
        return draw_board(state, self._settings) if self._settings.draws_board else []


def has_moved_on(old: RoomState, state: RoomState) -> bool:
    """Tell whether the board or the turn is another one."""
    return (old.game, old.board, old.status, old.turn) != (state.game, state.board, state.status, state.turn)


def _marks_away(state: RoomState) -> frozenset[str]:
    return frozenset(mark for mark, seat in state.seats.items() if seat is not None and not (seat.online or seat.left))


def _without_offers(state: RoomState) -> RoomState:
    return replace(state, offers=Offers())
