import json

from hypothesis import given
from hypothesis import strategies as st

from tictactoe_protocol import MAX_ERROR_BYTES, ErrorCode, encode, error_answer
from tictactoe_protocol.text import is_printable

SHORT_TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64)


@given(
    st.sampled_from(ErrorCode),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=2000),
    SHORT_TEXTS,
    SHORT_TEXTS,
    SHORT_TEXTS,
    st.none() | st.integers(0, 60_000),
)
def test_an_answer_is_short_printable_and_keeps_its_id(
    code: ErrorCode, message: str, id: str | None, room: str | None, path: str | None, retry_ms: int | None
) -> None:
    answer = error_answer(code, message, id=id, room=room, path=path, retry_ms=retry_ms)
    encoded = encode(answer)
    assert len(encoded) < MAX_ERROR_BYTES
    content = json.loads(encoded)
    assert content.get("id") == id
    assert content.get("retry_ms") == retry_ms
    assert content["code"] == code
    shown = content["message"] + content.get("room", "") + content.get("path", "")
    assert all(is_printable(character) for character in shown)


def test_the_largest_id_leaves_room_for_the_code() -> None:
    answer = error_answer(
        ErrorCode.HELLO_REQUIRED, "x" * 600, id="\u0001" * 64, room="r" * 64, path="p", retry_ms=60_000
    )
    assert json.loads(encode(answer)) == {
        "type": "error",
        "id": "\u0001" * 64,
        "code": "hello_required",
        "message": "Refused: hello_required.",
        "retry_ms": 60_000,
    }
    assert len(encode(answer)) < MAX_ERROR_BYTES
