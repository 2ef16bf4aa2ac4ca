"""From text to records: tags, then moves as they are played. Whatever comes in, only `RecordError` comes out."""

from __future__ import annotations

import re
from typing import Any, Final, assert_never

from tictactoe_engine.errors import IllegalMove, quote
from tictactoe_engine.records.faults import InvalidRecord, RecordError, Telling, tell
from tictactoe_engine.records.game_record import CHOICE, KNOWN_TAGS, REASONS, WORD_TAGS, GameRecord, GameResult
from tictactoe_engine.records.scanner import Comment, Number, Tag, Word, scan
from tictactoe_engine.records.tag_values import CELL_NAME, read_cell, read_clock, read_passed, read_rules, read_whole
from tictactoe_engine.records.walk import Walk

_RESULTS: Final = ("*", "draw", "none")
_BYTE_ORDER_MARK: Final = "\ufeff"


def parse_record(text: str) -> GameRecord:
    """Return the one record that `text` holds; raises `RecordError` with the place of the fault.

    >>> parse_record("1. b2 a1 2. c3 *").moves
    (4, 0, 8)
    """
    reader = _Reader(text)
    if reader.is_at_end():
        raise reader.fault(tell("none"), 0)
    record = reader.read_record()
    if not reader.is_at_end():
        raise reader.fault(tell("another"), reader.tokens[reader.index].offset)
    return record


def parse_records(text: str) -> tuple[GameRecord, ...]:
    """Return all records that `text` holds, none for blank text; raises `RecordError`."""
    reader = _Reader(text)
    records = []
    while not reader.is_at_end():
        records.append(reader.read_record())
    return tuple(records)


