"""Describes the events in a room in sentences, for all clients. Pure.

The server lists the events of each state in its `news`; `Happening` explains them. In every function, `viewer` is the
public id of the player who reads the sentences, or "".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET, Struct

from tictactoe_engine import format_cell
from tictactoe_engine.opening import MORE
from tictactoe_protocol.pushes import OUT_REASONS, Happening, OpeningChoice, RoomState
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.lines import describe_lines, describe_reach, split_lines
from tictactoe_words.openings import current_mark, placer
from tictactoe_words.wording import (
    describe_cell,
    describe_players,
    describe_reason,
    format_duration,
    is_draw,
    join_words,
    name_of,
    seat_of,
)

_MOST_NAMED: Final = 6
"""Up to this number of moves, the moves that were taken back or missed are named."""

_OFFERS: Final = ("draw", "undo", "rematch")
_WHY_OVER: Final = frozenset({"full", "agreed", "claimed", "aborted"})


class Missed(Struct, frozen=True):
    """Moves were played in states that the client did not receive.

    Attributes:
        moves: The number of moves.
        cells: Their cells in order, if they are few and continue the moves that the client knows.
    """

    moves: int
    cells: tuple[int, ...] = ()


News = Happening | Missed


def news_since(old: RoomState, state: RoomState) -> tuple[News, ...]:
    """Return what happened between the state `old` and this state.

    If states or their news were missed, return the number of missed moves and the events that explain the new state.
    """
    if state.seq == old.seq:
        return ()
    is_same_game = state.game == old.game
    played = state.ply - (old.ply if is_same_game else 0)
    since = state.seq - 1 if state.since is UNSET else state.since
    if since <= old.seq and (state.news or not played):
        return state.news
    is_named = 0 < played <= _MOST_NAMED and is_same_game and state.moves[:-played] == old.moves
    cells = state.moves[-played:] if is_named else ()
    began = () if is_same_game else (Happening("began", game=state.game),)
    known = is_same_game and old.result is not None
    standing = [each for each in list_standing(state) if not (known and each.type == "ended")]
    return (*began, *((Missed(played, cells),) if played > 0 else ()), *standing)


def list_standing(state: RoomState) -> Iterator[Happening]:
    """Yield the events that explain a state to a newcomer: absent players, open offers, the end of the game."""
    held = {mark: seat for mark, seat in state.seats.items() if seat is not None}
    yield from (Happening("out", mark) for mark, seat in held.items() if seat.out)
    if state.result is not None:
        yield Happening("ended", result=state.result)
    for mark, seat in held.items():
        if seat.left or not seat.online:
            yield Happening("left" if seat.left else "dropped", mark)
    offers = state.offers
    for kind, by in (("draw", offers.draw), ("undo", offers.undo), *(("rematch", mark) for mark in offers.rematch)):
        if by is not None:
            yield Happening("offered", by, kind=kind)


def announce(
    news: Sequence[News], state: RoomState, viewer: str, *, sees_board: bool = False, after_loss: bool = False
) -> list[str]:
    """Return the sentences about the news of a state. A result shares a sentence with the move that caused it.

    Args:
        sees_board: Whether the viewer sees the board; events that the board shows are left out.
        after_loss: Whether the viewer's own connection was lost. Others are then called absent instead of disconnected,
            because the server may have been down for everyone.
    """
    teller, told, moved_at = _Teller(news, state, viewer, sees_board, after_loss), list[str](), -1
    for each in news:
        if isinstance(each, Missed):
            named = name_moves(each.cells, state) if each.cells else ""
            if not sees_board:
                told.append(say("missed moves named" if named else "missed moves", n=each.moves, moves=named))
            continue
        if each.type == "moved":
            moved_at = len(told)
        if sees_board and each.type in ("moved", "ended"):
            continue
        sentence = teller.tell(each)
        if each.type == "ended" and moved_at >= 0 and state.result and state.result.reason in ("line", "full"):
            sentence = f"{told.pop(moved_at)} {sentence}"
        if sentence:
            told.append(sentence)
    return told


def announce_standing(state: RoomState, viewer: str) -> list[str]:
    """Return sentences about a state for a newcomer: absent players, open offers, the end of the game."""
    told = announce([*list_standing(state)], state, viewer, after_loss=True)
    return [say("game of room", n=state.game), *told] if state.game > 1 else told


def describe_result(state: RoomState, viewer: str) -> str:
    """Return sentences about the result of a game and how it ended: ``You lose. Row 1 is X X X.``"""
    return f"{describe_verdict(state, viewer)} {describe_why_over(state, viewer)}".strip()


def describe_verdict(state: RoomState, viewer: str) -> str:
    """Return a sentence about the winner or the viewer's own result, ``You lose.``, or "" before the end."""
    result, own = state.result, seat_of(state, viewer)
    if result is None:
        return ""
    if result.reason == "aborted":
        verdict = "aborted"
    elif result.winner is None:
        verdict = "draw" if is_draw(result) else "none"
    elif result.winner == own:
        verdict = "win"
    else:
        verdict = "lose" if own is not None and len(state.seats) == 2 else "wins"
    return say(f"verdict {verdict}", name=name_of(state, result.winner))


