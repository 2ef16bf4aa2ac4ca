from typing import Any

import pytest

from tests.server.events.authors import ORGANISER, begun, entered, first_wins, new_event, opened, play_round, run, tick
from tictactoe_protocol import ROOM_CODE_ALPHABET
from tictactoe_protocol.events import EventLeave, EventReady, EventRun
from tictactoe_server.features.tournaments.commands import EnterEvent, Opened, RoomCodes, Score, apply
from tictactoe_server.features.tournaments.event import Event, due_at
from tictactoe_server.features.tournaments.table import rows
from tictactoe_server.rooms.room import Refused


def refusal(event: Event, actor: str, command: Any, now: int = 0) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        apply(event, actor, command, now)
    return str(refused.value.code), refused.value.data.get("why", "")


def test_bots_are_entered_at_once_under_names_that_tell_them_apart() -> None:
    event = new_event(bots=("hard", "rules", "hard"))
    assert [(one.name, one.bot) for one in event.entrants] == [
        ("hard-bot-1", "hard"),
        ("rules-bot", "rules"),
        ("hard-bot-2", "hard"),
    ]
    assert len({one.player for one in event.entrants}) == 3


@pytest.mark.parametrize(
    ("terms", "code"),
    [
        ({"rules": "three-players"}, ("not_allowed", "event marks")),
        ({"start": "full"}, ("not_allowed", "event few")),
        ({"late_until": 2}, ("not_allowed", "event late")),
        ({"size": 25}, ("event_full", "kind")),
        ({"bots": ("rules",) * 25}, ("event_full", "kind")),
        ({"bots": ("rules",) * 201}, ("event_full", "")),
        ({"roster": ("Ana", "ANA"), "entry": "roster"}, ("bad_name", "taken")),
    ],
)
def test_terms_that_fit_no_event_are_refused(terms: dict[str, Any], code: tuple[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        new_event(**terms)
    assert (str(refused.value.code), refused.value.data.get("why", "")) == code


def test_a_name_is_one_players_whatever_its_case() -> None:
    event = entered(["ana"])
    assert refusal(event, "other", EnterEvent("ANA")) == ("bad_name", "taken")
    assert [one.name for one in apply(event, "other", EnterEvent("Anna"), 0).entrants] == ["Ana", "Anna"]


def test_no_more_enter_than_fit() -> None:
    event = entered(3, size=3)
    assert refusal(event, "p4", EnterEvent("P4")) == ("event_full", "")
    assert apply(apply(event, "p1", EventLeave(event=""), 0), "p4", EnterEvent("P4"), 0).entrants[-1].player == "p4"
    assert refusal(run(event, "begin"), "p4", EnterEvent("P4")) == ("event_begun", "")


def test_an_event_with_a_code_admits_players_who_know_it() -> None:
    event = new_event(entry="code")
    assert refusal(event, "p1", EnterEvent("Ana")) == ("not_entered", "ticket")
    assert refusal(event, "p1", EnterEvent("Ana", ticket="WRÖNG")) == ("not_entered", "wrong ticket")
    ticket = event.ticket_of()
    misread = ticket.replace("L", "1")
    for written in (ticket, f" {ticket[:4]}-{ticket[4:]} ".lower(), misread, misread.replace("1", "i")):
        assert apply(event, "p1", EnterEvent("Ana", ticket=written), 0).entrants


def test_a_card_decides_the_name_and_is_for_one_place() -> None:
    event = new_event(entry="roster", roster=("Ana", "Bo"))
    card = event.ticket_of("Ana")
    assert len({card, event.ticket_of("Bo"), event.ticket_of()}) == 3
    tickets = "".join(event.ticket_of(f"{number}") for number in range(200))
    assert {*tickets} == {*ROOM_CODE_ALPHABET}, "no two characters that look alike"
    for wrong, why in ((event.ticket_of(), "wrong ticket"), ("", "ticket"), ("Ä", "wrong ticket")):
        assert refusal(event, "p1", EnterEvent("Ana", ticket=wrong)) == ("not_entered", why)
    event = apply(event, "p1", EnterEvent("Whoever", ticket=card), 0)
    assert [(one.player, one.name) for one in event.entrants] == [("p1", "Ana")]
    assert refusal(event, "p9", EnterEvent("", ticket=card)) == ("not_allowed", "event card")
    event = apply(event, "p9", EnterEvent("", ticket=card, over="p1"), 0)
    assert [(one.player, one.name) for one in event.entrants] == [("p9", "Ana")]
    event = run(apply(event, "p2", EnterEvent("", ticket=event.ticket_of("Bo")), 0), "begin")
    for ticket, why in ((card, "card"), ("AAAA", "wrong ticket")):
        assert refusal(event, "p2", EnterEvent("", ticket=ticket)) == ("not_entered", why)
    event = tick(event, 0)
    for over in ("", "p2"):
        assert refusal(event, "p3", EnterEvent("", ticket=card, over=over)) == ("not_allowed", "event card")
    event = apply(event, "p3", EnterEvent("", ticket=card, over="p9"), 0)
    assert {*event.pairings[0].players.values()} == {"p3", "p2"}


def test_a_card_can_move_to_another_device_between_games() -> None:
    event = new_event(entry="roster", roster=("Ana", "Bo"), double=True)
    cards = {name: event.ticket_of(name) for name in event.roster}
    for player, name in (("p1", "Ana"), ("p2", "Bo")):
        event = apply(event, player, EnterEvent("", ticket=cards[name]), 0)
    event = play_round(opened(tick(run(event, "begin"), 0)), first_wins)
    before = [(row.name, row.points, row.tie) for row in rows(event)]
    event = apply(event, "p1", EventReady(event="", on=False), 0)
    assert refusal(event, "p9", EnterEvent("", ticket=cards["Ana"])) == ("not_allowed", "event card")
    event = apply(event, "p9", EnterEvent("", ticket=cards["Ana"], over="p1"), 0)
    assert [(row.name, row.points, row.tie) for row in rows(event)] == before
    assert {one.player: one.status for one in event.entrants} == {"p9": "in", "p2": "in"}
    assert refusal(event, "p1", EventLeave(event="")) == ("not_entered", "")
    event = tick(event, 10_000)
    assert event.round == 2
    assert all({*one.players.values()} == {"p9", "p2"} for one in event.pairings)
    event = play_round(event, first_wins, 20_000)
    assert refusal(event, "p1", EnterEvent("", ticket=cards["Ana"])) == ("event_begun", "over")
    assert refusal(event, "p1", EnterEvent("", ticket="AAAA")) == ("not_entered", "wrong ticket"), "guessing is counted"


def test_the_organiser_adds_to_the_roster() -> None:
    event = new_event(entry="roster", roster=("Ana",))
    after = run(event, "add", name="Bo")
    assert after.roster == ("Ana", "Bo")
    assert run(after, "add", name="Bo") is after
    assert run(after, "cards", seq=0) is after
    removed = run(after, "expel", name="Ana")
    assert (removed.roster, run(removed, "expel", name="Ana") is removed) == (("Bo",), True)
    with_bo = apply(after, "p2", EnterEvent("", ticket=after.ticket_of("Bo")), 0)
    assert with_bo.entrants[0].name == "Bo"
    expel = EventRun(event="", seq=with_bo.seq, action="expel", name="Bo")
    assert refusal(with_bo, ORGANISER, expel) == ("not_allowed", "event now"), "with the name of an entrant"


def test_a_started_event_takes_no_entrants() -> None:
    assert refusal(begun(4), "late", EnterEvent("Late")) == ("event_begun", "")
    assert refusal(run(begun(4), "close"), "late", EnterEvent("Late")) == ("event_begun", "over")


def test_players_who_left_or_were_expelled_cannot_return() -> None:
    event = apply(begun(4), "p1", EventLeave(event=""), 0)
    assert refusal(event, "p1", EnterEvent("P1")) == ("event_begun", "")
    assert refusal(event, "p1", EventReady(event="", on=True)) == ("not_entered", "")
    event = run(entered(4), "expel", player="p1")
    assert refusal(event, "p1", EnterEvent("P1")) == ("not_allowed", "expelled")
    assert [one.player for one in event.field] == ["p2", "p3", "p4"]
    assert len(rows(run(event, "begin"))) == 3


def test_only_entrants_can_leave_or_pause() -> None:
    for command in (EventLeave(event=""), EventReady(event="", on=True)):
        assert refusal(entered(2), "other", command) == ("not_entered", "")


def test_entering_again_ends_a_pause() -> None:
    event = apply(begun(4), "p1", EventReady(event="", on=False), 0)
    back = apply(event, "p1", EnterEvent("P1"), 0)
    assert back.entrant("p1") == begun(4).entrant("p1")


def test_only_the_organiser_runs_it() -> None:
    request = EventRun(event="K7M4PQ", seq=1, action="begin")
    assert refusal(entered(2), "p1", request) == ("not_organiser", "")


@pytest.mark.parametrize("action", ["begin", "add", "expel", "close"])
def test_commands_for_an_older_state_are_stale(action: str) -> None:
    event = run(new_event(entry="roster", roster=("Ana",)), "add", name="Cy") if action == "add" else entered(2)
    request = EventRun(event="K7M4PQ", seq=event.seq - 1, action=action, player="p1", name="Bo")  # type: ignore[arg-type]
    assert refusal(event, ORGANISER, request) == ("stale", "event")


def test_a_result_that_cannot_be_is_a_fault() -> None:
    with pytest.raises(ValueError, match="no result"):
        apply(begun(4), "", Score("r1-1", "A"), 0)


def test_a_pairing_is_stored_with_its_room_before_it_is_open() -> None:
    event = begun(2)
    assert apply(event, "", Opened("r1-1"), 5) is event
    event = apply(event, "", RoomCodes({"r1-1": "ABC234", "r9-9": "ABC235"}), 5)
    (due,) = event.open_pairings
    assert (due.state, due.room) == ("due", "ABC234")
    event = apply(event, "", Opened("r1-1"), 6)
    (one,) = event.open_pairings
    assert (one.state, one.opened_at) == ("open", 6)
    event = apply(event, "", RoomCodes({"r1-1": "XYZ234"}), 7)
    (again,) = event.open_pairings
    assert (again.state, again.room) == ("due", "XYZ234")


def test_the_organiser_can_award_or_void_a_game() -> None:
    event = begun(4)
    one, other = event.open_pairings
    event = run(event, "forfeit", pairing=one.id, player=one.players["X"])
    event = run(event, "void", pairing=other.id.replace("r", "").replace("-", "."))  # as records name it
    first, second = event.in_round(1)
    assert (first.result, first.by, first.reason) == ("O", "organiser", "forfeit")
    assert (second.result, second.by, second.reason) == ("none", "organiser", "void")
    assert sum(row.points for row in rows(event)) == 1


@pytest.mark.parametrize(
    ("event", "action", "fields"),
    [
        (entered(1), "begin", {}),
        (entered(2), "next", {}),
        (entered(2), "pause", {}),
        (entered(2), "resume", {}),
        (begun(4), "next", {}),
        (entered(2), "expel", {"player": "nobody"}),
        (begun(4), "forfeit", {"pairing": "r7-7"}),
        (begun(4), "forfeit", {"pairing": "r1-1", "player": "nobody"}),
        (begun(4), "void", {}),
        (entered(2), "add", {"name": "Bo"}),
        (new_event(entry="roster"), "add", {}),
    ],
)
def test_actions_that_do_not_fit_the_status_are_refused(event: Event, action: str, fields: dict[str, Any]) -> None:
    request = EventRun(event="K7M4PQ", seq=event.seq, action=action, **fields)  # type: ignore[arg-type]
    code, why = refusal(event, ORGANISER, request)
    assert (code, why) == ("not_allowed", "event few" if action == "begin" else "event now")


def test_the_next_round_begins_five_seconds_after_the_last_result() -> None:
    event = play_round(begun(4), first_wins, now=1_000)
    assert due_at(event) == 6_000
    assert tick(event, 5_999) is event
    assert tick(event, 6_000).round == 2


def test_a_manually_advanced_round_waits_ten_minutes() -> None:
    event = play_round(begun(4, advance="hand"), first_wins, now=1_000)
    assert due_at(event) == 601_000
    assert tick(event, 600_999) is event
    assert tick(event, 601_000).round == 2
    by_hand = run(event, "next", 2_000)
    assert due_at(by_hand) == 2_000
    assert run(by_hand, "next", 2_001) is by_hand
    assert tick(by_hand, 2_000).round == 2


def test_a_full_event_starts_by_itself_if_configured() -> None:
    event = entered(3, start="full", size=3)
    assert (event.status, due_at(event)) == ("running", 5_000)
    assert tick(event, 5_000).round == 1


def test_a_paused_event_continues_where_it_was() -> None:
    event = run(begun(4), "pause")
    event = play_round(event, first_wins, 1_000)
    assert (event.status, due_at(event)) == ("paused", None)
    assert tick(event, 10**9) is event
    event = run(event, "resume", 2_000)
    assert run(event, "resume", 2_000) is event
    assert due_at(event) == 7_000
    event = run(run(event, "pause", 3_000), "resume", 10**6)
    assert due_at(event) == 10**6 + 5_000


def test_an_event_that_is_closed_has_nothing_left_to_do() -> None:
    event = run(begun(4), "close")
    assert (event.status, due_at(event), event.open_pairings) == ("over", None, [])
    assert {one.by for one in event.pairings} == {"organiser"}
    assert run(entered(4), "close").status == "void"
    assert apply(event, "p1", EventLeave(event=""), 0) is event
    assert apply(event, "p1", EventReady(event="", on=False), 0) is event


def test_an_event_says_what_each_role_may_do() -> None:
    players = {"in": ("leave", "away"), "away": ("leave", "ready")}
    waiting = new_event(entry="roster", roster=("Ana", "Bo", "Cy"))
    before = ("expel", "close", "add", "cards")
    assert new_event(entry="roster", roster=("Ana", "Bo"), size=2).may["organiser"] == ("expel", "close", "cards")
    assert waiting.may == players | {"organiser": before, "card": ("join",), "": ("join",)}
    for name in ("Ana", "Bo"):
        waiting = apply(waiting, name, EnterEvent("", ticket=waiting.ticket_of(name)), 0)
    assert waiting.may["organiser"] == ("begin", "expel", "close", "add", "cards")
    late = opened(tick(run(waiting, "begin"), 0))
    actions = ("pause", "expel", "forfeit", "void", "close", "cards")
    add = EventRun(event="K7M4PQ", seq=late.seq, action="add", name="Dee")
    assert refusal(late, ORGANISER, add) == ("event_begun", "")
    assert late.may == players | {"organiser": actions, "card": ("join",), "": ()}
    between = play_round(opened(begun(4)), first_wins)
    assert between.may == players | {"organiser": ("next", "pause", "expel", "close"), "card": (), "": ()}
    assert run(between, "pause").may["organiser"] == ("resume", "expel", "close")
    assert run(between, "close").may == {}
