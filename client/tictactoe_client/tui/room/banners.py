"""What waits above the foot of a room: a lost connection, a question, an offer, somebody who is away."""

from __future__ import annotations

import math
from typing import Final

from tictactoe_client.session import Session
from tictactoe_client.text.language import word_of
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Text, measure
from tictactoe_client.tui.room.keys import action_of
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Question
from tictactoe_protocol.choices import describe_question as describe_waiting
from tictactoe_protocol.telling import loser_of
from tictactoe_protocol.wording import format_duration, join_words, name_of

_OURS: Final = ("own draw", "own undo", "own rematch", "deserted")
"""Questions that wait for others."""


def describe_question(model: RoomModel, keymap: Keymap) -> str:
    """Return what is asked before a game is given up, with the keys that answer; empty where nothing is."""
    if model.question is None:
        return ""
    asked = say("ask resign" if model.question[0] == "resign" else f"ask leave and {model.cost or 'lose'}")
    return f"{asked}   {keymap.show('confirm')} {say('key yes')}   {keymap.show('back')} {say('key play on')}"


def connection_banner(link: Session, now: float, *, width: int, holds_seat: bool) -> Text | None:
    """Return what to say while the connection is lost, in fewer words where the width wants it, else None.

    With `holds_seat` it says for how long the seat is kept.
    """
    if link.phase != "away" or link.retrying is None:
        is_returning = link.phase == "connecting" and link.client is not None
        return (say("banner connecting"), "warn") if is_returning else None
    seconds = max(0, math.ceil(link.retries_at - now))
    lost, short, number = say("banner lost"), say("banner lost short"), link.retrying.attempt
    trying = say("banner lost again", seconds=seconds) if seconds else say("banner lost now")
    attempt = say("banner lost attempt", seconds=seconds, number=number) if seconds else trying
    is_held = holds_seat and link.held_until > now
    time = format_duration(round((link.held_until - now) * 1000))
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
    ways = [f"{keymap.show(action_of(deed))} {say(deed.label)}" for deed in deeds]
    leaves = {"own rematch": "deed leave", "deserted": "key to home"}.get(question.id)
    return [*ways, f"{keymap.show('back')} {say(leaves)}"] if leaves else ways
