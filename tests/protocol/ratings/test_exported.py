"""A log that was written to a file: what holds of one as it was written, and what shows each change of it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.protocol.ratings.test_ladder import game
from tests.rows import each
from tictactoe_protocol.ratings.checkpoints import START, Checkpoint, extend_chain, leaf_of, link_of, sign_checkpoint
from tictactoe_protocol.ratings.exported import (
    BadExport,
    CheckpointLine,
    EndLine,
    GamesLine,
    Line,
    VerdictLine,
    check_lines,
    encode_line,
    read_lines,
)
from tictactoe_protocol.ratings.ladder import fold
from tictactoe_protocol.ratings.log import Entry, Verdict

SECRET, OTHER = bytes(32), bytes(range(32))


def written(secret: bytes = SECRET, *, late: int = 3) -> list[Line]:
    """Return a log of 14 games in seven entries, with checkpoints after the second, the fourth and the sixth.

    After the third a verdict takes out the first game, and it was known when the `late` checkpoint was signed.
    """
    chance, lines = Random(1), list[Line]()
    games = [game(number, "".join(chance.sample("abcde", 2)), (1, chance.randint(1, 2))) for number in range(14)]
    verdict = Verdict(1, 5, "ana", "void game", "A program played.", of=games[0].id)
    salt, chain, leaves, number = bytes(16), START, list[bytes](), 0
    entries = list[Entry]()
    for place in range(0, 14, 2):
        some = (games[place], games[place + 1])
        own = [leaf_of(salt, one) for one in some]
        lines.append(GamesLine(some, (salt.hex(), salt.hex()), tuple(leaf.hex() for leaf in own)))
        leaves += own
        entries.append(Entry(tuple(one.id for one in some)))
        if place == 4:
            leaves.append(leaf_of(salt, verdict))
            lines.append(VerdictLine(verdict, (salt.hex(),), (leaves[-1].hex(),)))
            entries.append(Entry(verdict=verdict))
        if place in (2, 6, 10):
            number, chain = number + 1, extend_chain(chain, link_of(leaves))
            known = entries if number >= late else [entry for entry in entries if entry.verdict is None]
            known = [*known, Entry(verdict=verdict)] if number >= late and place == 2 else known
            judged = sum(entry.verdict is not None for entry in known)
            digest = fold(known, {one.id: one for one in games}, until=len(known) - (place == 2 and judged)).digest
            lines.append(CheckpointLine(sign_checkpoint(secret, number, chain, digest), judged))
            leaves = []
    return [*lines, EndLine(fold(entries, {one.id: one for one in games}).digest)]


def read(lines: list[Line]) -> list[Line]:
    return read_lines([*map(encode_line, lines)])


def checkpoints(lines: list[Line]) -> list[Checkpoint]:
    return [line.checkpoint for line in lines if isinstance(line, CheckpointLine)]


@each("late", [1, 2])
def test_a_log_as_it_was_written_holds_whenever_a_verdict_was_known(late: int) -> None:
    lines = written(late=late)
    found = check_lines(read(lines), checkpoints(lines)[:2])
    assert found.differences == ()
    assert (found.games, found.entries, found.verdicts, found.signed_games, found.remembered) == (14, 8, 1, 12, 2)
    assert [one.number for one in found.checkpoints] == [1, 2, 3]


def test_a_forgotten_name_is_told_and_takes_nothing_from_what_holds() -> None:
    lines = written(late=1)

    def rename(line: Line) -> Line:
        if not isinstance(line, GamesLine):
            return line
        games = (replace(one, players=tuple("zz" if id == "a" else id for id in one.players)) for one in line.games)
        return replace(line, games=tuple(games))

    told = check_lines(read([rename(lines[0]), *lines[1:]])).differences
    assert "leaf" in {one.code for one in told}
    everywhere = [replace(rename(line), salts=(None, None)) if isinstance(line, GamesLine) else line for line in lines]
    found = check_lines(read(everywhere))
    assert (found.differences, found.unproved) == ((), 14)


def change(place: int, **changes: Any) -> Callable[[list[Line]], list[Line]]:
    def apply(lines: list[Line]) -> list[Line]:
        return [replace(line, **changes) if index == place else line for index, line in enumerate(lines)]

    return apply


def with_other_game(lines: list[Line]) -> list[Line]:
    first = lines[0]
    assert isinstance(first, GamesLine)
    one, other = first.games
    return [replace(first, games=(one, replace(other, players=other.players[::-1]))), *lines[1:]]


def with_other_verdict(lines: list[Line]) -> list[Line]:
    return [
        replace(line, verdict=replace(line.verdict, of="0003")) if isinstance(line, VerdictLine) else line
        for line in lines
    ]


def with_other_signature(lines: list[Line]) -> list[Line]:
    return [
        replace(line, checkpoint=replace(line.checkpoint, signature="00" * 64))
        if isinstance(line, CheckpointLine) and line.checkpoint.number == 2
        else line
        for line in lines
    ]


def by_another_key(lines: list[Line]) -> list[Line]:
    other = checkpoints(written(OTHER, late=1))
    return [
        replace(line, checkpoint=other[2]) if isinstance(line, CheckpointLine) and line.checkpoint.number == 3 else line
        for line in lines
    ]


@each(
    ("changed", "told"),
    [
        (with_other_game, {("leaf", 1), ("signed digest", 3), ("digest", 12)}),
        (with_other_verdict, {("leaf", 5)}),
        (with_other_signature, {("signature", 7)}),
        (by_another_key, {("key", 10)}),
        (lambda lines: [lines[1], lines[0], *lines[2:]], {("chain", 3)}),
        (lambda lines: [*lines[:2], *lines[3:]], {("chain", 6)}),
        (lambda lines: lines[1:], {("chain", 2), ("digest", 11)}),
        (change(11, digest="00" * 32), {("digest", 12)}),
    ],
)
def test_each_change_is_told_with_its_line(
    changed: Callable[[list[Line]], list[Line]], told: set[tuple[str, int]]
) -> None:
    found = check_lines(read(changed(written(late=1))))
    assert {(one.code, one.line) for one in found.differences} >= told


def test_a_log_that_was_made_anew_is_told_by_who_remembers_a_checkpoint() -> None:
    lines = written(late=1)
    own = checkpoints(lines)
    fork = replace(own[1], chain="00" * 32)
    assert [(one.code, one.number) for one in check_lines(lines, [fork]).differences] == [("fork", 2)]
    later = replace(own[1], number=4)
    assert [(one.code, one.number) for one in check_lines(lines, [later]).differences] == [("missing", 4)]
    assert check_lines(lines, [replace(later, key="00" * 32)]).differences == (), "of another server"


@each(
    ("spoil", "code", "line"),
    [
        (lambda texts: texts[:-1], "cut", 11),
        (lambda texts: [*texts[:4], texts[4][:40]], "cut", 5),
        (lambda texts: [], "cut", 0),
        (lambda texts: [texts[0], b"[1, 2]\n", *texts[1:]], "garbage", 2),
        (lambda texts: [b"\xff\xfe\n"], "garbage", 1),
        (lambda texts: [b"[" * 100_000 + b"\n"], "garbage", 1),
        (lambda texts: [texts[0].replace(b"[1,", b"[1,1,", 1)], "garbage", 1),
        (lambda texts: [*texts, b"\n"], "behind", 13),
        (lambda texts: [texts[0], *texts], "twice", 2),
        (lambda texts: [texts[0].replace(b"172800000", b"1728"), *texts[1:]], "order", 1),
        (lambda texts: [*texts[:4], texts[4].replace(b'"seq":1', b'"seq":2'), *texts[5:]], "number", 5),
        (lambda texts: [texts[4], *texts[:4], *texts[4:]], "number", 6),
        (lambda texts: [texts[0].replace(b'"salts":[', b'"salts":[null,'), *texts[1:]], "leaves", 1),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_line(
    spoil: Callable[[list[bytes]], list[bytes]], code: str, line: int
) -> None:
    texts = [*map(encode_line, written())]
    with pytest.raises(BadExport) as refused:
        read_lines(spoil(texts))
    assert (refused.value.code, refused.value.line) == (code, line)


def test_no_byte_of_a_file_can_be_changed_so_that_it_is_not_noticed_or_crashes() -> None:
    """Whatever names, salts and leaves say after the last checkpoint is proved by the digest alone, or by nothing."""
    chance, texts = Random(3), [*map(encode_line, written(late=1))]
    whole = check_lines(read_lines(texts))
    for _ in range(400):
        spoilt = [bytearray(text) for text in texts]
        line = chance.choice(spoilt[:10])
        line[chance.randrange(len(line) - 1)] = chance.randrange(256)
        try:
            found = check_lines(read_lines([bytes(one) for one in spoilt]))
        except BadExport:
            continue
        assert found.differences or found.unproved or str(found).lower() == str(whole).lower()
