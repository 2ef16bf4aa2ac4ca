from datetime import UTC, timedelta, timezone

import pytest
from msgspec.structs import replace

from tests.client.states import ANA, BO, CLASSIC, seat, state
from tictactoe_client.exits import exit_code_of
from tictactoe_client.input.intents import BadInput, parse_intent
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.events import Lost
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import answer_query
from tictactoe_client.text.arrival import describe_arrival, describe_attempts, describe_progress
from tictactoe_client.text.help import describe_controls, describe_help, list_home_help, list_room_help
from tictactoe_client.text.lobby import list_games, list_rooms
from tictactoe_client.version import describe_mismatch
from tictactoe_engine import PRESETS, Coordinates, Keys, Rules
from tictactoe_protocol.pushes import PastGame, PastPlayer, Result, RoomState, RoomSummary, SeatState
from tictactoe_protocol.terms import ClockFields, ClockState, ClockTerms, RulesState
from tictactoe_words.catalogue import LANGUAGES, speak, speaking
from tictactoe_words.commands import COMMANDS, Verb, word_of
from tictactoe_words.telling import describe_result
from tictactoe_words.wording import describe_rules

HOST = parse_address("ws://192.0.2.7:9000")
ALONE = state(seats={"X": seat(ANA, "ana"), "O": None})
THREE = PRESETS["three-players"]
TRYING = "Connection lost. Trying again"


def test_an_unnamed_guest_is_shown_the_assigned_name() -> None:
    guest = state(seats={"X": seat(ANA, "ana"), "O": seat(BO, "guest-otter")})
    told = describe_arrival(guest, BO, HOST, 0.012, with_own_name=True)
    assert told[1] == "You are O, guest-otter. ana is X."
    assert describe_arrival(guest, "p-watcher", HOST, 0.012, with_own_name=True)[1] == "ana is X, guest-otter is O."


def test_a_free_seat_shows_how_to_invite_a_player() -> None:
    assert describe_arrival(ALONE, ANA, HOST, 0.012)[1:] == [
        "You are X.",
        "Code  K7M4PQ",
        "Link  http://192.0.2.7:9000/K7M4PQ",
        "Or    tictactoe-client join http://192.0.2.7:9000/K7M4PQ",
    ]
    assert describe_arrival(ALONE, ANA, parse_address("localhost"), 0.012)[-1] == ("Or    tictactoe-client join K7M4PQ")


def test_the_moves_so_far_stand_in_one_line() -> None:
    assert describe_progress(state((0, 4, 2))) == ["3 moves have been played: X A1, O B2, X C1."]
    assert describe_progress(state((0,))) == ["1 move has been played: X A1."]
    assert describe_progress(state()) == []
    many = range(20)
    assert describe_progress(state(many, Rules(6, 6, 6)))[0].startswith("20 moves have been played: ... X C2,")


@pytest.mark.parametrize(
    ("rules", "settings", "line"),
    [
        (CLASSIC, Settings(), "To play, type 1-9 (1 2 3 on top) or a cell such as b2. h for help, leave to go."),
        (
            CLASSIC,
            Settings(keys=Keys.LETTERS),
            "To play, type q w e / a s d / z x c or a cell such as b2. /h for help, leave to go.",
        ),
        (PRESETS["gomoku"], Settings(), "To play, type a cell such as b2. h for help, leave to go."),
        (
            PRESETS["connect-four"],
            Settings(),
            "To play, type a column, A to G or 1 to 7. h for help, leave to go.",
        ),
    ],
)
def test_the_controls_match_the_board(rules: Rules, settings: Settings, line: str) -> None:
    assert describe_controls(rules, settings) == [line]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(coordinates=Coordinates.ROW_COLUMN_1), "2,3 (row 2,"),
        (Settings(coordinates=Coordinates.ROW_COLUMN_0), "1,2 (row 1,"),
        (Settings(coordinates=Coordinates.X_Y_1), "3,2 (c"),
        (Settings(keys=Keys.LETTERS), "Read: /s b2 a column, row or cell."),
        (
            Settings(keys=Keys.LETTERS),
            "Step: /p a move back, next a move on, board 5 after move 5, live the latest move.",
        ),
        (Settings(keys=Keys.PAD), "A move: 1-9 (7 8 9 on top) or b2 (column B, row 2)"),
    ],
)
def test_help_shows_pairs_slashes_and_keys_as_they_are_read(settings: Settings, words: str) -> None:
    assert words in "\n".join(describe_help(state(), settings, ANA))


