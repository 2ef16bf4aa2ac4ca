"""What a player in a room can do: possible actions, open questions, and why other actions are impossible. Pure.

Every client displays these choices. The server checks each request all the same, and refuses it with the same
sentences. In every function, `viewer` is the public id of the player who reads the text, or "".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from tictactoe_engine.opening import choices_of
from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.happened import taken_back_by
from tictactoe_words.telling import describe_take_back
from tictactoe_words.wording import format_duration, join_words, name_of, seat_of

Cost = Literal["", "abort", "lose"]
QuestionKind = Literal[
    "choose", "draw", "undo", "rematch", "own draw", "own undo", "own rematch", "claim", "absent", "deserted"
]

_ANSWER_FIRST: Final = {"draw": "why answer draw", "undo": "refused not_allowed answer"}


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that is possible now.

    Attributes:
        id: The id of the action, such as ``draw``.
        argument: The variant of the action, such as ``offer``, or "".
        cost: What it does to the viewer's game: ``abort``, ``lose`` or "".
    """

    id: str
    argument: str = ""
    cost: Cost = ""

    @property
    def name(self) -> str:
        """The id and argument: ``draw offer``, ``resign``."""
        return f"{self.id} {self.argument}" if self.argument else self.id

    @property
    def label(self) -> str:
        """The id of the action's label in the catalogue: ``deed draw offer``."""
        return "deed abort" if self.id == "resign" and self.cost == "abort" else f"deed {self.name}"


@dataclass(frozen=True, slots=True)
class Question:
    """An open question to the viewer or from the viewer, or a notice about absent opponents.

    Attributes:
        marks: The marks of the players who ask, are absent or have left.
        deeds: The possible answers; the first one is yes.
        left_ms: For ``absent``, how long the seat is still held.
    """

    id: QuestionKind
    marks: tuple[str, ...]
    deeds: tuple[Deed, ...] = ()
    left_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of the viewer.

    Attributes:
        deeds: The possible actions, in display order.
        questions: The open questions.
        reasons: For each impossible action, by name, the id of the sentence that explains why.
    """

    deeds: tuple[Deed, ...]
    questions: tuple[Question, ...]
    reasons: dict[str, str]

    def find(self, name: str) -> Deed | None:
        """Return the possible action with this name or id, or None."""
        id, _, argument = name.partition(" ")
        return next((deed for deed in self.deeds if deed.id == id and argument in ("", deed.argument)), None)

    def may(self, name: str) -> bool:
        return self.find(name) is not None

    def find_reason(self, name: str) -> str | None:
        """Return the id of the sentence that explains why an action is impossible, or None if it is possible."""
        if self.may(name):
            return None
        return next((why for other, why in self.reasons.items() if name in (other, other.partition(" ")[0])), None)


def choices(
    state: RoomState,
    viewer: str,
    moves: Sequence[int] | None,
    now_ms: float = 0,
    *,
    is_online: bool = True,
    chat: str | UnsetType = UNSET,
    has_challenges: bool = True,
    has_sharing: bool = True,
) -> Choices:
    """Return the choices of the viewer.

    Args:
        moves: The cells played in the game, or None if they are unknown.
        now_ms: The time since the state arrived.
        is_online: Whether the client is connected to the server.
        chat: The `chat` in the server's `Welcome`.
        has_challenges: Whether the server has challenges.
        has_sharing: Whether games can be shared on the server.
    """
    held = absent_opponents(state, viewer)
    gone = tuple(mark for mark, hold_ms in held.items() if hold_ms <= now_ms)
    absent = {mark: round(hold_ms - now_ms) for mark, hold_ms in held.items() if hold_ms > now_ms}
    why = _list_reasons(state, viewer, moves, gone, is_online=is_online)
    if chat == "off":
        why["chat"] = "refused not_allowed chat off"
    if not has_challenges and why.get("challenge") == "":
        why["challenge"] = "why no challenges"
    if not has_sharing:
        why["share"] = why["share"] or "refused not_allowed share"
    cost = cost_of_going(state, viewer)
    deeds = {}
    for name in (name for name, reason in why.items() if not reason):
        id, _, argument = name.partition(" ")
        deeds[name] = Deed(id, argument, cost if id in ("resign", "leave") else "")
    questions = tuple(_list_questions(state, viewer, deeds, gone, absent))
    return Choices(tuple(deeds.values()), questions, {name: reason for name, reason in why.items() if reason})


def take_of(state: RoomState, way: str) -> str:
    """Return the `take` of a `Choose` request: the mark to move for ``stay``, the other one for ``swap``, or `way`."""
    other = next((mark for mark in state.seats if mark != state.turn), "")
    return {"stay": state.turn or "", "swap": other}.get(way, way)


def absent_opponents(state: RoomState, viewer: str) -> dict[str, int]:
    """Return the disconnected opponents in the viewer's running game: how long each seat is held, in ms by mark."""
    own = seat_of(state, viewer)
    seat = None if own is None else state.seats[own]
    if seat is None or seat.out or state.status != "playing":
        return {}
    others = ((mark, seat) for mark, seat in state.seats.items() if seat is not None and mark != own)
    gone = ((mark, seat.hold_ms) for mark, seat in others if not (seat.online or seat.left or seat.out))
    return {mark: hold_ms for mark, hold_ms in gone if isinstance(hold_ms, int)}