def describe_why_over(state: RoomState, viewer: str) -> str:
    """Return a sentence about how a game ended: ``Row 1 is X X X.``, ``bo resigns.``"""
    result = state.result
    if result is None:
        return ""
    loser = loser_of(state) if result.reason in ("resigned", "timeout", "forfeit", "claimed") else None
    if result.reason == "line":
        if not state.rules.misere:
            return describe_lines(state)
        run = split_lines(result.line, state.rules.to_rules())[0]
        return _say_of(
            state, state.board[run[0]], "line loses", viewer, reach=describe_reach(run, state.rules.to_rules())
        )
    if loser is None and result.reason in _WHY_OVER:
        return say(f"ended {result.reason}")
    if loser is not None:
        has_left = result.reason == "resigned" and _why_out(state, loser) == "left"
        deed = "left" if has_left else "away" if result.reason == "claimed" else result.reason
        return _say_of(state, loser, f"ended {deed}", viewer)
    if result.reason in ("resigned", "timeout", "forfeit"):
        return say("ended nobody came" if result.reason == "forfeit" else "ended nobody left")
    return say("ended otherwise", reason=describe_reason(result.reason))


def describe_take_back(state: RoomState, asker: str) -> str:
    """Return the moves that `asker`, a mark, would take back: ``B2 and C3``."""
    count = 1 if state.last is not None and state.board[state.last] == asker else 2
    return name_moves(state.moves[-count:], state)


def name_moves(cells: Sequence[int], state: RoomState) -> str:
    """Return the names of the cells of moves."""
    rules = state.rules.to_rules()
    return join_words([format_cell(cell, rules) for cell in cells])


def loser_of(state: RoomState) -> str | None:
    """Return the only mark that lost, among the players who were not out before the end, or None."""
    result = state.result
    if result is None or result.winner is None:
        return None
    others = [mark for mark, seat in state.seats.items() if mark != result.winner and not (seat and seat.out)]
    return others[0] if len(others) == 1 else None