def test_the_help_of_a_watcher_has_nothing_that_only_players_do() -> None:
    told = "\n".join(describe_help(state(), Settings(), "p-watcher"))
    assert not any(word in told for word in ("resign", "draw", "undo", "claim", "A move by"))
    assert "Step: p a move back, next a move on, board 5 after move 5, live the latest move." in told
    assert "resign" in "\n".join(describe_help(state(), Settings(), ANA))


def test_help_with_gravity_explains_drops_and_slashes() -> None:
    four = PRESETS["connect-four"]
    told = describe_help(state(rules=four), Settings(), ANA)
    assert told[1] == "A move: A to G, or 1 to 7 (a column or any cell of it; the mark falls to the lowest free cell)."
    assert "Ask: /b board, l last move, /f free cells, /c clocks, o who is here." in told
    assert any("/a [b2] around a cell or the last move, /d [b2] along its diagonals." in line for line in told)
    assert "Ask: b board, l last move, f free cells, c clocks, o who is here." in describe_help(
        state(rules=four), Settings(), "p-watcher"
    )


def test_every_command_is_understood_in_its_language_and_in_english() -> None:
    english = _typed_in("en")
    meant = {id: parse_intent(f"/{typed}", PRESETS["gomoku"]) for id, typed in english}
    for language in LANGUAGES:
        for id, typed in (*_typed_in(language), *english):
            assert parse_intent(f"/{typed}", PRESETS["gomoku"]) == meant[id], typed


@pytest.mark.parametrize("typed", ["zurück", "zuru\u0308ck", "ZURUECK"])
@pytest.mark.parametrize("in_ascii", [False, True])
def test_a_word_with_a_letter_that_is_no_ascii_may_be_typed_in_ascii(typed: str, *, in_ascii: bool) -> None:
    speak("de", in_ascii=in_ascii)
    assert parse_intent(typed, PRESETS["gomoku"]) == Verb("undo")
    assert word_of("undo") == ("zurueck" if in_ascii else "zurück")


@pytest.mark.parametrize(
    ("typed", "hint"), [("aufgben", "aufgeben"), ("resing", "Ein Zug sieht"), ("remis nanehmen", "remis annehmen")]
)
def test_suggestions_are_in_the_current_language(typed: str, hint: str) -> None:
    speak("de")
    with pytest.raises(BadInput, match=hint):
        parse_intent(typed, PRESETS["gomoku"])


def _typed_in(language: str) -> list[tuple[str, str]]:
    """Return the last name of each command in a language, with FILE as argument."""
    speak(language)
    typed = [(one.id, one.typed[-1]) for commands in COMMANDS.values() for one in commands if one.typed]
    return [
        (id, words.replace(word_of("argument file"), "FILE").translate({91: None, 93: None})) for id, words in typed
    ]


def test_full_screen_help_shows_keys_or_else_commands() -> None:
    keys = {"claim": "w", "command": ":"}
    topics = dict(list_room_help(PRESETS["gomoku"], Settings(), lambda action: keys.get(action, ""), plays=True))
    assert ("w", "claim the win") in topics["Game"]
    assert (":draw", "offer a draw") in topics["Game"]
    assert "Game" not in dict(list_room_help(CLASSIC, Settings(), lambda _: ":", plays=False))


