"""The keys of a room: which situations one is in, which keys count there, and which of them its last line names."""

from __future__ import annotations

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_client.input.cells import goes_on, is_whole
from tictactoe_client.settings import Settings
from tictactoe_client.text.worth import name_option
from tictactoe_client.tui.foot import Hint, join_hints
from tictactoe_client.tui.keymap import ARROWS, Keymap
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_engine import Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Deed, take_of
from tictactoe_protocol.commands import ACTIONS, DEEDS, SITUATIONS, SUGGESTED, key_for, word_of


def find_situations(model: RoomModel) -> tuple[str, ...]:
    """Return the situations that one is in: that which the last line is about, and perhaps the one below it."""
    if model.question is not None:
        return ("asked",)
    if model.line.mode:
        return ("talking" if model.line.mode == "chat" else "commanding",)
    kind: str = model.kind
    if kind == "over" and model.is_back:
        kind = "past"
    elif kind == "waiting" and model.seat is None:
        kind = "attending"
    elif model.is_to_choose:
        kind = "choosing"
    if not model.is_online and model.record is None:
        return "away", kind
    return ("reviewing", kind) if model.review.is_on else (kind,)


def list_actions(model: RoomModel) -> list[str]:
    """Return the actions that count now; what places says at every board why it does not."""
    names = [name for one in find_situations(model) for name in SITUATIONS[one] if name in ACTIONS]
    return names if model.line.mode or model.question is not None else [*names, "place"]


def find_deed(model: RoomModel, action: str) -> Deed | None:
    """Return the deed that an action is for now, None where it is for none, or none that is possible."""
    found = (deed for name in DEEDS.get(action, ()) if (deed := model.choices.find(name)) is not None)
    return next(found, None)


def find_action(model: RoomModel, keymap: Keymap, key: str, text: str) -> str:
    """Return what a key does now, empty for nothing.

    What is `text` in a game is no claim while there is nothing to claim, or a move of ours is waited for.
    """
    action = keymap.find(key, text, list_actions(model))
    if text and action in ("claim", "claim_draw") and (model.room.is_my_turn or find_deed(model, action) is None):
        return ""
    return action


def list_sides(model: RoomModel, keymap: Keymap) -> str:
    """Return the keys that answer which side one takes in an opening, in as few words as can be: ``s X``."""
    state, ways = model.room.state, [deed for deed in model.choices.deeds if deed.id == "choose"]
    takes = ((deed, take_of(state, model.room.viewer, deed.argument)) for deed in ways)
    return "  ".join(f"{keymap.show(key_for(deed))} {name_option(take)}" for deed, take in takes)


def list_hints(model: RoomModel, keymap: Keymap, settings: Settings, *, is_first: bool) -> list[Hint]:
    """Return the keys that the last line names, with what each does; `is_first` where nothing lies below the room."""
    situation = find_situations(model)[0]
    named: dict[str, str] = {}
    has_code = settings.colour and not settings.ascii
    if situation == "playing":
        named = _name_moves(model, model.rules, keymap, settings)
    elif situation == "commanding":
        named = {"chat": model.line.completion} if model.line.completion else {"": " ".join(map(word_of, SUGGESTED))}
    for action, id in SITUATIONS[situation].items():
        deed = find_deed(model, action)
        is_missing = (action in DEEDS and deed is None) or (action == "another" and not model.again)
        if not id or action in named or is_missing or (action == "hide_code" and not has_code):
            continue
        called = deed.label if id == "deed" and deed is not None else id
        if action == "hide_code" and not model.shows_code:
            called = "key show code"
        elif called == "key to home":
            called = model.way_back
        elif action == "back" and is_first and situation == "replay":
            called = "deed leave"
        named[action] = say(called, key=keymap.show("back"))
    return join_hints(named, keymap, in_text=bool(model.line.mode))


def _name_moves(model: RoomModel, rules: Rules, keymap: Keymap, settings: Settings) -> dict[str, str]:
    """Return how one plays, or what becomes of what is typed as a move."""
    typed, enter = model.typed, keymap.show_key("enter")
    if typed and model.may_send and is_whole(typed, rules, settings.keys):
        return {"enter": say("key play", typed=typed.strip()), "back": say("key clear")}
    if typed and not goes_on(typed.lstrip(), rules):
        return {"back": say("key clear")}
    place, ways, usual = keymap.show("place"), [*map(keymap.show, ARROWS)], [*map(keymap.show_key, ARROWS)]
    arrows, sides = say("key arrows") if ways == usual else "/".join(ways), "/".join(ways[2:])
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        return {f"1-{rules.columns}": say("key drop"), f"{sides} + {place}": ""}
    if has_single_keys(rules):
        return {"qwe/asd/zxc" if settings.keys is Keys.LETTERS else "1-9": say("deed place"), f"{arrows}+{place}": ""}
    if rules.gravity:
        column = format_column(rules.columns // 2).lower()
        return {"": say("key type column", column=column, enter=enter, keys=f"{sides} + {place}")}
    return {"": say("key type cell", cell=example_cell(rules), enter=enter, keys=f"{arrows}+{place}")}


def example_cell(rules: Rules) -> str:
    """Return the name of a cell of this board, to show what a name looks like.

    >>> example_cell(Rules(15, 15, 5)), example_cell(Rules(4, 4, 4))
    ('h8', 'd4')
    """
    return format_cell((min(8, rules.rows) - 1) * rules.columns + min(8, rules.columns) - 1, rules).lower()