@dataclass(frozen=True, slots=True)
class _Teller:
    """Describes the events of some `news`, see `announce`."""

    news: Sequence[News]
    state: RoomState
    viewer: str
    sees_board: bool
    after_loss: bool

    def tell(self, event: Happening) -> str:
        """Return a sentence, or "" if another event implies it or if the viewer is the one who came or left."""
        state, viewer, mark, kind = self.state, self.viewer, event.mark or "", event.kind or ""
        match event.type:
            case "began":
                return say("game", n=state.game, players=describe_players(state, viewer)) if state.game > 1 else ""
            case "moved":
                return _tell_move(mark, event.cell or 0, state, viewer)
            case "chose":
                choice = OpeningChoice(state.ply, current_mark(state, mark), mark, event.take or "")
                return tell_choice(choice, state, viewer)
            case "taken back":
                cells = event.cells or ()
                names = name_moves(cells, state) if len(cells) <= _MOST_NAMED else ""
                if names and mark:
                    return _say_of(state, mark, "takes back", viewer, moves=names)
                return say("taken back" if names else "taken back unnamed", n=len(cells), moves=names)
            case "out":
                seat = state.seats.get(mark)
                is_out = seat is not None and seat.out  # otherwise the result says it
                return f"{_describe_out(state, mark, viewer)} {say('others play on')}" if is_out else ""
            case "ended":
                return describe_result(state, viewer)
            case "offered" if kind in _OFFERS:
                moves = name_moves(event.cells, state) if event.cells else describe_take_back(state, mark)
                return _say_of(state, mark, f"waits {kind}", viewer, moves=moves, n=1)
            case "declined" | "withdrawn" if kind in ("draw", "undo"):
                takes_back = event.type == "withdrawn" and kind == "undo"
                return _say_of(state, mark, "withdraws undo" if takes_back else event.type, viewer)
            case "lapsed" if kind in ("draw", "undo"):
                return say("lapses undo" if kind == "undo" else "lapsed")
            case "joined" | "renamed" | "dropped" | "back" | "left":
                return self._tell_of_seat(event, mark)
        return ""

    def _tell_of_seat(self, event: Happening, mark: str) -> str:
        state, seat = self.state, self.state.seats.get(mark)
        if seat is None:
            left = f"{say('left room', name=clean_text(event.name or ''))} {say('seat free', mark=mark)}"
            return left if event.type == "left" else ""
        if seat.player == self.viewer:
            return ""
        name, is_beginning = name_of(state, mark), state.game == 1 and not state.ply  # when a seat may be reserved
        match event.type:
            case "joined":
                return say("joins", name=name, mark=mark)
            case "renamed":
                return say("renamed", before=clean_text(event.before or ""), name=name)
            case "back":
                return say("is here" if is_beginning else "back", name=name)
            case "dropped":
                is_held = seat.hold_ms and not self.sees_board and state.status == "playing"
                held = f" {say('held', time=format_duration(seat.hold_ms or 0))}" if is_held else ""
                is_absent = self.after_loss or state.counts_days or (bool(state.event) and is_beginning)
                return say("not here" if is_absent else "dropped", name=name) + held
        others = [each for each in self.news if isinstance(each, Happening)]
        whys = {each.why or "left" for each in others if each.type == "out" and each.mark == mark}
        has_resigned = mark == loser_of(state) and any(
            each.result and each.result.reason == "resigned" for each in others
        )
        if whys <= {"left"} and (has_resigned or (seat.out and whys)):
            return ""
        return say("left room" if state.status == "over" else "ended left", name=name)


def _tell_move(mark: str, cell: int, state: RoomState, viewer: str) -> str:
    rules, by = state.rules.to_rules(), cell in state.moves and placer(state, state.moves.index(cell))
    if by:
        return _say_of(state, by, "places", viewer, cell=describe_cell(cell, rules), mark=mark)
    decides = state.result is not None and cell == state.last and cell in state.result.line
    where = format_cell(cell, rules) if decides else describe_cell(cell, rules)
    return _say_of(state, mark, "plays", viewer, cell=where)


def tell_choice(choice: OpeningChoice, state: RoomState, viewer: str) -> str:
    """Return a sentence about a choice in an opening."""
    mark, take = choice.by, choice.take
    other = next((one for one in state.seats if one != mark), mark)
    places = {"take": take, "other": name_of(state, other), "mark": other}
    id = "chose more" if take == MORE else "chose stay" if take == choice.mark else "chose swap"
    if other == seat_of(state, viewer) and id != "chose stay":
        return say(f"{id}, them", name=name_of(state, mark), **places)
    return _say_of(state, mark, id, viewer, **places)


def _describe_out(state: RoomState, mark: str, viewer: str) -> str:
    why = _why_out(state, mark)
    return _say_of(state, mark, f"ended {'timeout' if why == 'late' else why}", viewer)


def _why_out(state: RoomState, mark: str) -> str:
    """Return why a player is out of the game: the reason in the state, or else the one that seat and clock suggest."""
    for one in state.news:
        if one.type == "out" and one.mark == mark and one.why in OUT_REASONS:
            return str(one.why)
    seat = state.seats[mark]
    if seat is not None and seat.left:
        return "left"
    if state.clock is not None and state.clock.remaining_ms.get(mark) == 0:
        return "late"
    return "away" if seat is not None and not seat.online and seat.hold_ms == 0 else "resigned"


def _say_of(state: RoomState, mark: str, id: str, viewer: str, /, **places: Any) -> str:
    """Return the sentence `id` about the player with `mark`, in its form with "you" if that is the viewer."""
    id = f"{id}, you" if mark == seat_of(state, viewer) else id
    return say(id, name=name_of(state, mark), **places)
