"""What somebody in a room may do now, what waits for an answer, and why the rest cannot be done: once for every face.

Pure. What the server would refuse is refused here in the same sentence. Bindings, hints, banners, help, buttons and
refusals of the faces are loops over what stands here; the server decides nevertheless. A *viewer* is the public id of
whoever looks on, empty for nobody in particular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from tictactoe_engine.opening import choices_of
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.happened import taken_back_by
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import describe_take_back
from tictactoe_protocol.text import clean_text
from tictactoe_protocol.wording import format_duration, join_words, name_of, seat_of

Cost = Literal["", "abort", "lose"]
QuestionKind = Literal[
    "choose", "draw", "undo", "rematch", "own draw", "own undo", "own rematch", "claim", "absent", "deserted"
]

_ANSWER_FIRST: Final = {"draw": "why answer draw", "undo": "refused not_allowed answer"}


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that may be done now: what, in which way, and what becomes of the viewer's game by it."""

    id: str
    argument: str = ""
    cost: Cost = ""

    @property
    def name(self) -> str:
        """What it is called in code: ``draw offer``, ``resign``."""
        return f"{self.id} {self.argument}" if self.argument else self.id

    @property
    def label(self) -> str:
        """The id of the words on a button or beside a key: ``deed draw offer``."""
        return "deed abort" if self.id == "resign" and self.cost == "abort" else f"deed {self.name}"


@dataclass(frozen=True, slots=True)
class Question:
    """Something that waits: for the viewer's answer, for that of others to what the viewer asked, or for an absent one.

    `marks` are who asked, who is away or who has left; `deeds` answer it, the first with yes. `left_ms` is for how long
    the seat of one who is ``absent`` is still held.
    """

    id: QuestionKind
    marks: tuple[str, ...]
    deeds: tuple[Deed, ...] = ()
    left_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be done now, in the order in which it is shown, what waits, and by the names of the others why not."""

    deeds: tuple[Deed, ...]
    questions: tuple[Question, ...]
    reasons: dict[str, str]

    def find(self, name: str) -> Deed | None:
        """Return the deed of this name, or the first of this kind where `name` is a kind; None where there is none."""
        id, _, argument = name.partition(" ")
        return next((deed for deed in self.deeds if deed.id == id and argument in ("", deed.argument)), None)

    def may(self, name: str) -> bool:
        """Tell whether this can be done now."""
        return self.find(name) is not None

    def find_reason(self, name: str) -> str | None:
        """Return the id of the sentence that says why this cannot be done now; None where it can."""
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
    """Return what the viewer may do.

    Args:
        moves: The moves of the game, None if they are unknown.
        now_ms: The time since the state arrived.
        chat: The `chat` of the server's welcome.
        has_challenges: Whether the server has challenges.
        has_sharing: Whether games can be shared there.
    """
    away = _find_away(state, viewer, now_ms)
    why = _list_reasons(state, viewer, moves, away, is_online=is_online)
    if chat == "off":
        why["chat"] = "refused not_allowed chat off"
    if not has_challenges and why.get("challenge") == "":
        why["challenge"] = "why no challenges"
    if not has_sharing:
        why["share"] = why["share"] or "why no share"
    cost = cost_of_going(state, viewer)
    deeds = {name: _deed(name, cost) for name, reason in why.items() if not reason}
    questions = tuple(_list_questions(state, viewer, deeds, away))
    return Choices(tuple(deeds.values()), questions, {name: reason for name, reason in why.items() if reason})


def take_of(state: RoomState, way: str) -> str:
    """Return what is taken on the wire: the mark of who is to choose for ``stay``, the other one for ``swap``."""
    other = next((mark for mark in state.seats if mark != state.turn), "")
    return {"stay": state.turn or "", "swap": other}.get(way, way)


def absent_opponents(state: RoomState, viewer: str) -> dict[str, int]:
    """Return the marks of opponents who dropped from the viewer's running game, and the ms that each seat is held."""
    own = seat_of(state, viewer)
    seat = None if own is None else state.seats[own]
    if seat is None or seat.out or state.status != "playing":
        return {}
    others = ((mark, seat) for mark, seat in state.seats.items() if seat is not None and mark != own)
    gone = ((mark, seat.hold_ms) for mark, seat in others if not (seat.online or seat.left or seat.out))
    return {mark: hold_ms for mark, hold_ms in gone if isinstance(hold_ms, int)}


