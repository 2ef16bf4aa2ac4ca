"""Computes the contents of a room's screen from its state, the choices and the view, for all clients. Pure.

The full screen, plain mode and the page each draw a `Scene` with their own layout, colours and keys. In every function,
`viewer` is the public id of the player who reads the screen, or "".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tictactoe_engine import format_cell
from tictactoe_protocol.pushes import RoomState, SeatState
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.choices import Choices, describe_deed, describe_question
from tictactoe_words.openings import choices_at, placer
from tictactoe_words.telling import describe_verdict, describe_why_over, tell_choice
from tictactoe_words.wording import describe_cell, describe_level, describe_turn, format_duration, name_of, seat_of

Ended = Literal["", "left", "closed", "moved", "replaced", "card"]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A server that has the room but does not answer.

    Attributes:
        url: The URL of the server.
        step: ``asked`` if another server was asked to take over the room, ``refused`` if that server refused.
        why: The reason for the refusal.
    """

    url: str
    step: Literal["", "asked", "refused"] = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """The client's own state about a room.

    Attributes:
        here: The displayed ply, or None for the newest position.
        typed: The part of a move that has been typed.
        pending: The cell of a move that has been sent but is not confirmed yet.
        confirming: The name of a deed that the player has to confirm.
        is_kept: Whether this is a stored game without a room.
        ended: Why the client is no longer in the room, or "" if it is.
        reason: The server's sentence about why the client is no longer in the room.
        actor: The id of the player to move, if several people play at one keyboard. There is no viewer then, because
            sentences must not call any of them "you".
        again_seconds: While offline, the time until the next attempt to connect.
        held_ms: While offline, how long the player's seat is still held.
        unanswered: The server that does not answer, if there is one.
    """

    here: int | None = None
    typed: str = ""
    pending: int | None = None
    confirming: str = ""
    is_kept: bool = False
    ended: Ended = ""
    reason: str = ""
    actor: str = ""
    is_offline: bool = False
    again_seconds: int = 0
    held_ms: int = 0
    unanswered: Unanswered | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A possible answer to a question.

    Attributes:
        name: The name of the deed.
        label: The label of the deed.
        is_main: Whether the answer is highlighted among several.
    """

    name: str
    label: str
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """An open question to the viewer or to another player."""

    id: str
    text: str
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """The line about the displayed position.

    Attributes:
        why: At the end of a game, how it ended; otherwise "".
        kind: ``mine`` if the viewer is to move, ``over`` at the end of a game, otherwise "".
        places: In an opening, the mark to place next; otherwise "".
    """

    text: str
    why: str = ""
    kind: Literal["", "mine", "over"] = ""
    places: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A player as the screen shows them.

    Attributes:
        note: A note about the player, such as why the game waits for them, or "".
        clock_ms: The time left on their clock, or None without a clock.
        moves: Whether it is their turn.
        player: Their public id, which selects their emblem; "" for a server's bot.
        score: The number of games won in this room, or None if it is not shown.
    """

    mark: str
    name: str
    note: str = ""
    clock_ms: int | None = None
    moves: bool = False
    is_own: bool = False
    is_away: bool = False
    has_won: bool = False
    player: str = ""
    score: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The end of a game.

    Attributes:
        verdict: The sentence about the winner.
        kind: The viewer's result: ``win``, ``lose``, or "" for a draw or a watcher.
    """

    verdict: str
    kind: Literal["", "win", "lose"] = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """The contents of the screen.

    Attributes:
        head: The players and the game.
        banner: The state of the room or connection if there is a problem, or "".
        due: How much time is left for a player's first move, or "".
        questions: The open questions, a deed to confirm first.
        end: The end of the game, or None while it continues.
    """

    head: str
    banner: str
    turn: Turn
    due: str
    players: tuple[Shown, ...]
    questions: tuple[Asked, ...]
    end: End | None


def scene(state: RoomState, may: Choices, view: View, viewer: str, passed_ms: float = 0) -> Scene:
    """Return the scene `passed_ms` after the state arrived.

    Args:
        may: The choices of the viewer.
        view: The client's own state.
    """
    is_back = view.here is not None and view.here < len(state.moves)
    turn = _describe_moment(state, view, viewer, is_back=is_back)
    due, end = _first_move_ms(state, passed_ms), None
    if state.result is not None:
        own, winner = seat_of(state, viewer), state.result.winner
        kind: Literal["", "win", "lose"] = "" if own is None or winner is None else "win" if winner == own else "lose"
        end = End(describe_verdict(state, viewer), kind)
    return Scene(
        head=name_game(state) if state.status == "waiting" else f"{name_players(state)} · {name_game(state)}",
        banner=describe_banner(state, view),
        turn=turn,
        due="" if due is None else say("player first move", time=format_duration(due)),
        players=list_players(state, viewer, passed_ms, is_kept=view.is_kept),
        questions=tuple(list_questions(state, may, view)),
        end=end,
    )


def name_players(state: RoomState) -> str:
    """Return the names of the players: ``ana v bo``."""
    names = (say("view cell free") if seat is None else clean_text(seat.name) for seat in state.seats.values())
    return say("versus").join(names)


def name_game(state: RoomState) -> str:
    """Return the name of the rules, or the size of the game if they have no name: ``6x7, 4 in a row``."""
    rules = state.rules.to_rules()
    if rules.preset is not None:
        return say(f"name of {rules.preset}")
    return say("game size", rows=rules.rows, columns=rules.columns, line=rules.line)


def _describe_moment(state: RoomState, view: View, viewer: str, *, is_back: bool) -> Turn:
    own = seat_of(state, view.actor or viewer)
    seat = state.seats[own] if own is not None else None
    plays = state.status == "playing" and seat is not None and not seat.out
    is_mine = plays and state.turn == own and view.pending is None and not view.ended and not is_back
    is_now = not (is_back or view.typed or view.pending is not None)
    kind: Literal["", "mine", "over"] = "mine" if is_mine else "over" if is_now and state.status == "over" else ""
    return Turn(
        _describe_now(state, view, viewer, is_back=is_back),
        describe_why_over(state, viewer) if kind == "over" else "",
        kind,
        (state.opening.places or "") if is_now and state.opening else "",
    )


def _describe_now(state: RoomState, view: View, viewer: str, *, is_back: bool) -> str:
    if view.typed:
        return say("scene typed", text=view.typed)
    if view.pending is not None:
        return say("scene on its way", cell=format_cell(view.pending, state.rules.to_rules()))
    if is_back:
        return describe_move(state, view.here or 0, viewer)
    if state.status == "over":
        return describe_verdict(state, viewer)
    return "" if view.ended else describe_turn(state, viewer)  # the banner says where the game continues


def describe_move(state: RoomState, ply: int, viewer: str) -> str:
    """Return sentences about move number `ply` and the opening choices after it; 0 is the start of the game."""
    return " ".join([tell_move(state, ply), *(tell_choice(one, state, viewer) for one in choices_at(state, ply))])


def tell_move(state: RoomState, ply: int) -> str:
    """Return a sentence about move number `ply`; 0 is the start of the game."""
    if not ply:
        return say("the start")
    cell, by = state.moves[ply - 1], placer(state, ply - 1)
    mark, where = state.board[cell], describe_cell(cell, state.rules.to_rules())
    id = "move of, placing" if by else "move of"
    return say(id, n=ply, all=state.ply, name=name_of(state, by or mark), mark=mark, cell=where)


def list_players(state: RoomState, viewer: str, passed_ms: float, *, is_kept: bool = False) -> tuple[Shown, ...]:
    """Return the player of each mark, `passed_ms` after the state arrived."""
    return tuple(_show_player(state, mark, viewer, passed_ms, is_kept=is_kept) for mark in state.rules.marks)


def _show_player(state: RoomState, mark: str, viewer: str, passed_ms: float, *, is_kept: bool) -> Shown:
    seat, clock, moves = state.seats.get(mark), state.clock, state.turn == mark
    left, runs = None if clock is None else clock.remaining_ms.get(mark), clock is not None and clock.running == mark
    left = max(0, round(left - passed_ms)) if left is not None and runs else left
    if seat is None:
        return Shown(mark, say("player free"), clock_ms=left, moves=moves, is_away=True)
    name, is_own = clean_text(seat.name), bool(viewer) and seat.player == viewer
    has_score = not is_kept and (state.game > 1 or state.status == "over")
    return Shown(
        mark,
        name,
        _note_seat(state, mark, seat, passed_ms),
        left,
        moves,
        is_own,
        not seat.online,
        state.result is not None and state.result.winner == mark,
        "" if seat.is_server_bot else seat.player,
        state.score.get(seat.player, 0) if has_score else None,
    )


def _note_seat(state: RoomState, mark: str, seat: SeatState, passed_ms: float) -> str:
    if seat.left or seat.out:
        return say("player gone" if seat.left else "player out")
    due = _first_move_ms(state, passed_ms) if state.turn == mark else None
    if not seat.online and not (state.event and due is not None):
        if state.status != "playing" or not isinstance(seat.hold_ms, int):
            return say("player absent")
        left = round(seat.hold_ms - passed_ms)
        return say("player held until", time=format_duration(left)) if left > 0 else say("player gone too long")
    if due is not None:
        return say("player first move", time=format_duration(due))
    return say("player computer", level=describe_level(seat.bot)) if seat.bot else ""


def _first_move_ms(state: RoomState, passed_ms: float) -> int | None:
    """Return the remaining time for a first move, or None if no first move is due.

    Outside tournaments, this time does not run while the player is disconnected and the seat is held.
    """
    clock, seat = state.clock, state.seats.get(state.turn or "")
    if clock is None or seat is None or not isinstance(clock.start_ms, int):
        return None
    is_held = not state.event and isinstance(seat.hold_ms, int) and seat.hold_ms > passed_ms
    return clock.start_ms if is_held else max(0, round(clock.start_ms - passed_ms))


def describe_banner(state: RoomState, view: View) -> str:
    """Return a sentence about the room or the connection if there is a problem, or ""."""
    if view.ended in ("replaced", "card"):
        return say("taken over by card" if view.ended == "card" else "taken over")
    if view.ended:
        reason = clean_text(view.reason).rstrip(".")
        return say("room closed", room=state.room, reason=reason) if view.ended == "closed" else reason
    if view.is_offline:
        return describe_loss(view.again_seconds, view.held_ms)
    return describe_unanswered(state.room, view.unanswered) if view.unanswered else ""


def describe_unanswered(room: str, there: Unanswered) -> str:
    """Return sentences about a server that does not answer, and about what is being done."""
    told = say("unanswered", room=room, url=clean_text(there.url))
    then = clean_text(there.why) if there.step == "refused" else say("unanswered asked") if there.step else ""
    return f"{told} {then}".strip()


def describe_loss(again_seconds: int | None, held_ms: int = 0) -> str:
    """Return sentences about a lost connection, the next attempt to connect, and how long the seat is held.

    Args:
        again_seconds: The time until the next attempt, 0 if it is being made now, or None to leave it out.
        held_ms: How long the seat is still held, or 0 to leave it out.
    """
    again = say("banner lost again", seconds=again_seconds) if again_seconds else say("banner lost now")
    held = say("banner lost seat", time=format_duration(held_ms)) if held_ms > 0 else ""
    return " ".join(filter(None, (say("banner lost"), "" if again_seconds is None else again, held)))


def list_questions(state: RoomState, may: Choices, view: View) -> list[Asked]:
    """Return the open questions; the question whether to confirm a deed comes first."""
    if view.ended or view.is_offline:
        return []
    deed, found = may.find(view.confirming) if view.confirming else None, []
    if deed is not None and deed.id == "leave" and state.counts_days and state.status != "over":
        is_alone = sum(seat is not None for seat in state.seats.values()) == 1
        give_up = say("deed resign" if may.find("resign") else "day close" if is_alone else "deed leave")
        later = Answer("confirm", say("day later"), is_main=True)
        found.append(Asked("confirm", say("day leave"), (later, Answer("give up", give_up))))
    elif deed is not None and deed.cost:
        is_abort = deed.id == "resign" and deed.cost == "abort"
        text = say("ask abort" if is_abort else "ask resign" if deed.id == "resign" else f"ask leave and {deed.cost}")
        yes = Answer("confirm", describe_deed(deed, state), is_main=True)
        found.append(Asked("confirm", text, (yes, Answer("play on", say("key play on")))))
    for one in may.questions:
        answers = (
            Answer(deed.name, describe_deed(deed, state), is_main=not index and deed.id != "choose")
            for index, deed in enumerate(one.deeds)
        )
        found.append(Asked(one.id, describe_question(one, state), tuple(answers)))
    return found
