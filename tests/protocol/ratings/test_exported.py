import json
from collections.abc import Callable

import pytest
from hypothesis import given
from msgspec.structs import replace

from tests.protocol.ratings.test_ladder import Log, game, logs
from tests.rows import each
from tictactoe_protocol.ratings.exported import BadExport, Checked, check_export, encode_export
from tictactoe_protocol.ratings.log import RatedGame, Verdict, list_verdicts

GAMES = [game(0, "ab", 1), game(1, "ca", 0.5), game(2, "bc", 0)]
VERDICT = Verdict(1, 5, "operator", "void game", "A program played.", of=GAMES[0].id)


def export(log: Log) -> bytes:
    games = [log.games[id] for entry in log.entries for id in entry.games]
    return encode_export(games, list_verdicts(log.entries), log.fold().digest)


def check(content: bytes) -> Checked:
    return check_export(content.splitlines(keepends=True))


@given(logs(verdicts=5))
def test_an_export_folds_to_the_digest_of_its_log(log: Log) -> None:
    found = check(export(log))
    assert found.digest == found.expected == log.fold().digest
    assert (found.games, found.verdicts) == (len(log.games), len(list_verdicts(log.entries)))


def test_a_game_and_a_verdict_are_a_line_each_before_the_digest() -> None:
    lines = [json.loads(line) for line in encode_export(GAMES[:1], [VERDICT], "d1").splitlines()]
    one = GAMES[0]
    rows = {"game_id": one.id, "at": one.at, "rules": "four", "players": ["a", "b"], "score": 1}
    reason = {"by": "operator", "kind": "void game", "reason": "A program played."}
    assert lines == [
        {"type": "game", **rows},
        {"type": "verdict", "seq": 1, "at": 5, **reason, "of": one.id},
        {"type": "end", "digest": "d1"},
    ]


@each(
    ("games", "verdicts"),
    [
        ([replace(GAMES[0], players=("b", "a")), *GAMES[1:]], []),
        (GAMES[1:], []),
        ([GAMES[1], GAMES[0], GAMES[2]], []),
        (GAMES, [VERDICT]),
    ],
)
def test_a_changed_game_order_or_verdict_changes_the_digest(games: list[RatedGame], verdicts: list[Verdict]) -> None:
    expected = check(encode_export(GAMES, [], "")).digest
    found = check(encode_export(games, verdicts, expected))
    assert found.expected == expected != found.digest


@each(
    ("spoil", "code", "line"),
    [
        (lambda lines: lines[:-1], "cut", 4),
        (lambda lines: [*lines[:2], lines[2][:40]], "cut", 3),
        (lambda lines: [], "cut", 0),
        (lambda lines: [lines[0], b"[1, 2]\n", *lines[1:]], "garbage", 2),
        (lambda lines: [b"\xff\xfe\n"], "garbage", 1),
        (lambda lines: [b"[" * 100_000 + b"\n"], "garbage", 1),
        (lambda lines: [lines[0].replace(b'["a","b"]', b'["a","a"]'), *lines[1:]], "garbage", 1),
        (lambda lines: [lines[0].replace(b'["a","b"]', b'["a","b","c"]'), *lines[1:]], "garbage", 1),
        (lambda lines: [lines[0].replace(b'"at":', b'"at":-'), *lines[1:]], "garbage", 1),
        (lambda lines: [lines[0].replace(b'"score":1', b'"score":2'), *lines[1:]], "garbage", 1),
        (lambda lines: [*lines, b"\n"], "behind", 6),
        (lambda lines: [lines[0], *lines], "twice", 2),
    ],
)
def test_a_file_that_is_no_export_is_refused(spoil: Callable[[list[bytes]], list[bytes]], code: str, line: int) -> None:
    lines = encode_export(GAMES, [VERDICT], "").splitlines(keepends=True)
    with pytest.raises(BadExport) as refused:
        check_export(spoil(lines))
    assert (refused.value.code, refused.value.line) == (code, line)
