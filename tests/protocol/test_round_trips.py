import json
from typing import Any, get_args

from hypothesis import given

from tests.protocol.strategies import PUSHES, PUSHES_BY_KIND, REQUESTS, REQUESTS_BY_KIND
from tictactoe_protocol import decode_push, encode
from tictactoe_protocol.codec import decode_request
from tictactoe_protocol.pushes import Push, RoomState, Welcome
from tictactoe_protocol.requests import Request
from tools.examples import PUSH_EXAMPLES


@given(REQUESTS)
def test_every_request_comes_back_as_it_was_sent(request: Request) -> None:
    assert decode_request(encode(request)) == request
    assert decode_request(encode(request).decode()) == request


@given(PUSHES)
def test_every_push_comes_back_as_it_was_sent(push: Push) -> None:
    assert decode_push(encode(push)) == push
    assert decode_push(encode(push).decode()) == push


def test_the_properties_cover_every_message() -> None:
    assert set(REQUESTS_BY_KIND) == set(get_args(Request))
    assert set(PUSHES_BY_KIND) == set(get_args(Push))


STATE: dict[str, Any] = json.loads(encode(PUSH_EXAMPLES[RoomState][0]))


def test_a_client_ignores_fields_that_a_newer_server_adds() -> None:
    newer: dict[str, Any] = {
        **STATE,
        "weather": "fine",
        "seats": {"X": {**STATE["seats"]["X"], "name": "ana", "mood": "good"}},
    }
    state = decode_push(json.dumps(newer))
    assert isinstance(state, RoomState)
    assert state.seats["X"] is not None
    assert state.seats["X"].name == "ana"
    welcome = decode_push(
        '{"type":"welcome","protocol":2,"server":"s","player":"p","name":"n","token":"t","rooms":[],"hold_ms":60000,'
        '"sharing":true,"ladders":[],"motd":{}}'
    )
    assert isinstance(welcome, Welcome)


def test_a_state_holds_rules_that_the_engine_can_play() -> None:
    state = decode_push(json.dumps(STATE))
    assert isinstance(state, RoomState)
    assert state.rules.to_rules().preset == "classic"
    assert type(state.rules).of(state.rules.to_rules()) == state.rules