def cost_of_going(state: RoomState, viewer: str) -> Cost:
    """Return what leaving the room does to the viewer's game. A game of two players that has just begun is aborted."""
    own = seat_of(state, viewer)
    playing = [mark for mark, seat in state.seats.items() if seat is not None and not seat.out]
    if state.status != "playing" or own not in playing:
        return ""
    is_beginning = any(mark not in state.board for mark in playing)
    if state.rules.opening is not None:  # in an opening, the second player acts first by choosing
        is_beginning = not state.chosen
    return "abort" if is_beginning and len(playing) == 2 and not state.event else "lose"


def describe_reason(reason: str, state: RoomState) -> str:
    """Return the sentence for a reason in `Choices.reasons`."""
    left = [clean_text(seat.name) for seat in state.seats.values() if seat is not None and seat.left]
    if reason == "refused not_allowed deserted" and left:
        return say(reason, name=left[0])
    named = {"refused not_your_turn": state.turn, "refused not_allowed answer": state.offers.undo}
    options = ", ".join(state.opening.options) if state.opening else ""
    return say(reason, name=name_of(state, named.get(reason, state.offers.draw)), options=options)


def describe_question(question: Question, state: RoomState, moves: Sequence[int] | None) -> str:
    """Return a sentence about a question: ``bo offers a draw.``"""
    places: dict[str, Any] = {"n": len(question.marks), "mark": question.marks[0]}
    if question.id == "choose":
        other = next(mark for mark in state.seats if mark not in question.marks)
        id = f"waits choose {state.rules.opening}{' again' if state.chosen else ''}"
        return say(id, names=name_of(state, other), **places)
    places["names"] = join_words([name_of(state, mark) for mark in question.marks])
    if question.id in ("undo", "own undo"):
        places["moves"] = describe_take_back(state, question.marks[0], moves)
    if question.left_ms is not None:
        places["time"] = format_duration(question.left_ms)
    return say(f"waits {question.id}", **places)


def describe_deed(deed: Deed, state: RoomState) -> str:
    """Return the label of an action for a button or key. For a choice in an opening, the label states the effect."""
    if deed.id != "choose":
        return say(deed.label)
    take, marks = take_of(state, deed.argument), state.rules.marks
    if deed.argument == "more":
        return say(deed.label, other=name_of(state, next(mark for mark in marks if mark != state.turn)))
    if take == marks[state.ply % len(marks)]:
        return say(f"{deed.label}, and move", mark=take)
    return say(deed.label, mark=take, other=marks[state.ply % len(marks)])


def _list_left(state: RoomState) -> tuple[str, ...]:
    return tuple(mark for mark, seat in state.seats.items() if seat is not None and seat.left)


def _list_reasons(
    state: RoomState, viewer: str, moves: Sequence[int] | None, gone: Sequence[str], *, is_online: bool
) -> dict[str, str]:
    """Return the id of the reason why each action is impossible, or "" if it is possible, in display order."""
    own, over, waiting = seat_of(state, viewer), state.status == "over", state.status == "waiting"
    offline = "" if is_online else "why offline"
    to_play = "why watching" if own is None else _why_not_playing(state, own)
    in_game, not_over = to_play or offline, offline if over else "refused not_allowed playing"
    at_end = "why watching" if own is None else not_over
    active = sum(seat is not None and not seat.out for seat in state.seats.values())
    people = sum(seat is not None and not seat.is_server_bot for seat in state.seats.values())
    another = "private room" if state.visibility == "private" else "opponent"
    another = "game" if people < len(state.seats) and over else another
    no_turn = to_play or ("" if state.turn == own else "refused not_your_turn")
    kind = "event" if state.event else "rated" if state.rated else ""
    if kind:
        no_undo = f"refused not_allowed {kind} undo"
    elif len(state.seats) > 2:
        no_undo = "refused not_allowed undo"
    else:
        no_undo = _why_no_undo(state, own or "")
    is_early = bool(kind) and state.ply < EVENT_DRAW_PLY
    no_draw = f"refused not_allowed {kind} draw" if is_early else ""
    no_draw = "refused not_allowed draw" if active > 2 and not state.event else no_draw
    no_claim = in_game or ("refused not_allowed event claim" if state.event else "")
    no_claim = no_claim or ("" if gone else "refused not_allowed hold")
    shows_worth = over or state.analysis == "open" or (own is None and people < 2 and not state.event)
    return {
        **({"place": no_turn} if state.rules.opening is None else _why_no_act(state, no_turn, offline)),
        **_why_not_offered("draw", state.offers.draw, own, in_game, no_draw),
        **_why_not_offered("undo", state.offers.undo, own, in_game, no_undo),
        "resign": in_game,
        "claim win": no_claim,
        "claim draw": no_claim or ("refused not_allowed claim draw" if len(gone) + 1 < active else ""),
        **_why_no_rematch(state, own, at_end, kind),
        **({"challenge": at_end} if state.rated and len(state.seats) == 2 else {}),
        f"new {another}": at_end,
        "computer": "why watching" if own is None else offline if waiting else "why begun",
        "join": "why seated" if own is not None else offline if waiting else "why full",
        "review": "" if shows_worth else "why worth",
        "mistakes": "why worth" if not over else "why moves" if moves is None else "",
        "save": "why moves" if moves is None else "",
        "share": at_end,
        "chat": offline or ("refused not_allowed chat" if own is None and state.chat == "players" else ""),
        "copy": "",
        "leave": "",
    }