class _Reader:
    """The words of a text, the next one to read, and where each part of the current record was said."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix(_BYTE_ORDER_MARK)
        self.tokens = list(scan(self.text))
        self.index = 0
        self._places: dict[str, int] = {}

    def is_at_end(self) -> bool:
        return self.index == len(self.tokens)

    def fault(self, message: str, offset: int) -> RecordError:
        return RecordError.at(message, self.text, offset)

    def read_record(self) -> GameRecord:
        """Return the record that begins at the next word."""
        self._places = {}
        content: dict[str, Any] = {}
        tags = self._read_tags()
        try:
            self._take_tags(tags, content)
            self._take_moves(tags, content)
            return GameRecord(**content)
        except InvalidRecord as invalid:
            raise self.fault(invalid.message, self._places.get(invalid.part, self._places["result"])) from None

    def _read_tags(self) -> dict[str, Tag]:
        """Return the tags that begin the record by name; the place of what is not said yet is that of the last."""
        tags: dict[str, Tag] = {}
        self._places["result"] = self.tokens[self.index].offset
        while not self.is_at_end() and isinstance(tag := self.tokens[self.index], Tag):
            if tag.name in tags:
                raise self.fault(tell("tag twice", tag=quote(tag.name)), tag.name_offset)
            tags[tag.name] = tag
            self.index += 1
        return tags

    def _take_tags(self, tags: dict[str, Tag], content: dict[str, Any]) -> None:
        rules = content["rules"] = read_rules(self.text, tags)
        players, others = [], []
        for name, tag in tags.items():
            if len(name) == 1:
                players.append((name, tag.value))
                self._places[f"players[{name}]"] = tag.value_offset if name in rules.marks else tag.name_offset
            elif name not in KNOWN_TAGS:
                others.append((name, tag.value))
                is_misspelt = name.capitalize() in KNOWN_TAGS or len(name) > 64
                self._places[f"tags[{name}]"] = tag.name_offset if is_misspelt else tag.value_offset
            elif name in WORD_TAGS:
                content[name.lower()] = tag.value
            self._places[name.lower()] = tag.value_offset
        content["players"], content["tags"] = tuple(players), tuple(others)
        if "Game" in tags:
            content["game"] = read_whole(self.text, tags["Game"])
        if "Clock" in tags:
            content["clock"] = read_clock(self.text, tags["Clock"])
        if "Passed" in tags:
            passed = content["passed"] = read_passed(self.text, tags["Passed"])
            words = tags["Passed"].words
            self._places |= {f"passed[{index}]": words[index].offset for index in range(len(passed))}
        GameRecord(**{name: value for name, value in content.items() if name != "passed"})  # before any of the moves

    def _take_moves(self, tags: dict[str, Tag], content: dict[str, Any]) -> None:
        rules = content["rules"]
        walk = Walk(rules, content.get("passed", ()))
        moves: list[int] = []
        comments: list[tuple[int, str]] = []
        number: Number | None = None
        while not self.is_at_end():
            token = self.tokens[self.index]
            self.index += 1
            match token:
                case Tag():
                    raise self.fault(tell("tag among moves"), token.offset)
                case Comment(text) if rules.opening and (choice := CHOICE.fullmatch(" ".join(text.split()))):
                    self._choose(token, choice, walk)
                case Comment():
                    if token.text.strip():
                        self._places[f"comments[{len(comments)}]"] = token.offset
                        comments.append((len(moves), token.text))
                case Number():
                    if number is not None:
                        raise self.fault(tell("no move", number=number.number), number.offset)
                    number = token
                case Word(text, offset) if text in _RESULTS or text in tuple(rules.marks):
                    if number is not None:
                        raise self.fault(tell("no move", number=number.number), number.offset)
                    self._places["result"] = offset
                    walk.finish()
                    content |= {"moves": tuple(moves), "comments": tuple(comments), "chosen": walk.position.chosen}
                    content["result"] = self._read_result(token, tags, walk)
                    return
                case Word():
                    moves.append(self._play(token, number, walk))
                    number = None
                case _:
                    assert_never(token)
        raise self.fault(tell("no result", results=", ".join((*rules.marks, *_RESULTS))), len(self.text.rstrip()))

    def _choose(self, comment: Comment, choice: re.Match[str], walk: Walk) -> None:
        """Choose what a comment says, if it is due."""
        rule, turn, take = choice.groups()
        opening = walk.position.opening
        if opening is None or not opening.options:
            raise self.fault(tell("no choice"), comment.offset)
        if (rule, turn) != (opening.rule, opening.turn) or take not in opening.options:
            said = tell("choice", turn=opening.turn, rule=opening.rule, options=", ".join(opening.options))
            raise self.fault(said, comment.offset)
        walk.position = walk.position.choose(take)

    def _play(self, word: Word, number: Number | None, walk: Walk) -> int:
        """Play one move and return its cell."""
        if number is not None and walk.position.outcome is None:
            expected = f"{walk.round}." if walk.opens_round else f"{walk.round}..."
            if f"{number.number}{number.dots}" != expected:
                shown = quote(f"{number.number}{number.dots}")
                raise self.fault(tell("number", expected=repr(expected), shown=shown), number.offset)
        if not CELL_NAME.fullmatch(word.text):
            message = tell("word", word=quote(word.text))
            raise self.fault(message, word.offset)
        cell = read_cell(self.text, word, walk.position.rules)
        try:
            walk.play(cell)
        except IllegalMove as illegal:
            raise self.fault(Telling.of(illegal), word.offset) from None
        return cell

    def _read_result(self, word: Word, tags: dict[str, Tag], walk: Walk) -> GameResult | None:
        """Return the result, its reason read off the board where no tag says it."""
        said, reason, outcome = tags.get("Result"), tags.get("Reason"), walk.position.outcome
        if said is not None and said.value != word.text:
            raise self.fault(tell("other result", word=word.text, result=quote(said.value)), word.offset)
        if word.text == "*":
            if reason is not None:
                raise self.fault(tell("reason of running"), reason.value_offset)
            return None
        winner = None if word.text in _RESULTS else word.text
        if reason is not None:
            if reason.value not in REASONS:
                message = tell("reason", reasons=", ".join(REASONS), reason=quote(reason.value))
                raise self.fault(message, reason.value_offset)
            result = GameResult(reason.value, winner)
            if result.nobody_wins != (word.text == "none"):
                raise self.fault(tell("nobody wins"), word.offset)
            return result
        if outcome is None or word.text == "none":
            raise self.fault(tell("no reason"), word.offset)
        return GameResult(outcome.reason, winner)