def test_the_help_at_home_shows_where_each_key_works() -> None:
    topics = dict(list_home_help(lambda action: action))
    assert {("theme", "theme"), ("name", "Your name"), ("devices", "Your devices")} <= {*topics["Home"]}
    assert ("command", "command") not in topics["Everywhere"]
    assert ("command", "command") in topics["In a room: Also"]
    assert topics["In a room: Worth, where no two people play"][0] == ("review", "review")


@pytest.mark.parametrize(
    ("kind", "now", "line"),
    [
        ("last", state((0, 4, 2)), "Last: ana played C1, top right."),
        ("last", state((0, 4)), "Last: you played B2, centre."),
        ("last", state(), "No move has been played yet."),
        ("clock", state(), "There is no clock."),
        ("who", state(watchers=2), "ana is X and is online. You are O. 2 watchers."),
        ("free", state((0, 4, 2)), "Free: B1 A2 C2 A3 B3 C3."),
        ("free", state((35,), PRESETS["connect-four"]), "Free: A2 B1 C1 D1 E1 F1 G1."),
    ],
)
def test_queries_are_answered(kind: str, now: RoomState, line: str) -> None:
    assert answer_query(kind, None, now, BO) == [line]


def test_clocks_are_listed_by_player_name() -> None:
    terms = ClockTerms(initial_ms=180_000, increment_ms=0)
    timed = replace(state(), clock=ClockState({"X": 178_500, "O": 180_000}, "X"), time_control=terms)
    assert answer_query("clock", None, timed, BO) == ["Left: ana 2:58, bo 3:00."]
    assert answer_query("clock", None, timed, BO, passed_ms=70_000) == ["Left: ana 1:48, bo 3:00."]
    assert answer_query("clock", None, timed, BO, passed_ms=700_000) == ["Left: ana 0:00, bo 3:00."]
    assert describe_arrival(timed, BO, HOST, 0.01)[0].endswith("3 in a row, 3+0.")
    alone = replace(timed, seats={"X": seat(ANA, "ana"), "O": None})
    assert answer_query("clock", None, alone, ANA) == ["Left: ana 2:58, nobody 3:00."]


@pytest.mark.parametrize(
    ("viewer", "result", "code"),
    [
        (ANA, Result("X", "line"), 0),
        (BO, Result("X", "line"), 10),
        (BO, Result(None, "full"), 11),
        (BO, None, 12),
        ("p-watcher", Result("X", "line"), 0),
    ],
)
def test_the_exit_code_tells_the_result_when_asked_to(viewer: str, result: Result | None, code: int) -> None:
    assert exit_code_of(state((0,), result=result), viewer, with_result=True) == code
    assert exit_code_of(state((0,), result=result), viewer, with_result=False) == 0


def test_a_player_who_left_is_told_of_the_loss() -> None:
    seats: dict[str, SeatState | None] = {"X": seat(ANA, "ana"), "O": seat(BO, "bo", left=True)}
    assert exit_code_of(state((0,), seats=seats, result=Result("X", "resigned")), BO, with_result=True) == 10


def test_rooms_stand_in_columns() -> None:
    def summary(room: str, rules: Rules, other: SeatState | None, ply: int) -> RoomSummary:
        seats = {"X": seat(ANA, "ana"), "O": other}
        clock = ClockFields(initial_ms=180_000, increment_ms=2_000) if ply else None
        status = "playing" if other else "waiting"
        return RoomSummary(room, status, RulesState.of(rules), clock, seats, ply, 0, 41_000)

    rooms = [summary("K7M4PQ", CLASSIC, None, 0), summary("T2XW9C", PRESETS["gomoku"], seat(BO, "bo"), 12)]
    assert list_rooms(rooms) == [
        "K7M4PQ  waiting   3 by 3, 3 in a row    ana (X) v free (O)  no clock  0:41",
        "T2XW9C  12 moves  15 by 15, 5 in a row  ana (X) v bo (O)    3+2       0:41",
    ]
    assert list_rooms(rooms, numbered=True)[1].startswith("2.  T2XW9C")
    assert list_rooms([]) == []


