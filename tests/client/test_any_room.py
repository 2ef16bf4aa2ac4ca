"""The announcements of random games of two to four players."""

import re
from itertools import pairwise
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from tictactoe_words.telling import announce, news_since
from tools.vectors import coalesce, has_new_seats, play

LATER = re.compile(r" Waiting for them: \d:\d\d\.$|(?<=left the )(game|room)\.$|(?<= is )(here|back)\.$")
"""What depends on the newest state: how long a seat is held, and whether the game has begun or is over."""


@given(st.integers(0, 2**32))
def test_watchers_hear_the_same_if_states_are_coalesced(seed: int) -> None:
    chance = Random(seed)
    states = play(chance)
    assume(not any(event.type == "renamed" for state in states for event in state.news))  # sentences have the new name
    first, heard, coalesced = 0, list[str](), list[str]()
    for number, (old, state) in enumerate(pairwise(states), 1):
        heard += announce(news_since(old, state), state, "")
        if state is states[-1] or has_new_seats(state, states[number + 1]) or chance.random() < 0.2:
            newest = coalesce(states[first : number + 1])
            coalesced += announce(news_since(states[first], newest), newest, "")
            first = number
    assert [LATER.sub("", line) for line in coalesced] == [LATER.sub("", line) for line in heard]
