import pytest
from msgspec import UNSET

from tictactoe_engine import PRESETS, InvalidRules, Rules
from tictactoe_protocol.terms import RulesFields, choice_of, rules_of


def test_saying_nothing_chooses_classic() -> None:
    assert rules_of(UNSET) == rules_of("classic") == rules_of(RulesFields()) == PRESETS["classic"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_chosen_by_its_name_and_said_by_it(name: str) -> None:
    assert rules_of(name) is PRESETS[name]
    assert choice_of(PRESETS[name]) == name


def test_rules_without_a_preset_are_spelled_out() -> None:
    rules = Rules(rows=4, columns=5, line=3, marks="ABC", blocked=frozenset({7, 2}), gravity=True)
    choice = choice_of(rules)
    assert choice == RulesFields(4, 5, 3, "ABC", (2, 7), misere=False, gravity=True)
    assert rules_of(choice) == rules


def test_a_preset_spelled_out_is_that_preset() -> None:
    assert rules_of(RulesFields(rows=6, columns=7, line=4, gravity=True)).preset == "connect-four"


def test_rules_that_cannot_be_played_are_refused_with_their_field() -> None:
    with pytest.raises(InvalidRules) as caught:
        rules_of(RulesFields(blocked=(9,)))
    assert (caught.value.code, caught.value.field) == ("bad_rules", "blocked")