def cost_of_going(state: RoomState, viewer: str) -> Cost:
    """Return what leaving does to the viewer's game: a game of two that has just begun is aborted."""
    own = seat_of(state, viewer)
    playing = [mark for mark, seat in state.seats.items() if seat is not None and not seat.out]
    if state.status != "playing" or own not in playing:
        return ""
    is_beginning = any(mark not in state.board for mark in playing)
    if state.rules.opening is not None:  # whose first choice is the second player's first act
        is_beginning = not state.chosen
    return "abort" if is_beginning and len(playing) == 2 and not state.event else "lose"


def describe_reason(reason: str, state: RoomState) -> str:
    """Return the sentence for a reason of `Choices`."""
    left = [clean_text(seat.name) for seat in state.seats.values() if seat is not None and seat.left]
    if reason == "refused not_allowed deserted" and left:
        return say(reason, name=left[0])
    named = {"refused not_your_turn": state.turn, "refused not_allowed answer": state.offers.undo}
    options = ", ".join(state.opening.options) if state.opening else ""
    return say(reason, name=name_of(state, named.get(reason, state.offers.draw)), options=options)


def describe_question(question: Question, state: RoomState, moves: Sequence[int] | None) -> str:
    """Return what waits in a sentence, without how it is answered: ``bo offers a draw.``"""
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
    """Return the words on a button or beside a key; those of an answer in an opening say what comes of it."""
    if deed.id != "choose":
        return say(deed.label)
    take, marks = take_of(state, deed.argument), state.rules.marks
    if deed.argument == "more":
        return say(deed.label, other=name_of(state, next(mark for mark in marks if mark != state.turn)))
    if take == marks[state.ply % len(marks)]:
        return say(f"{deed.label}, and move", mark=take)
    return say(deed.label, mark=take, other=marks[state.ply % len(marks)])


@dataclass(frozen=True, slots=True)
class _Away:
    """Who is not there: opponents who are `gone` for as long as a seat is held, the `absent` with the ms until then.

    `left` have left the room.
    """

    gone: tuple[str, ...]
    absent: dict[str, int]
    left: tuple[str, ...]


def _find_away(state: RoomState, viewer: str, now_ms: float) -> _Away:
    held = absent_opponents(state, viewer)
    gone = tuple(mark for mark, hold_ms in held.items() if hold_ms <= now_ms)
    absent = {mark: round(hold_ms - now_ms) for mark, hold_ms in held.items() if hold_ms > now_ms}
    return _Away(gone, absent, tuple(mark for mark, seat in state.seats.items() if seat is not None and seat.left))


def _deed(name: str, cost: Cost) -> Deed:
    id, _, argument = name.partition(" ")
    return Deed(id, argument, cost if id in ("resign", "leave") else "")


