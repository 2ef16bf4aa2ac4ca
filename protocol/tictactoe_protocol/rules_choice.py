"""From what a request chose to what the engine plays: presets by name, rules spelled out."""

from __future__ import annotations

import difflib

from msgspec import UNSET, UnsetType

from tictactoe_engine import PRESETS, InvalidRules, Rules
from tictactoe_protocol.requests import RulesChoice, RulesFields


def rules_of(choice: RulesChoice | UnsetType) -> Rules:
    """Return the rules that a request chose, ``classic`` where it said nothing; raises `InvalidRules`."""
    if choice is UNSET:
        return PRESETS["classic"]
    if isinstance(choice, RulesFields):
        return choice.to_rules()
    if choice in PRESETS:
        return PRESETS[choice]
    close = difflib.get_close_matches(choice, PRESETS, 1)
    hint = f'Did you mean "{close[0]}"?' if close else f"Presets: {', '.join(PRESETS)}."
    raise InvalidRules("bad_rules", f'There are no rules named "{choice}". {hint}', "rules")


def choice_of(rules: Rules) -> str | RulesFields:
    """Return how a request says `rules`: their preset's name, else spelled out."""
    return rules.preset or RulesFields.of(rules)