def _why_no_act(state: RoomState, not_now: str, offline: str) -> dict[str, str]:
    opening = state.opening or None
    if opening is None or not opening.options:
        return {"place": not_now, "choose": not_now or "refused not_allowed nothing to choose"}
    ways = ("swap", "stay", "more")[: len(opening.options)]
    return {"place": not_now or "refused choose_first", **{f"choose {way}": not_now or offline for way in ways}}


def _why_no_undo(state: RoomState, own: str) -> str:
    """Return the reason why no move can be taken back now in a game of two players, or ""."""
    if state.opening:
        return "refused not_allowed opening"
    if own not in state.board:
        return "refused not_allowed no move"
    rules, before = state.rules.to_rules(), state.ply - taken_back_by(state, own)
    choices = choices_of(rules.opening, rules.marks, state.chosen or ())
    return "refused not_allowed no move" if any(choice.ply > before for choice in choices) else ""


def _why_not_playing(state: RoomState, own: str) -> str:
    if state.status == "playing":
        seat = state.seats[own]
        return "why out" if seat is not None and seat.out else ""
    return "why not begun" if state.status == "waiting" else "refused game_over"


def _why_not_offered(kind: str, by: str | None, own: str | None, to_play: str, cannot: str) -> dict[str, str]:
    is_theirs = by not in (None, own)
    ask = "why own offer" if by is not None and by == own else _ANSWER_FIRST[kind] if is_theirs else cannot
    answer = to_play or ("" if is_theirs else f"refused no_offer {kind}")
    return {
        f"{kind} offer": to_play or ask,
        f"{kind} accept": answer,
        f"{kind} decline": answer,
        f"{kind} withdraw": to_play or ("" if by is not None and by == own else f"why not offered {kind}"),
    }


def _why_no_rematch(state: RoomState, own: str | None, at_end: str, kind: str) -> dict[str, str]:
    asked = state.offers.rematch
    ask = at_end or (f"refused not_allowed {kind} rematch" if kind else "")
    ask = ask or ("refused not_allowed deserted" if _list_left(state) else "why asked" if own in asked else "")
    return {
        "rematch ask": ask or ("why answer rematch" if asked else ""),
        "rematch accept": ask or ("" if asked else "why no rematch"),
    }


def _list_questions(
    state: RoomState, viewer: str, deeds: dict[str, Deed], gone: tuple[str, ...], absent: dict[str, int]
) -> Iterator[Question]:
    own = seat_of(state, viewer)
    if own is None:
        return

    def answers(*names: str) -> tuple[Deed, ...]:
        return tuple(deeds[name] for name in names if name in deeds)

    if ways := answers("choose swap", "choose stay", "choose more"):
        yield Question("choose", (own,), ways)
    if (by := state.offers.draw) == own:
        yield Question("own draw", (own,), answers("draw withdraw"))
    elif by is not None and "draw accept" in deeds:
        yield Question("draw", (by,), answers("draw accept", "draw decline"))
    if (by := state.offers.undo) == own:
        yield Question("own undo", (own,), answers("undo withdraw"))
    elif by is not None and "undo accept" in deeds:
        yield Question("undo", (by,), answers("undo accept", "undo decline"))
    left, asked = _list_left(state), state.offers.rematch
    if left and state.status == "over":
        yield Question("deserted", left)
    elif own in asked:
        yield Question("own rematch", (own,))
    elif accept := answers("rematch accept"):
        yield Question("rematch", asked, accept)
    if gone and not state.event:
        yield Question("claim", gone, answers("claim win", "claim draw"))
    if absent:
        yield Question("absent", tuple(absent), left_ms=min(absent.values()))