def _list_reasons(
    state: RoomState,
    viewer: str,
    moves: Sequence[int] | None,
    away: _Away,
    *,
    is_online: bool,
) -> dict[str, str]:
    """Return by the names of all deeds, in the order in which they are shown, why each cannot be done; "" if it can."""
    own, over, waiting = seat_of(state, viewer), state.status == "over", state.status == "waiting"
    offline = "" if is_online else "why offline"
    to_play = "why watching" if own is None else _why_not_playing(state, own)
    in_game, not_over = to_play or offline, offline if over else "refused not_allowed playing"
    at_end = "why watching" if own is None else not_over
    active = sum(1 for seat in state.seats.values() if seat is not None and not seat.out)
    people = sum(1 for seat in state.seats.values() if seat is not None and not seat.is_server_bot)
    another = "private room" if state.visibility == "private" else "opponent"
    another = "game" if people < len(state.seats) and over else another
    no_turn = to_play or ("" if state.turn == own else "refused not_your_turn")
    no_undo = "" if own is not None and own in state.board else "refused not_allowed no move"
    if state.rules.opening is not None:
        no_undo = _why_no_undo(state, no_undo, own or "")
    no_undo = "refused not_allowed undo" if len(state.seats) > 2 else no_undo
    no_draw = "refused not_allowed draw" if active > 2 else ""
    no_claim = in_game or ("" if away.gone else "refused not_allowed hold")
    shows_worth = over or state.analysis == "open" or (own is None and people < 2 and not state.event)
    if state.event:
        no_undo, no_claim = "refused not_allowed event undo", in_game or "refused not_allowed event claim"
        no_draw = "refused not_allowed event draw" if state.ply < EVENT_DRAW_PLY else ""
    elif state.rated:
        no_undo = "refused not_allowed rated undo"
        no_draw = no_draw or ("refused not_allowed rated draw" if state.ply < EVENT_DRAW_PLY else "")
    return {
        **({"place": no_turn} if state.rules.opening is None else _why_no_act(state, no_turn, offline)),
        **_why_not_offered("draw", state.offers.draw, own, in_game, no_draw),
        **_why_not_offered("undo", state.offers.undo, own, in_game, no_undo),
        "resign": in_game,
        "claim win": no_claim,
        "claim draw": no_claim or ("refused not_allowed claim draw" if len(away.gone) + 1 < active else ""),
        **_why_no_rematch(state, own, at_end, is_deserted=bool(away.left)),
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
    """Return why nothing is placed, and why nothing is chosen, in a game with an opening; "" for what can be done."""
    opening = state.opening or None
    if opening is None or not opening.options:
        return {"place": not_now, "choose": not_now or "refused not_allowed nothing to choose"}
    ways = ("swap", "stay", "more")[: len(opening.options)]
    return {"place": not_now or "refused choose_first", **{f"choose {way}": not_now or offline for way in ways}}


def _why_no_undo(state: RoomState, no_move: str, own: str) -> str:
    """Return why a move of a game with an opening cannot be taken back, as `no_move` says it, "" where it can."""
    if state.opening or no_move:
        return "refused not_allowed opening" if state.opening else no_move
    rules = state.rules.to_rules()
    choices = choices_of(rules.opening, rules.marks, state.chosen or ())
    before = state.ply - taken_back_by(state, own)
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


def _why_no_rematch(state: RoomState, own: str | None, at_end: str, *, is_deserted: bool) -> dict[str, str]:
    asked = state.offers.rematch
    kind = "event" if state.event else "rated" if state.rated else ""
    at_end = at_end or (f"refused not_allowed {kind} rematch" if kind else "")
    ask = at_end or ("refused not_allowed deserted" if is_deserted else "why asked" if own in asked else "")
    return {
        "rematch ask": ask or ("why answer rematch" if asked else ""),
        "rematch accept": ask or ("" if asked else "why no rematch"),
    }


def _list_questions(state: RoomState, viewer: str, deeds: dict[str, Deed], away: _Away) -> list[Question]:
    own = seat_of(state, viewer)
    found: list[Question] = []
    if own is None:
        return found
    if asked := tuple(deed for deed in deeds.values() if deed.id == "choose"):
        found.append(Question("choose", (own,), asked))
    offers: tuple[tuple[QuestionKind, QuestionKind, str | None], ...] = (
        ("draw", "own draw", state.offers.draw),
        ("undo", "own undo", state.offers.undo),
    )
    for kind, own_kind, by in offers:
        if f"{kind} accept" in deeds and by is not None:
            found.append(Question(kind, (by,), (deeds[f"{kind} accept"], deeds[f"{kind} decline"])))
        elif by == own:
            found.append(Question(own_kind, (own,), tuple(filter(None, [deeds.get(f"{kind} withdraw")]))))
    if away.left and state.status == "over":
        found.append(Question("deserted", away.left))
    elif own in state.offers.rematch:
        found.append(Question("own rematch", (own,)))
    elif "rematch accept" in deeds:
        found.append(Question("rematch", state.offers.rematch, (deeds["rematch accept"],)))
    if away.gone and not state.event:
        claims = (deeds.get("claim win"), deeds.get("claim draw"))
        found.append(Question("claim", away.gone, tuple(deed for deed in claims if deed is not None)))
    if away.absent:
        found.append(Question("absent", tuple(away.absent), left_ms=min(away.absent.values())))
    return found