def test_a_version_mismatch_says_which_side_is_too_old() -> None:
    newer = describe_mismatch(3)
    assert newer.startswith("The server speaks protocol 3 and this client (")
    assert newer.endswith("only protocol 2: upgrade the client the way you installed it.")
    assert describe_mismatch(1).endswith("needs protocol 2: ask the server's operator to upgrade it.")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (describe_rules(PRESETS["blocker"]), "3 by 3, 3 in a row, B2 blocked"),
        (describe_rules(PRESETS["misere"]), "3 by 3, 3 in a row loses"),
        (describe_rules(Rules(9, 9, 5, blocked=frozenset(range(9)))), "9 by 9, 5 in a row, 9 cells blocked"),
        (describe_result(state((0,), THREE, result=Result("X", "resigned")), ANA), "You win! No other player is left."),
        (
            describe_attempts(Lost("it broke", None, 60, 600), holds_seat=True),
            f"{TRYING} for up to 10 minutes. Your seat is held for 1 minute while the server runs.",
        ),
        (describe_attempts(Lost("it broke", None, 60, 600), holds_seat=False), f"{TRYING} for up to 10 minutes."),
        (describe_attempts(Lost("it broke", None, 60, 60), holds_seat=True), f"{TRYING} for up to 1 minute."),
        (describe_attempts(Lost("it broke", None, 0, 0), holds_seat=True), "Connection lost."),
    ],
)
def test_rules_an_end_and_attempts_to_reconnect_are_described(told: str, words: str) -> None:
    assert told == words


DAY = 1_924_970_700_000
PLAYERS = {"X": PastPlayer(ANA, "ana"), "O": PastPlayer(BO, "bo\x1b[2J")}


def game(id: str, result: Result, rules: Rules = PRESETS["classic"], *, at: int = DAY, moves: int = 5) -> PastGame:
    return PastGame(id, "K7M4PQ", 1, at, RulesState.of(rules), PLAYERS, result, moves)


GAMES = [
    game("12", Result("X", "line", (0, 1, 2))),
    game("9", Result(None, "agreed"), Rules(4, 4), moves=1),
    game("8", Result("O", "timeout")),
]


def test_games_are_one_line_each_with_the_viewer_s_own_result() -> None:
    assert list_games(GAMES, ANA, UTC) == [
        "12  2030-12-31 18:05  Tic-tac-toe         ana (X) v bo[2J (O)  won by a line       5 moves",
        "9   2030-12-31 18:05  4 by 4, 3 in a row  ana (X) v bo[2J (O)  drawn by agreement  1 move",
        "8   2030-12-31 18:05  Tic-tac-toe         ana (X) v bo[2J (O)  lost on time        5 moves",
    ]


def test_a_game_of_an_event_is_described_as_such() -> None:
    (line,) = list_games([replace(GAMES[0], event="EV3NTS", pairing="r3-2")], ANA, UTC)
    assert "Tic-tac-toe, event EV3NTS" in line
    with speaking("de"):
        assert "Tic-Tac-Toe" in list_games(GAMES, ANA, UTC)[0]


def test_players_get_their_own_line_if_a_row_is_too_wide() -> None:
    assert list_games(GAMES, ANA, UTC, width=100) == list_games(GAMES, ANA, UTC)
    assert list_games(GAMES[:1], ANA, UTC, width=60) == [
        "12  2030-12-31 18:05  Tic-tac-toe  won by a line  5 moves",
        "    ana (X) v bo[2J (O)",
    ]


def test_the_date_is_that_of_the_viewer_s_zone() -> None:
    (line,) = list_games(GAMES[:1], ANA, timezone(timedelta(hours=9)))
    assert "2031-01-01 03:05" in line


def test_no_game_is_no_line_and_no_date_breaks_the_list() -> None:
    assert list_games([], ANA) == []
    (line,) = list_games([game("1", Result("X", "line"), at=10**18)], BO, UTC)
    assert "date unknown" in line
    assert "lost by a line" in line
