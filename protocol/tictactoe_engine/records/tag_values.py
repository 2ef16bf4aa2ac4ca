"""From the tags of a record to what they say: rules, clock and whoever was passed over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tictactoe_engine.errors import IllegalMove, InvalidRules, UnknownNotation, quote
from tictactoe_engine.notation import parse_cell
from tictactoe_engine.records.faults import RecordError, Telling, tell
from tictactoe_engine.records.game_record import RULE_TAGS, MoveClock, SeatClock
from tictactoe_engine.records.scanner import Tag, Word
from tictactoe_engine.rules import PRESETS, Rules

CELL_NAME: Final = re.compile(r"[A-Za-z]{1,2}(?:0|[1-9][0-9]{0,2})", re.ASCII)

_WHOLE: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_SECONDS: Final = r"([0-9]{1,5})(?:\.([0-9]{1,3}))?"
_SEAT_CLOCK: Final = re.compile(rf"{_SECONDS}\+{_SECONDS}", re.ASCII)
_MOVE_CLOCK: Final = re.compile(rf"{_SECONDS}/move", re.ASCII)
_PASSED: Final = re.compile(r"([A-Z])@([0-9]{1,4})", re.ASCII)


def read_rules(text: str, tags: Mapping[str, Tag]) -> Rules:
    """Return the rules that the tags spell out or name; ``classic`` where there are none."""
    given = [tags[name] for name in RULE_TAGS if name in tags]
    if not given:
        return PRESETS["classic"]
    preset = tags.get("Rules")
    if preset is not None:
        if len(given) > 1:
            message = tell("rules twice", rules=quote(preset.value))
            raise RecordError.at(message, text, given[1].name_offset)
        if preset.value not in PRESETS:
            message = tell("rules", rules=quote(preset.value), presets=", ".join(PRESETS))
            raise RecordError.at(message, text, preset.value_offset)
        return PRESETS[preset.value]
    fields = {tag.name.lower(): _read_field(text, tag) for tag in given if tag.name != "Blocked"}
    try:
        rules = Rules(**fields)
        if "Blocked" not in tags:
            return rules
        blocked = frozenset(read_cell(text, word, rules) for word in tags["Blocked"].words)
        return Rules(**fields, blocked=blocked)
    except InvalidRules as invalid:
        tag = tags.get(str(invalid.field).capitalize(), given[0])
        raise RecordError.at(Telling.of(invalid), text, tag.value_offset) from None


def _read_field(text: str, tag: Tag) -> Any:
    if tag.name in ("Rows", "Columns", "Line"):
        return read_whole(text, tag)
    return tag.value if tag.name in ("Marks", "Opening") else _read_flag(text, tag)


def read_cell(text: str, word: Word, rules: Rules) -> int:
    """Return the cell that a word like ``b2`` names."""
    if not CELL_NAME.fullmatch(word.text):
        raise RecordError.at(tell("cell", word=quote(word.text)), text, word.offset)
    try:
        return parse_cell(word.text, rules)
    except (IllegalMove, UnknownNotation) as error:
        raise RecordError.at(Telling.of(error), text, word.offset) from None


def read_whole(text: str, tag: Tag) -> int:
    """Return the number that is the tag's value."""
    if not _WHOLE.fullmatch(tag.value):
        raise RecordError.at(tell("whole", tag=tag.name, value=quote(tag.value)), text, tag.value_offset)
    return int(tag.value)


def read_clock(text: str, tag: Tag) -> SeatClock | MoveClock:
    """Return the clock: ``180+2`` is seconds for each seat and for each of its moves, ``10/move`` seconds a move."""
    if match := _SEAT_CLOCK.fullmatch(tag.value):
        return SeatClock(_milliseconds(match[1], match[2]), _milliseconds(match[3], match[4]))
    if match := _MOVE_CLOCK.fullmatch(tag.value):
        return MoveClock(_milliseconds(match[1], match[2]))
    message = tell("clock", value=quote(tag.value))
    raise RecordError.at(message, text, tag.value_offset)


def read_passed(text: str, tag: Tag) -> tuple[tuple[int, str], ...]:
    """Return who was passed over; ``A@4`` is mark A after four moves."""
    passed = []
    for word in tag.words:
        match = _PASSED.fullmatch(word.text)
        if match is None:
            message = tell("passed word", word=quote(word.text))
            raise RecordError.at(message, text, word.offset)
        passed.append((int(match[2]), match[1]))
    if not passed:
        raise RecordError.at(tell("nobody"), text, tag.value_offset)
    return tuple(passed)


def _read_flag(text: str, tag: Tag) -> bool:
    if tag.value not in ("true", "false"):
        raise RecordError.at(tell("flag", tag=tag.name, value=quote(tag.value)), text, tag.value_offset)
    return tag.value == "true"


def _milliseconds(seconds: str, fraction: str | None) -> int:
    return int(seconds) * 1000 + int((fraction or "").ljust(3, "0"))
