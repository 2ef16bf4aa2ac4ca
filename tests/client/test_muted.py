from tests.client.states import ANA, BO, state
from tictactoe_client.text.talk import Muted
from tictactoe_protocol.pushes import ChatLine


def line(name: str, player: str, seat: str | None = None) -> ChatLine:
    return ChatLine(room="K7M4PQ", from_=name, seat=seat, text="hello", at=0, player=player)


def test_one_at_the_table_is_muted_by_name_in_any_case_and_stays_so_under_another() -> None:
    muted = Muted(ANA)
    assert muted.hears(line("bo", BO, "O"))
    assert muted.mute("Bo", state()) == "bo is muted. To hear them again: unmute bo"
    assert not muted.hears(line("bo", BO, "O"))
    assert not muted.hears(line("bobby", BO, "O"))
    assert muted.hears(line("eve", "p-eve"))
    assert muted.describe() == "Muted: bo."
    assert muted.unmute("BO") == "bo is not muted."
    assert muted.hears(line("bo", BO, "O"))


def test_a_watcher_is_muted_once_they_have_spoken() -> None:
    muted = Muted(ANA)
    assert muted.mute("eve", state()) == "Nobody here is called eve."
    assert muted.hears(line("eve", "p-eve"))
    muted.mute("eve", state())
    assert not muted.hears(line("eve", "p-eve"))
    assert muted.hears(line("eve", "p-another-eve"))


def test_muting_oneself_and_unmuting_others_are_refused() -> None:
    muted = Muted(ANA)
    assert muted.mute("ana", state()) == "That is you."
    assert muted.unmute("bo") == "bo is not muted."
    assert muted.describe() == "Nobody is muted. Type mute and a name."
