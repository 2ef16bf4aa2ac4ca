"""The state of the room screen: possible commands, typed text, news and the moment shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from msgspec import UNSET

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.cells import goes_on, is_whole
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.events import Updated
from tictactoe_client.settings import Settings
from tictactoe_client.tui.foot import Hint, join_hints
from tictactoe_client.tui.keymap import ARROWS, Keymap
from tictactoe_client.tui.line import RoomLine
from tictactoe_client.tui.picture import NO_BREAK, Text
from tictactoe_client.tui.room.review import Review
from tictactoe_engine import FREE, Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Happening, RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.choices import Choices, Deed, take_of
from tictactoe_words.commands import ACTIONS, DEEDS, SITUATIONS, SUGGESTED, key_for, word_of
from tictactoe_words.openings import current_mark
from tictactoe_words.scene import Scene, Unanswered, scene
from tictactoe_words.telling import announce, loser_of
from tictactoe_words.worth import name_option

Kind = Literal["replay", "waiting", "playing", "watching", "over"]

MOST_TYPED: Final = 8
MOST_LINES: Final = 200
"""The maximum number of chat lines, and of unread lines; the oldest are dropped."""
QUIET_SECONDS: Final = 0.4
"""How long keys place no mark after a question has been answered."""


class News:
    """The chat of a room and its unread lines.

    Attributes:
        talk: The lines of the chat.
        unread: The lines that the person may not have seen; the first `in_sight` of them are on the screen.
        back: A line about the restored connection, shown until `back_until`.
        keys: The number of keys pressed so far.
    """

    def __init__(self) -> None:
        self.talk: list[str] = []
        self.unread: list[str] = []
        self.in_sight = 0
        self.back = ""
        self.back_until = 0.0
        self.keys = 0

    def tell(self, *lines: str) -> None:
        """Add lines to the chat only."""
        self.talk = [*self.talk, *lines][-MOST_LINES:]

    def say(self, *lines: str) -> None:
        """Add lines to the chat and to the unread lines."""
        self.tell(*lines)
        dropped = max(0, len(self.unread) + len(lines) - MOST_LINES)
        self.unread, self.in_sight = [*self.unread[dropped:], *lines], max(0, self.in_sight - dropped)

    def note_key(self) -> None:
        """Handle a key press: the visible unread lines count as read and make room for the next ones."""
        self.keys, self.unread, self.in_sight = self.keys + 1, self.unread[self.in_sight :], 0


class RoomModel:
    """The state of the screen of a room.

    Attributes:
        record: The recorded game, or None for a live room.
        kind: What the person is doing. `consider` sets it and `choices` for each state.
        typed: The typed part of a move.
        pending: The cell and mark of a move that was sent but is not confirmed yet.
        falling: The boards to show before the newest one while a mark falls.
        ending: The first state after the end of the game, or None.
        seconds: The length of the game, or None if we missed its beginning.
        turning_point: A sentence about the move that decided the game, or "".
    """

    def __init__(self, actions: Actions, review: Review) -> None:
        room = self.room = actions.room
        self.actions = actions
        self.review = review
        self.record = room.content if isinstance(room, RecordedRoom) else None
        self.rules = room.state.rules.to_rules()
        self.line = RoomLine()
        self.news = News()
        self.kind: Kind = "waiting" if self.record is None else "replay"
        self.choices = Choices((), (), {})
        self.unanswered: Unanswered | None = None
        self.typed = ""
        self.cursor: int | None = None
        self.pending: tuple[int, str] | None = None
        self.shows_code = True
        self.falling: list[str] = []
        self.ending: RoomState | None = None
        self.seconds: float | None = None
        self.turning_point = ""
        self.quiet_until = 0.0
        self._began_at: float | None = None
        self._received_at = 0.0

    def follow(self, update: Updated, now: float) -> None:
        old, state = update.old, update.state
        self._received_at, self.unanswered = now, None
        if old is None or old.game != state.game:
            self._began_at, self.ending, self.turning_point = now if state.ply == 0 else None, None, ""
        elif state.status == "playing" and old.status == "waiting":
            self._began_at = now
        if state.status == "over" and self.ending is None:
            self.ending, self.seconds = state, None if self._began_at is None else now - self._began_at
        if self.pending is not None and (state.board[self.pending[0]] != FREE or state.status != "playing"):
            self.pending = None
        self.consider(now)
        is_new_choice = self.is_to_choose and (old is None or old.ply != state.ply)
        if not self.room.plays or is_new_choice:
            self.typed = ""
        if old is not None:
            lines = announce(update.news, state, self.room.viewer, sees_board=True, after_loss=update.after_loss)
            if not lines:
                return
            choosers = [each.mark or "" for each in update.news if isinstance(each, Happening) and each.type == "chose"]
            by_others = any(current_mark(state, mark) != self.room.seat for mark in choosers)
            self.news.say(*lines) if by_others else self.news.tell(*lines)

    def consider(self, now: float) -> None:
        room, state = self.room, self.room.state
        if self.record is None:
            running: Kind = "playing" if self.room.plays else "watching"
            self.kind = state.status if state.status in ("waiting", "over") else running  # type: ignore[assignment]
        self.choices = room.choices((now - self._received_at) * 1000, is_online=self.actions.is_online)

    def scene(self, now: float) -> Scene:
        room, pending = self.room, None if self.pending is None else self.pending[0]
        view = replace(self.actions.view, pending=pending, is_kept=self.record is not None, unanswered=self.unanswered)
        return scene(room.state, self.choices, view, room.viewer, (now - self._received_at) * 1000)

    @property
    def is_to_choose(self) -> bool:
        opening = self.room.state.opening
        return opening is not UNSET and opening.options != () and self.room.is_my_turn

    @property
    def shown(self) -> RoomState:
        return self.actions.timeline.show(self.room.state)

    @property
    def talk(self) -> list[str]:
        noted = [] if self.record is None else self.actions.describe_moment(self.room.state)[1:]
        return [*noted, *self.news.talk]

    @property
    def may_send(self) -> bool:
        return self.pending is None and self.room.is_my_turn and not self.is_to_choose

    def type(self, text: str) -> None:
        self.typed = (self.typed + clean_text(text))[:MOST_TYPED]

    def note_answer(self, now: float) -> None:
        """Record when a key answered a question, so that the next keys do not place marks."""
        self.quiet_until = now + QUIET_SECONDS

    def move_cursor(self, rows: int, columns: int) -> None:
        """Move the cursor; it first appears on the last move, or in the centre of an empty board."""
        state, rules = self.room.state, self.rules
        if self.cursor is None:
            middle = (rules.rows // 2) * rules.columns + rules.columns // 2
            self.cursor = state.last if state.last is not None else middle
            return
        row, column = divmod(self.cursor, rules.columns)
        row, column = row + rows, column + columns
        self.cursor = min(max(row, 0), rules.rows - 1) * rules.columns + min(max(column, 0), rules.columns - 1)

    def look_at(self, ply: int) -> None:
        self.actions.timeline = self.actions.timeline.jump(ply)
        self.note_look()

    def note_look(self) -> None:
        self.cursor = None
        if self.record is not None:
            self.typed = ""
        self.review.look()


_AWAITING_OTHERS: Final = ("own draw", "own undo", "own rematch", "deserted", "absent")
"""The ids of questions that we only wait for: other players have to answer or return."""
_SIDES: Final = frozenset({"swap", "stay", "more"})
"""The actions that choose a side in an opening."""
_CONFIRMS: Final = {"confirm": "confirm", "play on": "back", "give up": "give_up"}


def find_situations(model: RoomModel) -> tuple[str, ...]:
    """Return the current situations, whose keys work now; the line of keys shows the first situation."""
    if model.actions.confirming:
        return ("asked",)
    if model.line.mode:
        return ("talking" if model.line.mode == "chat" else "commanding",)
    kind: str = model.kind
    if kind == "over" and model.actions.timeline.is_back:
        kind = "past"
    elif kind == "waiting" and model.room.seat is None:
        kind = "attending"
    elif model.is_to_choose:
        kind = "choosing"
    if not model.actions.is_online:
        return "away", kind
    return ("reviewing", kind) if model.review.is_on else (kind,)


def list_actions(model: RoomModel) -> list[str]:
    """Return the actions whose keys work now. ``place`` is included even if no mark can be placed, to say why."""
    names = [name for situation in find_situations(model) for name in SITUATIONS[situation] if name in ACTIONS]
    return names if model.line.mode or model.actions.confirming else [*names, "place"]


def find_deed(model: RoomModel, action: str) -> Deed | None:
    """Return the command that an action would carry out, or None if it is impossible now."""
    found = (deed for name in DEEDS.get(action, ()) if (deed := model.choices.find(name)) is not None)
    return next(found, None)


def find_action(model: RoomModel, keymap: Keymap, key: str, text: str) -> str:
    """Return the action of a key, or "" if the key has none.

    A character claims the game only if that is possible and it is not our turn; otherwise it is part of a move. A
    character after others also continues a move instead of choosing a side. After the game, the keys of answers are for
    a rematch, if we are asked for one, or else for challenges.
    """
    action = keymap.find(key, text, list_actions(model))
    if action in ("accept", "decline") and model.kind == "over" and find_deed(model, "accept") is None:
        return ""
    if text and action in ("claim", "claim_draw") and (model.room.is_my_turn or find_deed(model, action) is None):
        return ""
    if text and model.typed and action in _SIDES:
        return ""
    return action


def write_question(model: RoomModel, scene: Scene, keymap: Keymap, *, is_brief: bool = False) -> Text | None:
    """Return the first open question with its answers, and its style; or None if there is no question.

    Answers are named by their keys, or by typed commands while the keys are needed for moves. `is_brief` leaves out
    the question.
    """
    if not scene.questions:
        return None
    question, answers = scene.questions[0], []
    loser = None if model.ending is None else model.ending.seats.get(loser_of(model.ending) or "")
    if question.id == "deserted" and loser is not None and loser.left:
        return None  # the status line already says it
    for answer in question.answers:
        deed = model.choices.find(answer.name)
        if question.id == "claim" and deed is not None and model.room.is_my_turn:
            answers.append(f"{keymap.show('command')}{word_of(deed.id)} {word_of(f'way {deed.argument}')}")
        else:
            key = _CONFIRMS.get(answer.name) or (key_for(deed) if deed is not None else "")
            take = take_of(model.room.state, deed.argument) if is_brief and deed is not None else ""
            answers.append(f"{keymap.show(key)} {name_option(take) if take else answer.label}")
    answers = [answer.replace(" ", NO_BREAK) for answer in answers]
    role = "bad" if question.id == "confirm" else "dim" if question.id in _AWAITING_OTHERS else "warn"
    return "   ".join(answers if is_brief else [question.text, *answers]), role


def list_hints(model: RoomModel, keymap: Keymap, settings: Settings, *, is_first: bool, asks: bool) -> list[Hint]:
    """Return the hints for the line of keys.

    Args:
        is_first: Whether the room is the only screen.
        asks: Whether we have an open challenge to another player.
    """
    situation = find_situations(model)[0]
    named: dict[str, str] = {}
    has_code = settings.colour and not settings.ascii
    if situation == "playing":
        named = _name_moves(model, model.rules, keymap, settings)
    elif situation == "commanding":
        named = {"chat": model.line.completion} if model.line.completion else {"": " ".join(map(word_of, SUGGESTED))}
    for action, id in SITUATIONS[situation].items():
        deed = find_deed(model, action)
        is_missing = (
            (action in DEEDS and deed is None)
            or (action == "challenge" and asks)
            or (action == "another" and not model.actions.again)
            or (action == "chat" and not model.choices.may("chat"))
        )
        if not id or action in named or is_missing or (action == "hide_code" and not has_code):
            continue
        called = deed.label if id == "deed" and deed is not None else id
        if action == "hide_code" and not model.shows_code:
            called = "key show code"
        elif called == "key to home":
            called = "key back" if model.room.state.event else called  # it may lead to the event's page instead of home
        elif action == "back" and is_first and situation == "replay":
            called = "deed leave"
        named[action] = say(called)
    return join_hints(named, keymap, in_text=bool(model.line.mode))


def _name_moves(model: RoomModel, rules: Rules, keymap: Keymap, settings: Settings) -> dict[str, str]:
    typed, enter = model.typed, keymap.show_key("enter")
    if typed and model.may_send and is_whole(typed, rules, settings.keys):
        return {"enter": say("key play", typed=typed.strip()), "back": say("key cancel")}
    if typed and not goes_on(typed.lstrip(), rules):
        return {"back": say("key cancel")}
    place, ways, usual = keymap.show("place"), [*map(keymap.show, ARROWS)], [*map(keymap.show_key, ARROWS)]
    arrows, sides = say("key arrows") if ways == usual else "/".join(ways), "/".join(ways[2:])
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        return {f"1-{rules.columns}": say("deed place"), f"{sides} + {place}": ""}
    if has_single_keys(rules):
        return {"qwe/asd/zxc" if settings.keys is Keys.LETTERS else "1-9": say("deed place"), f"{arrows}+{place}": ""}
    if rules.gravity:
        column = format_column(rules.columns // 2).lower()
        return {"": say("key type column", column=column, enter=enter, keys=f"{sides} + {place}")}
    return {"": say("key type cell", cell=example_cell(rules), enter=enter, keys=f"{arrows}+{place}")}


def example_cell(rules: Rules) -> str:
    """Return the name of some cell of this board, as an example.

    >>> example_cell(Rules(15, 15, 5)), example_cell(Rules(4, 4, 4))
    ('h8', 'd4')
    """
    return format_cell((min(8, rules.rows) - 1) * rules.columns + min(8, rules.columns) - 1, rules).lower()
