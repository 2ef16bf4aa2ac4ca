"""The lines at the foot of a room: what waits for an answer, how the game ended, whose move it is, and the keys.

Long texts take more than one line where there are lines to be had, and are cut between words where there are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, Literal

from tictactoe_client.session import Session
from tictactoe_client.text.worth import compare_played, describe_cell_worth, describe_position
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Picture, Text, fold, measure
from tictactoe_client.tui.program import Program
from tictactoe_client.tui.room.keys import list_sides
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_client.tui.room.panel import describe_end
from tictactoe_engine import format_cell
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Question
from tictactoe_protocol.choices import describe_question as describe_waiting
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.commands import key_for, word_of
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import loser_of
from tictactoe_protocol.wording import count, describe_turn, format_duration, join_words, name_of

_NEARLY_TOO_LONG: Final = MAX_CHAT_LENGTH - 40
_OURS: Final = ("own draw", "own undo", "own rematch", "deserted")
"""Questions that wait for others."""


@dataclass(frozen=True, slots=True)
class Foot:
    """The lines above the keys, from the top: those of the banner, then those of the status; `beside` at its right.

    `notes` is how many of the notes have their place among them, `marked` what is marked in the last one, and where.
    """

    banner: tuple[Text, ...]
    status: tuple[Text, ...]
    beside: Text = ("", "")
    notes: int = 0
    marked: tuple[int, str] | None = None

    @property
    def height(self) -> int:
        """How many lines it takes; the banner keeps its line also when there is none."""
        return max(2, len(self.banner) + len(self.status))

    def draw(self, picture: Picture) -> None:
        bottom = picture.height - 1
        for y, line in enumerate((*self.banner, *self.status), bottom - len(self.banner) - len(self.status)):
            picture.put_parts(1, y, line)
        picture.put_right(bottom - 1, *self.beside)
        if self.marked is not None:
            picture.put(1 + self.marked[0], bottom - 1, self.marked[1], "chosen")


def arrange_foot(
    banner: Text | None,
    status: Text,
    width: int,
    rows: int,
    *,
    beside: Text = ("", ""),
    may_drop: bool = False,
    notes: Sequence[Text] = (),
    keeps: Literal["", "above", "below"] = "",
) -> Foot:
    """Return the lines for a foot of at most `rows` lines, two or more, with `beside` right of the status.

    The banner has the first claim to what is left over, as it is what waits for an answer. `may_drop` leaves `beside`
    out where the status has no room next to it. Then come `notes` as long as they find room. A status that `keeps` its
    place has them above it or below, the first one before the banner.
    """
    reserved = 1 if notes and keeps else 0
    room = rows - 1 - reserved
    upper = fold(banner[0], width, max(1, room)) if banner is not None and (room or not reserved) else []
    taken = measure(beside[0]) + 2 if beside[0] else 0
    if may_drop and measure(status[0]) > width - taken:
        beside, taken = ("", ""), 0
    lines = [(line, status[1]) for line in fold(status[0], width - taken, max(1, rows - len(upper) - reserved))]
    told: list[Text] = []
    placed = 0
    for text, role in notes:
        left = rows - len(upper) - len(lines) - len(told)
        if left < 1 or (told and len(fold(text, width - taken, left + 1)) > left):
            break
        told += [(line, role) for line in fold(text, width - taken, left)]
        placed += 1
    role = banner[1] if banner is not None else ""
    whole = [*told, *lines] if keeps == "above" else [*lines, *told]
    return Foot(tuple((line, role) for line in upper), tuple(whole), beside, placed)


class RoomFoot:
    """What stands below the board of one room."""

    def __init__(self, program: Program, model: RoomModel) -> None:
        self.program = program
        self.model = model
        self._opened_at = monotonic()

    def arrange(
        self, state: RoomState, status: Text | None, now: float, width: int, rows: int, heard: Sequence[str]
    ) -> Foot:
        """Return the lines above the keys, at most so many; `heard` is what was said and is not in sight elsewhere.

        What is typed and how the game ended are never covered by news, whose turn it is may be.
        """
        model, line, width = self.model, self.model.line, width - 2
        notes = [status] if status else [self._describe_turn(state, now, width - 2)] if model.record is not None else []
        notes += [(model.news.back, "good")] if model.news.back else []
        before = len(notes)
        notes += [(said, "title") for said in heard]
        shows_worth = model.review.is_on
        worth = fold(self._describe_worth(state), width, max(1, rows - 2)) if shows_worth else []
        beside, marked = ("", ""), None
        keeps: Literal["", "above", "below"] = ""
        if line.mode:
            length = len(line.value.strip())
            if line.mode == "chat" and length >= _NEARLY_TOO_LONG:
                beside = f"{length}/{MAX_CHAT_LENGTH}", "bad" if length > MAX_CHAT_LENGTH else "dim"
            typed, at, caret = line.lay_out(width - 1 - (measure(beside[0]) + 2 if beside[0] else 0))
            text, marked, keeps = (typed, "title"), (at, caret), "above"
        elif model.kind == "over" and not model.is_back:
            text, keeps = describe_end(model), "below"
        else:
            before -= 1 if notes else 0
            text, *notes = notes or [self._describe_turn(state, now, width - 2)]
            if model.typed or (model.plays and not model.is_to_choose):
                prompt = say("room move" if model.record is None else "room go to")
                beside = f"{prompt}: {model.typed}_", "title" if model.typed else "dim"
        foot = arrange_foot(
            *(self._banner(state, now, width, rows - len(worth)), text, width, rows - len(worth)),
            beside=beside,
            may_drop=not (model.typed or line.mode),
            notes=notes,
            keeps=keeps,
        )
        banner = (*(foot.banner or (("", ""),)), *((line, "title") for line in worth)) if worth else foot.banner
        return replace(foot, banner=banner, notes=max(0, foot.notes - before), marked=marked)

    def _banner(self, state: RoomState, now: float, width: int, rows: int) -> Text | None:
        model, keymap, session = self.model, self.program.keymap, self.program.session
        if model.record is not None:
            return None
        if model.question is not None:
            return describe_question(model, keymap), "bad"
        holds_seat = model.plays or state.status == "waiting"
        if lost := connection_banner(session, now, width=width, holds_seat=holds_seat):
            return lost
        if self.program.ways_in.waits_for:
            return f"{self.program.ways_in.waits_for}…   {keymap.show('back')} {say('key to home')}", "warn"
        asked = waiting_banner(model, keymap)
        if asked is not None and model.is_to_choose and len(fold(asked[0], width, rows)) >= rows:
            return list_sides(model, keymap), "warn"  # the line below says what that is
        return asked

    def _describe_worth(self, state: RoomState) -> str:
        """Return what the moment that is looked at is worth, and the cell that is pointed at."""
        model, analysis = self.model, self.model.review.analysis
        if analysis is None:
            if model.review.is_waiting:
                return say("worth comes")
            back = self.program.keymap.show("left")
            return "" if state.result is None else say("worth goes back", key=back)
        told = [describe_position(analysis, model.rules)]
        if model.cursor is not None:
            told.append(f"{describe_cell_worth(model.cursor, analysis, model.rules)}.")
        elif len(line := model.review.better.get(state.ply, ())) > 1:
            told.append(say("worth better", cells=", ".join(format_cell(cell, model.rules) for cell in line)))
        return "   ".join(told)

    def _describe_turn(self, state: RoomState, now: float, width: int) -> Text:
        """Return what stands there while there is no other news, for the moment that is looked at."""
        model, timeline, analysis, compared = self.model, self.model.actions.timeline, self.model.review.analysis, ""
        if timeline.played_next is not None and model.review.is_on and analysis is not None:
            compared = compare_played(timeline.played_next, analysis, model.rules)
        if model.record is not None:
            return (compared, "warn") if compared else (model.actions.describe_moment(model.room.state)[0], "title")
        if timeline.is_back:
            fresh = f"({count(timeline.unseen, 'new move')})" if timeline.unseen else ""
            chose = model.actions.describe_moment(state)[1:] if state.chosen else []
            told = "   ".join(filter(None, (say("room looking back", n=state.ply), *chose, compared, fresh)))
            return (compared if compared and measure(told) > width else told), "warn"
        if state.status == "waiting":
            free, waited = sum(seat is None for seat in state.seats.values()), round((now - self._opened_at) * 1000)
            return say("room waits", n=free, time=format_duration(waited)), ""
        if model.room.is_my_turn and model.pending is not None:
            return say("room sending"), "title"
        start = model.start_ms(now)
        first = "" if start is None else f"   {say('room first move', time=format_duration(start))}"
        if state.opening:
            return f"{describe_turn(state, model.room.viewer)}{first}", "title" if model.room.is_my_turn else ""
        if model.own and model.room.is_my_turn:
            return f"{say('room your move', mark=state.turn)}{first}", "title"
        if state.turn is None:
            return describe_turn(state, model.room.viewer), ""
        id = "room out" if model.seat is not None and not model.plays else "room move of"
        return f"{say(id, name=name_of(state, state.turn), mark=state.turn)}{first}", "dim" if id == "room out" else ""


def describe_question(model: RoomModel, keymap: Keymap) -> str:
    """Return what is asked before a game is given up, with the keys that answer; empty where nothing is."""
    if model.question is None:
        return ""
    asked = say("ask resign" if model.question[0] == "resign" else f"ask leave and {model.cost or 'lose'}")
    return f"{asked}   {keymap.show('confirm')} {say('key yes')}   {keymap.show('back')} {say('key play on')}"


def connection_banner(session: Session, now: float, *, width: int, holds_seat: bool) -> Text | None:
    """Return what to say while the connection is lost, in fewer words where the width wants it, else None.

    With `holds_seat` it says for how long the seat is kept.
    """
    if session.phase != "away" or session.retrying is None:
        is_returning = session.phase == "connecting" and session.client is not None
        return (say("banner connecting"), "warn") if is_returning else None
    seconds = max(0, math.ceil(session.retries_at - now))
    lost, short, number = say("banner lost"), say("banner lost short"), session.retrying.attempt
    trying = say("banner lost again", seconds=seconds) if seconds else say("banner lost now")
    attempt = say("banner lost attempt", seconds=seconds, number=number) if seconds else trying
    is_held = holds_seat and session.held_until > now
    time = format_duration(round((session.held_until - now) * 1000))
    kept, held = (f" {say(id, time=time)}" if is_held else "" for id in ("banner lost seat", "banner lost held"))
    ways = (f"{lost} {attempt}{kept}", f"{lost} {trying}{kept}", f"{short} {trying}{held}", f"{short}{held}")
    return f"╳ {next((text for text in ways if measure(text) + 2 <= width), ways[-1])}", "bad"


def waiting_banner(model: RoomModel, keymap: Keymap) -> Text | None:
    """Return the first question that waits for the viewer or for others, with the keys that answer it, else None."""
    state = model.room.state
    if not model.choices.questions:
        return None
    question = model.choices.questions[0]
    loser = None if model.ending is None else model.ending.seats.get(loser_of(model.ending) or "")
    if question.id == "deserted" and loser is not None and loser.left:
        return None  # the line below says so
    told, deeds = describe_waiting(question, state, model.room.moves), _list_answers(question, model, keymap)
    if question.id == "absent":
        if model.actions.unblamed.issuperset(question.marks):
            names = join_words([name_of(state, mark) for mark in question.marks])
            told = say(
                "banner unblamed", names=names, n=len(question.marks), time=format_duration(question.left_ms or 0)
            )
        deeds = [say("banner nothing to do")]
    elif question.id == "claim":
        deeds.append(say("banner or wait"))
    return "   ".join([told, *deeds]), "dim" if question.id in _OURS else "warn"


def _list_answers(question: Question, model: RoomModel, keymap: Keymap) -> list[str]:
    """Return how a question is answered; by words where the keys are wanted for a move of ours."""
    deeds = list(question.deeds)
    if question.id == "deserted" and model.again is not None and (another := model.choices.find("new")) is not None:
        deeds = [another]
    if question.id == "claim" and model.room.is_my_turn:
        return [f"{keymap.show('command')}{word_of(deed.id)} {word_of(f'way {deed.argument}')}" for deed in deeds]
    ways = [f"{keymap.show(key_for(deed))} {say(deed.label)}" for deed in deeds]
    leaves = {"own rematch": "deed leave", "deserted": model.way_back}.get(question.id)
    return [*ways, f"{keymap.show('back')} {say(leaves)}"] if leaves else ways
