"""From what a request chose to what the engine plays: presets by name, rules spelled out."""

from __future__ import annotations

import difflib

from msgspec import UNSET, UnsetType

from tictactoe_engine import PRESETS, InvalidRules, Rules
from tictactoe_protocol.refusals import describe_refusal
from tictactoe_protocol.terms import RulesChoice, RulesFields


def rules_of(choice: RulesChoice | UnsetType) -> Rules:
    """Return the rules that a request chose, ``classic`` where it said nothing; raises `InvalidRules`."""
    if choice is UNSET:
        return PRESETS["classic"]
    if isinstance(choice, RulesFields):
        return choice.to_rules()
    if choice in PRESETS:
        return PRESETS[choice]
    close = difflib.get_close_matches(choice, PRESETS, 1)
    hint = {"why": "close", "close": close[0]} if close else {"why": "unknown", "presets": list(PRESETS)}
    data = {**hint, "name": choice}
    raise InvalidRules("bad_rules", describe_refusal("bad_rules", data) or "", "rules", data)


def choice_of(rules: Rules) -> str | RulesFields:
    """Return how a request says `rules`: their preset's name, else spelled out."""
    return rules.preset or RulesFields.of(rules)
