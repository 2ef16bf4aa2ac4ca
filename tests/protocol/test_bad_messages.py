"""Invalid messages: each has its code and field, and no bytes raise anything but `BadMessage`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.strategies import PUSHES
from tests.rows import each
from tictactoe_protocol import (
    MAX_ERROR_BYTES,
    MAX_MESSAGE_BYTES,
    BadMessage,
    decode_push,
    encode,
    error_answer,
    requests,
)
from tictactoe_protocol.codec import decode_request
from tictactoe_protocol.pushes import Push
from tictactoe_words.refusals import describe_fault

MOVE = {"type": "move", "room": "K7M4PQ", "cell": 4, "ply": 0}
CREATE = {"type": "create"}
TABLES = json.loads(Path(__file__).with_suffix(".json").read_bytes())
FIELDS_OF_TYPE: dict[str, dict[str, list[object]]] = TABLES["wrong types"]
VALID: dict[str, dict[str, Any]] = TABLES["valid"]


def refused(data: str | bytes) -> BadMessage:
    with pytest.raises(BadMessage) as caught:
        decode_request(data)
    return caught.value


def answer_to(bad: BadMessage) -> bytes:
    return encode(error_answer(bad.code, describe_fault(bad), id=bad.id, room=bad.room, path=bad.path))


@each("data", TABLES["no json"])
def test_invalid_json_is_refused_as_bad_json(data: str) -> None:
    bad = refused(data)
    assert (bad.code, bad.path, bad.id, bad.room) == ("bad_json", None, None, None)


@pytest.mark.parametrize("data", ['{"type":"hello","name":"\ud800"}', '{"type":"ping","id":"\udfff"}', "\ud800"])
def test_a_lone_surrogate_in_the_text_is_refused(data: str) -> None:
    assert refused(data).code == "bad_json"


@each("escape", [r"\ud800", r"\udc00", r"\ud800x", r"\ud800\ud800", r"\ud83d\n"])
@each("field", ["name", "id", "token", "client"])
def test_a_lone_surrogate_in_an_escape_is_refused_in_every_text(field: str, escape: str) -> None:
    assert refused(f'{{"type":"hello","{field}":"a{escape}"}}').code == "bad_json"


def test_a_pair_of_surrogates_in_escapes_is_one_character() -> None:
    assert decode_request(r'{"type":"hello","name":"\ud83d\ude00"}') == requests.Hello(name="😀")


@pytest.mark.parametrize("data", [b'{"type":"ping","id":"\xff"}', b'{"type":"ping","id":"\xed\xa0\x80"}', b"\x80"])
def test_bytes_that_are_not_utf8_are_refused(data: bytes) -> None:
    assert refused(data).code == "bad_json"


@pytest.mark.parametrize(
    "data",
    [
        "[" * 10_000,
        '{"type":' * 2_000,
        '{"type":"create","rules":' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"type":"create","x":' + '{"a":' * 2_500 + "1" + "}" * 2_500 + "}",
    ],
    ids=["open arrays", "open objects", "arrays", "objects"],
)
def test_deep_nesting_is_refused_like_any_bad_message(data: str) -> None:
    assert refused(data).code in {"bad_json", "bad_message"}
    with pytest.raises(BadMessage):
        decode_push(data)


@pytest.mark.parametrize("data", ["[]", "null", "true", "1", '"ping"', '["ping"]', '[{"type":"ping"}]'])
def test_json_other_than_an_object_is_a_bad_message(data: str) -> None:
    bad = refused(data)
    assert (bad.code, bad.path) == ("bad_message", None)


@pytest.mark.parametrize("kind", [None, 5, True, ["ping"], {"ping": 1}])
def test_a_type_that_is_no_string_is_a_bad_message(kind: object) -> None:
    bad = refused(json.dumps({"type": kind, "id": "a"}))
    assert (bad.code, bad.path, bad.id) == ("bad_message", "type", "a")


def test_a_message_without_type_is_a_bad_message() -> None:
    bad = refused('{"id":"a","room":"K7M4PQ"}')
    assert (bad.code, bad.path, bad.id, bad.room) == ("bad_message", "type", "a", "K7M4PQ")


def test_an_unknown_type_is_named_and_the_nearest_one_offered() -> None:
    bad = refused('{"type":"mvoe","id":"a","room":"K7M4PQ"}')
    assert (bad.code, bad.path, bad.id, bad.room) == ("unknown_type", "type", "a", "K7M4PQ")
    assert describe_fault(bad) == 'There is no message of type "mvoe". Did you mean "move"?'
    assert bad.data == {"why": "close", "type": '"mvoe"', "close": "move"}


@pytest.mark.parametrize("kind", ["", "Move", "MOVE", "ok", "room", "welcome", "q" * 10_000])
def test_server_types_and_made_up_types_are_unknown(kind: str) -> None:
    assert refused(json.dumps({"type": kind})).code == "unknown_type"


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"type": "ping", "foo": 1}, "foo"),
        ({"type": "ping", "room": "K7M4PQ"}, "room"),
        ({**MOVE, "Cell": 3}, "Cell"),
        ({**CREATE, "rules": {"row": 3}}, "rules.row"),
        ({**CREATE, "clock": {"move_ms": 1000, "seconds": 3}}, "clock.seconds"),
        ({"type": "claim", "room": "K7M4PQ", "as_": "win"}, "as_"),
    ],
)
def test_an_unknown_field_is_refused_and_named(message: dict[str, Any], path: str) -> None:
    bad = refused(json.dumps({**message, "id": "a"}))
    assert (bad.code, bad.path, bad.id) == ("bad_message", path, "a")
    assert f'there is no field "{path.rpartition(".")[2]}"' in describe_fault(bad)


@pytest.mark.parametrize(("data", "path"), TABLES["twice"].items())
def test_a_duplicate_key_is_refused_anywhere(data: str, path: str) -> None:
    bad = refused(data)
    assert (bad.code, bad.path) == ("bad_message", path)
    assert "appears twice" in describe_fault(bad)


def test_a_colon_in_a_text_is_no_second_key() -> None:
    chat = decode_request('{"type":"chat","room":"K7M4PQ","text":"a:b::c: \\"text\\":\\"x\\""}')
    assert chat == requests.Chat(room="K7M4PQ", text='a:b::c: "text":"x"')


@each(
    ("kind", "field", "value"),
    [(kind, field, value) for kind, fields in FIELDS_OF_TYPE.items() for field in fields for value in fields[field]],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_field(kind: str, field: str, value: object) -> None:
    valid = VALID.get(kind, {"type": kind})
    decode_request(json.dumps(valid))
    bad = refused(json.dumps({**valid, field: value, "id": "a"}))
    assert (bad.code, bad.path, bad.id) == ("bad_message", field, "a")
    assert describe_fault(bad).startswith(f"{kind}: {field} is ")


@each(("kind", "field"), [(kind, field) for kind, message in VALID.items() for field in message if field != "type"])
def test_a_missing_field_is_refused_and_named(kind: str, field: str) -> None:
    bad = refused(json.dumps({name: value for name, value in VALID[kind].items() if name != field}))
    assert (bad.code, bad.path, describe_fault(bad)) == (
        "bad_message",
        field,
        f'{kind}: the field "{field}" is missing.',
    )


@pytest.mark.parametrize(
    ("fields", "path"), [*TABLES["wrong settings"], ({"rules": {"blocked": [0] * 1025}}, "rules.blocked")]
)
def test_a_wrong_value_in_rules_or_a_clock_is_refused_with_its_path(fields: dict[str, Any], path: str) -> None:
    bad = refused(json.dumps({**CREATE, **fields}))
    assert (bad.code, bad.path) == ("bad_message", path)


def test_a_wrong_value_in_a_list_is_refused_with_its_place() -> None:
    bad = refused('{"type":"create","bots":["easy",5]}')
    assert (bad.code, bad.path, describe_fault(bad)) == (
        "bad_message",
        "bots[1]",
        "create: bots[1] is 5: expected str.",
    )


@each("number", ["1" * 5_000, "-" + "1" * 5_000, "1" * 5_000 + ".5", "1e999", "-1e999"])
@each("field", ["cell", "ply", "surprise"])
def test_a_number_past_all_bounds_is_refused_with_its_id_and_room(field: str, number: str) -> None:
    text = json.dumps({**MOVE, "id": "a", field: "HERE"}).replace('"HERE"', number)
    bad = refused(text)
    assert (bad.code, bad.id, bad.room) == ("bad_message", "a", "K7M4PQ")
    with pytest.raises(BadMessage):
        decode_push(text)


@pytest.mark.parametrize("data", ["[1e999]", "1e999", '{"type":"ping","x":1e999,"y":NaN}', '{"type":1e999'])
def test_a_number_past_all_bounds_in_no_message_is_refused(data: str) -> None:
    bad = refused(data)
    assert bad.code in {"bad_json", "bad_message"}
    assert bad.id is None


@pytest.mark.parametrize("id", [None, 5, 5.0, True, "", "i" * 65, [], {}])
def test_an_id_that_is_no_short_text_is_refused_and_not_sent_back(id: object) -> None:
    bad = refused(json.dumps({**MOVE, "id": id}))
    assert (bad.code, bad.path, bad.id, bad.room) == ("bad_message", "id", None, "K7M4PQ")


@pytest.mark.parametrize("id", ["i", "i" * 64, "ü", "\u0001", " "])
def test_an_id_of_up_to_64_characters_comes_back_with_the_fault(id: str) -> None:
    assert refused(json.dumps({**MOVE, "id": id, "cell": None})).id == id


def test_a_room_of_more_than_64_characters_is_not_sent_back() -> None:
    assert refused(json.dumps({**MOVE, "room": "K" * 65})).room is None


def test_a_chat_line_has_at_most_200_characters() -> None:
    longest = requests.Chat(room="K7M4PQ", text="ü" * 200)
    assert decode_request(encode(longest)) == longest
    bad = refused(json.dumps({"type": "chat", "id": "a", "room": "K7M4PQ", "text": "ü" * 201}))
    assert (bad.code, bad.path, bad.id, bad.room) == ("too_long", "text", "a", "K7M4PQ")
    assert "201" in describe_fault(bad)


def test_unknown_pushes_are_distinguished_from_invalid_ones() -> None:
    for text, code in (
        ('{"type":"firework","room":"K7M4PQ"}', "unknown_type"),
        ('{"type":"replaced"}', "bad_message"),
        ('{"type":"replaced","room":5}', "bad_message"),
        ('{"room":"K7M4PQ"}', "bad_message"),
        ("[]", "bad_message"),
        ("", "bad_json"),
        ('{"type":"replaced","room":NaN}', "bad_json"),
    ):
        with pytest.raises(BadMessage) as caught:
            decode_push(text)
        assert caught.value.code == code, text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELD_NAMES = st.sampled_from(
    ["id", "type", "room", "cell", "ply", "rules", "clock", "seat", "bots", "name", "token", "on", "text", "action"]
)
TYPE_NAMES = st.sampled_from([*FIELDS_OF_TYPE, "ping", "rooms", "room", "ok"])


def fault_of(decode: Callable[[str | bytes], object], data: str | bytes) -> BadMessage | None:
    """Return why the frame was refused, or None if it was accepted."""
    try:
        decode(data)
    except BadMessage as bad:
        return bad
    return None


def decode_or_refuse(data: str | bytes) -> None:
    """Decode as request and as push; check that a refusal fits a short frame."""
    if bad := fault_of(decode_request, data):
        assert describe_fault(bad)
        assert len(answer_to(bad)) < MAX_ERROR_BYTES
        assert bad.path is None or len(bad.path) <= 64
    if bad := fault_of(decode_push, data):
        assert bad.code in {"bad_json", "bad_message", "unknown_type"}


@given(st.binary() | st.text())
def test_random_frames_raise_nothing_but_bad_message(data: str | bytes) -> None:
    decode_or_refuse(data)


@given(TYPE_NAMES, st.dictionaries(FIELD_NAMES | st.text(max_size=5), JSON_VALUES, max_size=6))
def test_random_fields_of_known_types_raise_nothing_but_bad_message(kind: str, fields: dict[str, object]) -> None:
    decode_or_refuse(json.dumps({**fields, "type": kind}))
    decode_or_refuse(json.dumps({**fields, "type": kind}, ensure_ascii=False))


@given(PUSHES)
def test_no_push_is_a_request(push: Push) -> None:
    assert refused(encode(push)).code in {"unknown_type", "bad_message"}


@each("filler", ["z", "\u0001", '"', "\\", "😀", "\u202e", "`", ".", "["])
@each("place", ["type", "id", "room", "key", "nested", "value", "both", "all"])
def test_the_answer_stays_short_whatever_the_largest_message_holds(place: str, filler: str) -> None:
    long, echoed = filler * (MAX_MESSAGE_BYTES // 6), filler * 64
    messages: dict[str, dict[str, Any]] = {
        "type": {"type": long, "id": "a"},
        "id": {"type": "nonsense", "id": echoed},
        "room": {"type": "nonsense", "room": echoed},
        "both": {"type": "nonsense", "id": echoed, "room": echoed},
        "key": {"type": "ping", long: 1},
        "nested": {"type": "create", "rules": {long: 1}},
        "value": {"type": "create", "visibility": long},
        "all": {"type": "join", "id": echoed, "room": echoed, filler * 80: long},
    }
    message = messages[place]
    bad = refused(json.dumps(message, ensure_ascii=False))
    answer = answer_to(bad)
    assert len(answer) < MAX_ERROR_BYTES
    assert bad.id == message.get("id")
    assert json.loads(answer).get("id") == message.get("id")
