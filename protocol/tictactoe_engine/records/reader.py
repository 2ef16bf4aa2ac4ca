"""Parses records: splits text into tokens, reads the tags, and plays the moves. Raises only `RecordError`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tictactoe_engine.errors import GameError, IllegalMove, InvalidRules, UnknownNotation, quote
from tictactoe_engine.notation import format_cell, mirror_rows, parse_cell
from tictactoe_engine.records.faults import InvalidRecord, RecordError, fault
from tictactoe_engine.records.game_record import (
    CHOICE,
    KNOWN_TAGS,
    REASONS,
    RULE_TAGS,
    WORD_TAGS,
    Clock,
    DayClock,
    GameRecord,
    GameResult,
    MoveClock,
    SeatClock,
    Walk,
)
from tictactoe_engine.rules import PRESETS, Rules

MAX_TEXT_LENGTH: Final = 1_000_000

_RESULTS: Final = ("*", "draw", "none")
_BYTE_ORDER_MARK: Final = "\ufeff"
_SUSPECT: Final = re.compile(r"[^ -~\t\r\n]")
_BLANK: Final = r"[ \t\r\n]*"
_BLANKS: Final = re.compile(_BLANK)
_NAME: Final = rf"(?P<name>[A-Za-z][A-Za-z0-9_]*){_BLANK}"
_VALUE: Final = rf'"(?P<value>(?:[^"\\\r\n]|\\["\\])*)"{_BLANK}'
_TOKEN: Final = re.compile(
    rf"\[{_BLANK}{_NAME}{_VALUE}\]"
    r"|\{(?P<comment>[^}]*)\}"
    r"|(?P<number>[0-9]{1,6})(?P<dots>\.+)"
    r'|(?P<word>[^ \t\r\n{}\[\]"]+)',
    re.ASCII,
)
_PARTS_OF_TAG: Final = (
    ("no place", re.compile(rf"\[{_BLANK}")),
    ("tag name here", re.compile(_NAME)),
    ("tag value here", re.compile(_VALUE)),
)
_ESCAPE: Final = re.compile(r"\\(.)")

_CELL: Final = re.compile(r"[A-Za-z]{1,2}(?:0|[1-9][0-9]{0,2})", re.ASCII)
_WHOLE: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_SECONDS: Final = r"([0-9]{1,5})(?:\.([0-9]{1,3}))?"
_SEAT_CLOCK: Final = re.compile(rf"{_SECONDS}\+{_SECONDS}", re.ASCII)
_MOVE_CLOCK: Final = re.compile(rf"{_SECONDS}/move", re.ASCII)
_DAY_CLOCK: Final = re.compile(r"([0-9]{1,2})d\+([0-9]{1,2})d", re.ASCII)
_PASSED: Final = re.compile(r"([A-Z])@([0-9]{1,4})", re.ASCII)

Token = re.Match[str]
"""A match of `_TOKEN`: a tag with its name and value, a comment, a round number with its dots, or a word."""

Tags = Mapping[str, Token]


def parse_record(text: str) -> GameRecord:
    """Return the only record in `text`. Raises `RecordError`, which locates the fault.

    >>> parse_record("1. b2 a1 2. c3 *").moves
    (4, 0, 8)
    """
    reader = _Reader(text)
    if reader.is_at_end():
        raise reader.error(fault("none"), 0)
    record = reader.read_record()
    if not reader.is_at_end():
        raise reader.error(fault("another"), reader.tokens[reader.index].start())
    return record


def parse_records(text: str) -> tuple[GameRecord, ...]:
    """Return all records in `text`; raises `RecordError`."""
    reader = _Reader(text)
    records = []
    while not reader.is_at_end():
        records.append(reader.read_record())
    return tuple(records)


class _Reader:
    """Reads the records in a text one after another.

    Attributes:
        text: The text without a byte order mark.
        tokens: All tokens in the text.
        index: The index of the next token.
    """

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix(_BYTE_ORDER_MARK)
        self.tokens = list(self._scan())
        self.index = 0
        self._places: dict[str, int] = {}

    def is_at_end(self) -> bool:
        return self.index == len(self.tokens)

    def error(self, fault: GameError, offset: int) -> RecordError:
        return RecordError.at(fault, self.text, offset)

    def read_record(self) -> GameRecord:
        self._places = {}
        tags = self._read_tags()
        try:
            content = self._read_content(tags)
            GameRecord(**{name: value for name, value in content.items() if name != "passed"})  # faults in tags first
            return GameRecord(**content, **self._read_game(tags, content["rules"], content.get("passed", ())))
        except InvalidRecord as invalid:
            raise self.error(invalid, self._places.get(invalid.part, self._places["result"])) from None

    def _scan(self) -> Iterator[Token]:
        text, offset = self.text, self._skip_blanks(0)
        if len(text) > MAX_TEXT_LENGTH:
            raise self.error(fault("long", most=MAX_TEXT_LENGTH), MAX_TEXT_LENGTH)
        for suspect in _SUSPECT.finditer(text):
            if not suspect[0].isprintable():
                raise self.error(fault("unprintable", number=f"{ord(suspect[0]):04X}"), suspect.start())
        while offset < len(text):
            token = _TOKEN.match(text, offset)
            if token is None:
                raise self._explain_token(offset)
            yield token
            offset = self._skip_blanks(token.end())

    def _skip_blanks(self, offset: int) -> int:
        blanks = _BLANKS.match(self.text, offset)
        return offset if blanks is None else blanks.end()

    def _explain_token(self, offset: int) -> RecordError:
        if self.text[offset] == "{":
            return self.error(fault("open", bracket="}"), offset)
        character = quote(self.text[offset])
        for why, part in _PARTS_OF_TAG:
            match = part.match(self.text, offset)
            if match is None:
                return self.error(fault(why, character=character), offset)
            offset = match.end()
        return self.error(fault("open", bracket="]"), offset)

    def _read_tags(self) -> dict[str, Token]:
        tags: dict[str, Token] = {}
        self._places["result"] = self.tokens[self.index].start()
        while not self.is_at_end() and (tag := self.tokens[self.index])["name"]:
            if tag["name"] in tags:
                raise self.error(fault("tag twice", tag=quote(tag["name"])), tag.start("name"))
            tags[tag["name"]] = tag
            self.index += 1
        return tags

    def _read_content(self, tags: Tags) -> dict[str, Any]:
        """Return the attributes of the record that its tags contain, except for the result."""
        content: dict[str, Any] = {"rules": self._read_rules(tags)}
        players, others = [], []
        for name, tag in tags.items():
            if len(name) == 1:
                players.append((name, _value(tag)))
                is_known = name in content["rules"].marks
                self._places[f"players[{name}]"] = tag.start("value" if is_known else "name")
            elif name not in KNOWN_TAGS:
                others.append((name, _value(tag)))
                is_misspelt = name.capitalize() in KNOWN_TAGS or len(name) > 64
                self._places[f"tags[{name}]"] = tag.start("name" if is_misspelt else "value")
            elif name in WORD_TAGS:
                content[name.lower()] = _value(tag)
            self._places[name.lower()] = tag.start("value")
        content["players"], content["tags"] = tuple(players), tuple(others)
        if "Game" in tags:
            content["game"] = self._read_whole(tags["Game"])
        if "Clock" in tags:
            content["clock"] = self._read_clock(tags["Clock"])
        if "Passed" in tags:
            content["passed"] = self._read_passed(tags["Passed"])
        return content

    def _read_rules(self, tags: Tags) -> Rules:
        """Return the rules that the tags name or spell out, or ``classic`` if no tag is about rules."""
        given = [tags[name] for name in RULE_TAGS if name in tags]
        if not given:
            return PRESETS["classic"]
        if "Rules" in tags:
            name = _value(tags["Rules"])
            if len(given) > 1:
                raise self.error(fault("rules twice", rules=quote(name)), given[1].start("name"))
            if name not in PRESETS:
                unknown = fault("value", value=quote(name), example=", ".join(PRESETS))
                raise self.error(unknown, tags["Rules"].start("value"))
            return PRESETS[name]
        fields = {tag["name"].lower(): self._read_field(tag) for tag in given if tag["name"] != "Blocked"}
        try:
            rules = Rules(**fields)
            if "Blocked" not in tags:
                return rules
            cells = (self._read_cell(word, offset, rules) for word, offset in _words(tags["Blocked"]))
            return Rules(**fields, blocked=frozenset(cells))
        except InvalidRules as invalid:
            raise self.error(invalid, tags.get(str(invalid.field).capitalize(), given[0]).start("value")) from None

    def _read_field(self, tag: Token) -> Any:
        if tag["name"] in ("Rows", "Columns", "Line"):
            return self._read_whole(tag)
        if tag["name"] in ("Marks", "Opening"):
            return _value(tag)
        if tag["value"] not in ("true", "false"):
            raise self.error(fault("value", value=quote(_value(tag)), example="true"), tag.start("value"))
        return tag["value"] == "true"

    def _read_whole(self, tag: Token) -> int:
        if not _WHOLE.fullmatch(tag["value"]):
            raise self.error(fault("value", value=quote(_value(tag)), example="5"), tag.start("value"))
        return int(tag["value"])

    def _read_clock(self, tag: Token) -> Clock:
        """Return the clock; ``180+2`` is 180 seconds a seat and 2 more after each move, ``10/move`` 10 a move.

        ``3d+2d`` is three days a move and a reserve of two days.
        """
        if match := _SEAT_CLOCK.fullmatch(tag["value"]):
            return SeatClock(_milliseconds(match[1], match[2]), _milliseconds(match[3], match[4]))
        if match := _MOVE_CLOCK.fullmatch(tag["value"]):
            return MoveClock(_milliseconds(match[1], match[2]))
        if match := _DAY_CLOCK.fullmatch(tag["value"]):
            return DayClock(int(match[1]), int(match[2]))
        raise self.error(fault("value", value=quote(_value(tag)), example="180+2, 10/move, 3d+2d"), tag.start("value"))

    def _read_passed(self, tag: Token) -> tuple[tuple[int, str], ...]:
        """Return the marks that were passed over, each after its number of moves; ``A@4`` is A after four moves."""
        passed: list[tuple[int, str]] = []
        for word, offset in _words(tag):
            match = _PASSED.fullmatch(word)
            if match is None:
                raise self.error(fault("value", value=quote(word), example="A@4"), offset)
            self._places[f"passed[{len(passed)}]"] = offset
            passed.append((int(match[2]), match[1]))
        if not passed:
            raise self.error(fault("empty"), tag.start("value"))
        return tuple(passed)

    def _read_cell(self, word: str, offset: int, rules: Rules) -> int:
        if not _CELL.fullmatch(word):
            raise self.error(fault("value", value=quote(word), example="b2"), offset)
        try:
            return mirror_rows(parse_cell(word, rules), rules)
        except (IllegalMove, UnknownNotation) as error:
            raise self.error(error, offset) from None

    def _read_game(self, tags: Tags, rules: Rules, passed: tuple[tuple[int, str], ...]) -> dict[str, Any]:
        walk, moves, comments = Walk(rules, passed), list[int](), list[tuple[int, str]]()
        number: Token | None = None
        for token in self.tokens[self.index :]:
            self.index += 1
            word, comment, offset = token["word"], token["comment"], token.start()
            is_result = word is not None and (word in _RESULTS or word in tuple(rules.marks))
            if token["name"]:
                raise self.error(fault("tag among moves"), offset)
            if number is not None and (token["number"] or is_result):
                raise self.error(fault("no move", number=int(number["number"])), number.start())
            if token["number"]:
                number = token
            elif is_result:
                self._places["result"] = offset
                walk.finish()
                result = self._read_result(token, tags, walk)
                chosen = walk.position.chosen
                return {"moves": tuple(moves), "comments": tuple(comments), "chosen": chosen, "result": result}
            elif word is not None:
                moves.append(self._play(token, number, walk))
                number = None
            elif rules.opening and (choice := CHOICE.fullmatch(" ".join(comment.split()))):
                self._choose(offset, choice, walk)
            elif comment.strip():
                self._places[f"comments[{len(comments)}]"] = offset
                comments.append((len(moves), comment))
        raise self.error(fault("no result", results=", ".join((*rules.marks, *_RESULTS))), len(self.text.rstrip()))

    def _choose(self, offset: int, choice: re.Match[str], walk: Walk) -> None:
        """Make the opening choice that a comment records. Raises `RecordError` if it is not due or not possible."""
        rule, turn, take = choice.groups()
        opening = walk.position.opening
        if opening is None or not opening.options:
            raise self.error(fault("no choice"), offset)
        if (rule, turn) != (opening.rule, opening.turn) or take not in opening.options:
            options = ", ".join(opening.options)
            raise self.error(fault("choice", turn=opening.turn, rule=opening.rule, options=options), offset)
        walk.position = walk.position.choose(take)

    def _play(self, token: Token, number: Token | None, walk: Walk) -> int:
        if number is not None and walk.position.outcome is None:
            expected = f"{walk.round}." if walk.opens_round else f"{walk.round}..."
            if f"{int(number['number'])}{number['dots']}" != expected:
                raise self.error(fault("number", expected=repr(expected), shown=quote(number[0])), number.start())
        if not _CELL.fullmatch(token[0]):
            raise self.error(fault("word", word=quote(token[0])), token.start())
        cell = self._read_cell(token[0], token.start(), walk.position.rules)
        try:
            walk.play(cell)
        except IllegalMove as illegal:
            raise self.error(_name_as_in_records(illegal, walk.position.rules), token.start()) from None
        return cell

    def _read_result(self, token: Token, tags: Tags, walk: Walk) -> GameResult | None:
        """Return the result, or None if the game is still running. The board gives the reason if no tag does."""
        word, said, reason, outcome = token[0], tags.get("Result"), tags.get("Reason"), walk.position.outcome
        if said is not None and _value(said) != word:
            raise self.error(fault("other result", word=word, result=quote(_value(said))), token.start())
        if word == "*":
            if reason is not None:
                raise self.error(fault("reason of running"), reason.start("value"))
            return None
        winner = None if word in _RESULTS else word
        if reason is not None:
            if _value(reason) not in REASONS:
                unknown = fault("value", value=quote(_value(reason)), example=", ".join(REASONS))
                raise self.error(unknown, reason.start("value"))
            result = GameResult(_value(reason), winner)
            if result.nobody_wins != (word == "none"):
                raise self.error(fault("mismatch"), token.start())
            return result
        if outcome is None or word == "none":
            raise self.error(fault("no reason"), token.start())
        return GameResult(outcome.reason, winner)


def _name_as_in_records(error: IllegalMove, rules: Rules) -> IllegalMove:
    """Return the error with its cells named as in records, which count rows from the top even with gravity."""

    def rename(name: str) -> str:
        return format_cell(mirror_rows(parse_cell(name, rules), rules), rules)

    data = {key: rename(value) if key in ("cell", "lowest") else value for key, value in error.data.items()}
    return IllegalMove(error.code, error.words, data)


def _value(tag: Token) -> str:
    return _ESCAPE.sub(r"\1", tag["value"])


def _words(tag: Token) -> Iterator[tuple[str, int]]:
    """Yield the words of a tag's value, each with its offset in the text."""
    for match in re.finditer(r"[^ ]+", tag["value"]):
        yield match[0], tag.start("value") + match.start()


def _milliseconds(seconds: str, fraction: str | None) -> int:
    return int(seconds) * 1000 + int((fraction or "").ljust(3, "0"))
