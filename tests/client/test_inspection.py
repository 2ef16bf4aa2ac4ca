"""Texts of a server are safe to draw when they reach the client, or are refused."""

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from tests.client.models import model_of
from tests.client.states import ANA
from tests.client.states import state as honest_state
from tests.corpus import CORPUS, KINDS, SURROGATES, faults_in
from tests.engine.random_games import open_games, rule_sets
from tests.faults.hostile_server import CLIENT, OTHER, everything_said, make_welcome, past_game, state, summary, the_end
from tictactoe_client.exits import exit_code_of
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.errors import ProtocolBroken
from tictactoe_client.online.inspection import read_message
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.text.answers import answer_query, draw_board
from tictactoe_client.text.arrival import describe_arrival, describe_progress
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.lobby import describe_terms, list_games, list_rooms
from tictactoe_client.text.wording import describe_choices, describe_due
from tictactoe_client.tui.lists import align
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.picture import describe_end, fill_panel
from tictactoe_engine import Position, Rules
from tictactoe_protocol import encode
from tictactoe_protocol.events import Call, EventState
from tictactoe_protocol.pushes import CellValue, ChatLine, Ok, Push, Result, RoomState
from tictactoe_words.attendance import describe_progress as describe_progress_of_event
from tictactoe_words.telling import announce, describe_result, news_since
from tictactoe_words.tournaments import describe_call, list_events, tabulate, tabulate_pairings
from tictactoe_words.wording import describe_turn
from tictactoe_words.worth import describe_value, sign_of
from tools.examples import PUSH_EXAMPLES

NEVER_DRAWN = frozenset({"id", "token", "record"})
LONGEST = 1025
NONSENSE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    3,
    2**53 + 1,
    10**40,
    1.5,
    1e300,
    "",
    "X",
    "XO",
    "x" * 2000,
    [],
    {},
    [0],
)
ADDRESS = parse_address("ws://host:8765")
SWAP2 = Rules(5, 5, 4, exact=True, opening="swap2")
EXAMPLES = [
    *(push for examples in PUSH_EXAMPLES.values() for push in examples),
    *(frame for frame in (*everything_said("bo", 1), *the_end(9, "bo")) if not isinstance(frame, (str, bytes))),
    *(
        honest_state(range(ply), SWAP2, chosen=chosen)
        for ply, chosen in ((2, ()), (3, ()), (5, ("more",)), (6, ("X",)))
    ),
    Ok(id="1", rooms=(summary("bo"), summary("bo", status="playing")), games=(past_game("bo"),)),
]


