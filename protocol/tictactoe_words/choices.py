"""What a player in a room can do: possible actions, open questions, and why other actions are impossible. Pure.

The server lists the possible requests in `may` of the state; the actions of the client itself, such as a review, are
added here. In every function, `viewer` is the public id of the player who reads the text, or "".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import UNSET

from tictactoe_protocol.pushes import RoomState, Welcome
from tictactoe_words.catalogue import say
from tictactoe_words.telling import describe_take_back
from tictactoe_words.wording import format_duration, join_words, name_of, seat_of

Cost = Literal["", "abort", "lose"]
QuestionKind = Literal[
    "choose", "draw", "undo", "rematch", "own draw", "own undo", "own rematch", "claim", "absent", "deserted"
]


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
        if self.id in ("resign", "claim") and self.cost == "abort":
            return "deed abort"
        return f"deed {self.argument if self.argument in ('accept', 'decline', 'withdraw') else self.name}"


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
        reasons: The id of the sentence that explains why an action is impossible, by the id of the action. Without an
            entry, the server explains it when asked.
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
        """Return the id of the sentence that explains why an action is impossible, or None if there is none."""
        if self.may(name):
            return None
        kind, _, action = name.partition(" ")
        return self.reasons.get(kind, f"not offered {kind}" if action == "withdraw" else None)


def choices(
    state: RoomState,
    viewer: str,
    now_ms: float = 0,
    *,
    is_online: bool = True,
    welcome: Welcome | None = None,
) -> Choices:
    """Return the choices of the viewer.

    Args:
        now_ms: The time since the state arrived.
        is_online: Whether the client is connected to the server.
        welcome: Says what the server offers, by default everything.
    """
    own = seat_of(state, viewer)
    why = _list_reasons(state, own, is_online=is_online)
    if welcome is not None:
        if welcome.chat == "off":
            why["chat"] = "refused not_allowed chat off"
        why["challenge"] = why["challenge"] or ("why no challenges" if welcome.challenges is UNSET else "")
        why["share"] = why["share"] or ("" if welcome.sharing else "refused not_allowed share")
    listed = state.may.get(own or "", ())
    deeds = [deed for name in listed if is_online or name == "move" for deed in _list_deeds(state, own, name)]
    deeds += [Deed(id, _kind_of_new(state) if id == "new" else "") for id in _list_own(state) if not why.get(id)]
    deeds.append(Deed("leave", cost=next((_cost(name) for name in listed if name.startswith("leave")), "")))
    questions = () if own is None else tuple(_list_questions(state, viewer, own, deeds, now_ms))
    return Choices(tuple(deeds), questions, {id: reason for id, reason in why.items() if reason})


def _list_deeds(state: RoomState, own: str | None, name: str) -> list[Deed]:
    """Return the actions for a request in `may`."""
    id, _, argument = name.partition(" ")
    offered_by = {"draw": state.offers.draw, "undo": state.offers.undo}.get(id)
    match id, argument:
        case "move", _:
            return [Deed("place")]
        case "choose", _:
            options = state.opening.options if state.opening else ()
            return [Deed("choose", way) for way in ("swap", "stay", "more")[: len(options)]]
        case "resign", _:
            return [Deed("resign", cost=_cost(name) or "lose")]
        case "rematch", _:
            return [Deed("rematch", "accept" if state.offers.rematch else "ask")]
        case "draw" | "undo", "offer" if offered_by is not None:
            return []  # the offer is answered instead
        case "draw" | "undo", "decline" if offered_by == own:
            return [Deed(id, "withdraw")]
        case "claim", _ if "resign abort" in state.may[own or ""]:
            return [Deed("claim", "win", "abort")] if argument == "win" else []  # a claim of either aborts the game
        case (("draw" | "undo" | "claim"), _):
            return [Deed(id, argument)]
    return []


def _cost(name: str) -> Cost:
    return "abort" if name.endswith(" abort") else "lose" if name.endswith(" lose") else ""


def _list_own(state: RoomState) -> list[str]:
    """Return the ids of the actions that are not requests of a seat, in display order."""
    challenge = ["challenge"] if state.rated and len(state.seats) == 2 else []
    return [*challenge, "new", "computer", "join", "review", "mistakes", "save", "share", "chat", "copy"]


def _kind_of_new(state: RoomState) -> str:
    people = sum(seat is not None and not seat.is_server_bot for seat in state.seats.values())
    if people < len(state.seats) and state.status == "over":
        return "game"
    return "private room" if state.visibility == "private" else "opponent"


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


def describe_reason(reason: str, state: RoomState) -> str:
    """Return the sentence for a reason in `Choices.reasons`."""
    named = {"refused not_your_turn": state.turn, "refused not_allowed answer": state.offers.undo}
    options = ", ".join(state.opening.options) if state.opening else ""
    return say(reason, name=name_of(state, named.get(reason, state.offers.draw)), options=options)


def describe_question(question: Question, state: RoomState) -> str:
    """Return a sentence about a question: ``bo offers a draw.``"""
    places: dict[str, Any] = {"n": len(question.marks), "mark": question.marks[0]}
    if question.id == "choose":
        other = next(mark for mark in state.seats if mark not in question.marks)
        id = f"waits choose {state.rules.opening}{' again' if state.chosen else ''}"
        return say(id, names=name_of(state, other), **places)
    places["name"] = places["names"] = join_words([name_of(state, mark) for mark in question.marks])
    if question.id in ("undo", "own undo"):
        places["moves"] = describe_take_back(state, question.marks[0])
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


def _list_reasons(state: RoomState, own: str | None, *, is_online: bool) -> dict[str, str]:
    """Return the id of the reason why each action is impossible, or "" if the client knows no reason.

    The server explains why a request that is not in `may` is refused.
    """
    over, waiting, offline = state.status == "over", state.status == "waiting", "" if is_online else "why offline"
    not_playing = "why watching" if own is None else _why_not_playing(state, own)
    to_play = not_playing or offline
    no_turn = not_playing or ("" if state.turn == own else "refused not_your_turn")
    is_to_choose = bool(state.opening and state.opening.options)
    at_end = "why watching" if own is None else offline if over else "refused not_allowed playing"
    people = sum(seat is not None and not seat.is_server_bot for seat in state.seats.values())
    shows_worth = over or state.analysis == "open" or (own is None and people < 2 and not state.event)
    return {
        "place": no_turn or ("refused choose_first" if is_to_choose else ""),
        "choose": no_turn or (offline if is_to_choose else "refused not_allowed nothing to choose"),
        "draw": to_play or _why_not_offered("why answer draw", state.offers.draw, own),
        "undo": to_play or _why_not_offered("refused not_allowed answer", state.offers.undo, own),
        "resign": to_play,
        "claim": to_play,
        "rematch": at_end or ("why asked" if own in state.offers.rematch else ""),
        "challenge": at_end,
        "new": at_end,
        "computer": "why watching" if own is None else offline if waiting else "why begun",
        "join": "why seated" if own is not None else offline if waiting else "why full",
        "review": "" if shows_worth else "why worth",
        "mistakes": "" if over else "why worth",
        "share": at_end,
        "chat": offline or ("refused not_allowed chat" if own is None and state.chat == "players" else ""),
    }


def _why_not_playing(state: RoomState, own: str) -> str:
    if state.status == "playing":
        seat = state.seats[own]
        return "why out" if seat is not None and seat.out else ""
    return "why not begun" if state.status == "waiting" else "refused game_over"


def _why_not_offered(answer_first: str, by: str | None, own: str | None) -> str:
    return "" if by is None else "why own offer" if by == own else answer_first


def _list_questions(state: RoomState, viewer: str, own: str, deeds: list[Deed], now_ms: float) -> Iterator[Question]:
    def answers(*names: str) -> tuple[Deed, ...]:
        return tuple(deed for deed in deeds if deed.name in names)

    if state.opening and (ways := answers("choose swap", "choose stay", "choose more")):
        yield Question("choose", (own,), ways)
    offers: tuple[tuple[Literal["draw", "undo"], str | None], ...] = (
        ("draw", state.offers.draw),
        ("undo", state.offers.undo),
    )
    for kind, by in offers:
        if by == own:
            yield Question("own draw" if kind == "draw" else "own undo", (own,), answers(f"{kind} withdraw"))
        elif by is not None and answers(f"{kind} accept"):
            yield Question(kind, (by,), answers(f"{kind} accept", f"{kind} decline"))
    left = tuple(mark for mark, seat in state.seats.items() if seat is not None and seat.left)
    if left and state.status == "over":
        yield Question("deserted", left)
    elif own in state.offers.rematch:
        yield Question("own rematch", (own,))
    elif state.offers.rematch and (accept := answers("rematch accept")):
        yield Question("rematch", state.offers.rematch, accept)
    held = {mark: round(hold_ms - now_ms) for mark, hold_ms in absent_opponents(state, viewer).items()}
    gone = tuple(mark for mark, left_ms in held.items() if left_ms <= 0)
    if gone and (claims := answers("claim win", "claim draw")):
        yield Question("claim", gone, claims)
    if absent := {mark: left_ms for mark, left_ms in held.items() if left_ms > 0}:
        yield Question("absent", tuple(absent), left_ms=min(absent.values()))