def texts_in(value: Any, name: str = "") -> Iterator[str]:
    """Yield every text of a message that may be drawn, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            if key not in NEVER_DRAWN or name == "games":
                yield from texts_in(item, key)


@cache  # most messages differ in a single text
def list_faults(text: str) -> list[str]:
    return list(faults_in(text))


def read(text: str) -> Push | None:
    """Return the message, or None if it is refused or unknown; a refusal must be clean and of bounded length."""
    push, why = None, ""
    try:
        push = read_message(text).push
    except ProtocolBroken as broken:
        why = broken.message
    assert list_faults(why) == []
    assert len(why) < 300
    for said in texts_in(to_builtins(push)):
        assert list_faults(said) == []
        assert len(said) <= LONGEST
    return push


def read_state(message: Any) -> RoomState:
    push = read(message if isinstance(message, str) else json.dumps(message))
    assert isinstance(push, RoomState)
    return push


def draw(push: Push | None, old: RoomState | None = None) -> None:
    """Draw and describe a message with every front end."""
    if isinstance(push, RoomState):
        draw_state(push, old)
    elif isinstance(push, Ok):
        list_games(push.games or (), CLIENT)
        list_rooms(push.rooms or (), numbered=True)
        align(list_events(push.events or ()))
    elif isinstance(push, EventState):
        describe_terms(push.head)
        describe_progress_of_event(push, push.due_ms)
        align(tabulate(push.table, CLIENT))
        align({"": ("", ""), **tabulate_pairings(push)})
    elif isinstance(push, Call):
        describe_call(push)


def draw_state(new: RoomState, old: RoomState | None) -> None:
    settings = Settings(colour=True)
    for viewer in (CLIENT, "nobody"):
        describe_arrival(new, viewer, ADDRESS, 0.001)
        describe_result(new, viewer)
        describe_progress(new)
        draw_board(new, settings)
        for kind in ("last", "clock", "who", "free"):
            answer_query(kind, None, new, viewer)
        describe_help(new, settings, viewer)
        describe_due(new, viewer)
        seen = [new]
        if old is not None and old.rules == new.rules:
            announce(news_since(old, new), new, viewer)
            describe_choices(old, new, viewer)
            seen = [old, new]
        model = model_of(viewer, *seen)
        scene = model.scene(2.0)
        for parts in fill_panel(model, scene, 38, 20, ascii_only=False)[0]:
            Picture(38, 1).put_parts(0, 0, *parts)
        describe_end(model, scene, 38)


def places_in(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value in a message, the inner values last."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from places_in(item, (*place, key))


def changed(message: Any, place: tuple[Any, ...], change: Callable[[Any, Any], None]) -> str:
    """Return the message as JSON, with `change` applied to a copy of the container at this place and to its key."""
    copied = holder = copy.copy(message)
    for step in place[:-1]:
        holder[step] = copy.copy(holder[step])
        holder = holder[step]
    change(holder, place[-1])
    return json.dumps(copied)


def put(value: Any) -> Callable[[Any, Any], None]:
    def change(holder: Any, key: Any) -> None:
        holder[key] = value

    return change


def rename_to(name: str) -> Callable[[Any, Any], None]:
    def change(holder: Any, key: Any) -> None:
        if isinstance(holder, dict) and isinstance(key, str):
            holder[name] = holder.pop(key)

    return change


def drop(holder: Any, key: Any) -> None:
    del holder[key]


EVERY_KIND = [
    text for texts in itertools.zip_longest(*map(dict.values, KINDS.values())) for text in texts if text is not None
]


@pytest.mark.parametrize(
    "texts", [EVERY_KIND, *(pytest.param([*kind.values()], marks=pytest.mark.long) for kind in KINDS.values())]
)
def test_untrusted_text_is_cleaned_in_every_field(texts: list[str]) -> None:
    several = itertools.cycle(texts)
    for push in EXAMPLES:
        message = to_builtins(push, str_keys=True)
        for place in places_in(message):
            text = next(several)
            draw(read(changed(message, place, put(text))))
            draw(read(changed(message, place, rename_to(text))))


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)
def test_a_message_of_a_stranger_s_words_in_its_proper_form_is_cleaned_and_kept(text: str) -> None:
    old = None
    for frame in (*everything_said(text, 1), *the_end(9, text)):
        if isinstance(frame, str):
            assert read(frame) is None
        elif isinstance(frame, bytes) or type(frame).__name__ == "Closed":
            continue
        else:
            push = read(encode(frame).decode())
            assert type(push) is type(frame)
            draw(push, old)
            old = push if isinstance(push, RoomState) else old


@pytest.mark.parametrize("text", SURROGATES)
def test_a_lone_surrogate_breaks_the_protocol(text: str) -> None:
    with pytest.raises(ProtocolBroken):
        read_message(f'{{"type":"closed","room":"K7M4PQ","reason":{text}}}')


@pytest.mark.parametrize("tries", [2, pytest.param(len(NONSENSE), marks=pytest.mark.long)])
def test_nonsense_in_any_place_is_refused_or_harmless(tries: int) -> None:
    old, several = state(), itertools.cycle(NONSENSE)
    for push in EXAMPLES:
        message = to_builtins(push, str_keys=True)
        for place in places_in(message):
            draw(read(changed(message, place, drop)), old)
            for nonsense in itertools.islice(several, tries):
                draw(read(changed(message, place, put(nonsense))), old)


@given(st.data())
def test_a_state_that_is_wrong_in_several_places_is_refused_or_can_be_drawn(data: st.DataObject) -> None:
    message = to_builtins(data.draw(st.sampled_from([push for push in EXAMPLES if isinstance(push, RoomState)])))
    values = st.sampled_from([*NONSENSE, "#........", "XXXXXXXXX", "X..", 2, 4, "O", "over", "playing", {"O": None}])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(list(places_in(message))))
        message = json.loads(changed(message, place, put(data.draw(values))))
    draw(read(json.dumps(message)), state())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    ),
    st.sampled_from(["room", "ok", "error", "welcome", "chat", "lobby", "closed", "replaced", "notice", "new"]),
)
def test_any_json_is_a_message_or_refused(value: Any, kind: str) -> None:
    read(json.dumps(value))
    read(json.dumps({**(value if isinstance(value, dict) else {"room": value}), "type": kind}))


@given(open_games(rule_sets(max_marks=3)))
def test_valid_states_pass_inspection_unchanged(position: Position) -> None:
    if not position.passed:
        honest = honest_state(position.moves, position.rules, chosen=position.chosen)
        assert read_message(encode(honest).decode()).push == honest


WRONG: dict[str, tuple[dict[str, Any], str]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())


@pytest.mark.parametrize(("fields", "why"), WRONG.values(), ids=WRONG)
def test_a_state_that_contradicts_itself_is_refused_with_its_reason(fields: dict[str, Any], why: str) -> None:
    message = {**to_builtins(honest_state((4,))), **fields}
    with pytest.raises(ProtocolBroken) as caught:
        read_message(json.dumps(message | {"type": "room"}))
    assert caught.value.reason == why


OPENING = {"rule": "swap2", "step": "choose", "places": None, "left": 0, "options": ["X", "O", "more"]}
ODD_OPENINGS: dict[str, dict[str, Any]] = {
    "none where one is due": {"opening": None},
    "of another rule": {"opening": OPENING | {"rule": "pie"}},
    "other options": {"opening": OPENING | {"options": ["X", "O", "A"]}},
    "many options": {"opening": OPENING | {"options": ["X", "O", "more"] * 99}},
    "no options": {"opening": OPENING | {"options": []}},
    "a step of a newer rule": {"opening": OPENING | {"step": "sing"}},
    "places a word": {"opening": OPENING | {"step": "place", "places": "XO", "left": 1, "options": []}},
    "many left": {"opening": OPENING | {"left": 10**9}},
    "turn of the other": {"turn": "X"},
    "chosen by nobody": {"chosen": ["Q"], "opening": None},
    "chosen too often": {"chosen": ["more", "more", "X"], "opening": None},
}


@pytest.mark.parametrize("fields", ODD_OPENINGS.values(), ids=ODD_OPENINGS)
def test_an_opening_that_does_not_follow_is_refused(fields: dict[str, Any]) -> None:
    honest = to_builtins(honest_state((0, 1, 2), SWAP2))
    odd = {key: value for key, value in (honest | fields).items() if value is not None or key in honest}
    odd = odd if fields.get("opening", odd) else {key: value for key, value in odd.items() if key != "opening"}
    with pytest.raises(ProtocolBroken, match="Invalid value of opening"):
        read_message(json.dumps(odd | {"type": "room"}))


def test_opening_choices_are_inspected_after_the_end_too() -> None:
    over = honest_state((0, 1, 2), SWAP2, chosen=("X",), result=Result("X", "resigned"))
    assert read_state(encode(over).decode()) == over
    assert read_state(to_builtins(over) | {"type": "room", "opening": OPENING}) == over
    with pytest.raises(ProtocolBroken, match="Invalid value of opening"):
        read_message(json.dumps(to_builtins(over) | {"type": "room", "chosen": ["Q"]}))


@pytest.mark.parametrize("extra", [{}, {"name": "x" * 600}])
def test_an_opening_that_this_client_does_not_know_is_left_out_and_the_game_can_be_watched(extra: Any) -> None:
    """Also for a client that knows no openings, and if the message is checked field by field."""
    honest = honest_state((0, 1, 2), Rules(5, 5, 4))
    newer = to_builtins(honest) | {"type": "room", "opening": OPENING | {"rule": "swap3"}, "chosen": ["less"]}
    newer["rules"] |= {"opening": "swap3"}
    newer["seats"]["X"] |= extra
    known = read_state(newer)
    assert replace(known, seats=honest.seats) == honest
    lists = to_builtins(Ok(id="1", rooms=(summary("bo"),), games=(past_game("bo"),)), str_keys=True) | {"type": "ok"}
    for entry in (*lists["rooms"], *lists["games"]):
        entry["rules"] |= {"opening": "swap3"}
    listed = read(json.dumps(lists))
    assert isinstance(listed, Ok)
    assert listed.rooms
    assert listed.games
    assert (listed.rooms[0].rules.opening, listed.games[0].rules.opening) == (None, None)


def test_a_turn_and_a_result_count_in_their_status_alone() -> None:
    message = to_builtins(honest_state((4,)))
    result = {"winner": "X", "reason": "resigned", "line": []}
    over = read_state(message | {"type": "room", "status": "over", "result": result})
    playing = read_state(message | {"type": "room", "result": result})
    assert (over.turn, over.result is None) == (None, False)
    assert (playing.turn, playing.result) == ("O", None)


def test_impossible_rules_are_refused() -> None:
    message = to_builtins(honest_state())
    message["rules"]["line"] = 40
    with pytest.raises(ProtocolBroken, match="A line has 2 to 32 marks, not 40"):
        read_message(json.dumps(message))


def test_names_and_chat_are_cut_to_the_protocols_limits() -> None:
    line = ChatLine(room="K7M4PQ", from_="x" * 1000, seat=None, text="y" * 10**6, at=0, player=OTHER)
    push = read(encode(line).decode())
    assert isinstance(push, ChatLine)
    assert push.from_ == "x" * 24 + "…"
    assert push.text == "y" * 200 + "…"


def test_an_unprintable_name_is_shown_as_a_question_mark() -> None:
    push = read_state(encode(state(text="\u200b")).decode())
    assert {seat.name for seat in push.seats.values() if seat} == {"?"}


def test_a_token_is_kept_as_it_came_but_not_without_end() -> None:
    came = make_welcome(token="\u202eé\x7f")
    assert read_message(encode(came).decode()).push == came
    with pytest.raises(ProtocolBroken, match="Invalid value of token"):
        read_message(encode(came).decode().replace("é", "é" * 200))


@pytest.mark.parametrize("extra", [{"hold_ms": -1}, {"held_ms": {"K7M4PQ": -1}}, {"held_ms": {"rm -r": 1}}])
def test_a_welcome_that_holds_no_seat_in_no_room_is_refused(extra: dict[str, object]) -> None:
    usual = to_builtins(make_welcome())
    assert read(json.dumps({**usual, "hold_ms": 0, "held_ms": {"K7M4PQ": 0}}))
    with pytest.raises(ProtocolBroken):
        read_message(json.dumps({**usual, **extra}))


def test_a_result_with_an_unknown_reason_is_described() -> None:
    message = to_builtins(honest_state((0, 3, 1, 4, 2)))
    read_state(message)
    message["result"]["reason"] = "boredom"
    over = read_state(message)
    assert describe_result(over, ANA) == "You win! The game ended by boredom."
    nobody = replace(over, result=Result(None, "boredom"))
    assert describe_result(nobody, ANA) == "There is no winner. The game ended by boredom."
    assert exit_code_of(nobody, ANA, with_result=True) == ExitCode.ABANDONED


def test_an_unknown_status_is_shown_by_its_name() -> None:
    message = {**to_builtins(honest_state((0, 3))), "status": "adjourned", "turn": None}
    resting = read_state(message)
    assert describe_turn(resting, ANA) == "adjourned"
    model = model_of(ANA, resting)
    assert (model.room.plays, model.room.is_my_turn) == (False, False)


def test_a_worth_of_a_kind_that_this_client_does_not_know_is_unclear() -> None:
    value = CellValue("fortress", None, 0.5)
    assert (describe_value(value), sign_of(value)) == ("unclear, looks good", "~+")
