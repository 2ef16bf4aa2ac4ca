"""The engine against the naive oracle: random rules and moves, legal and illegal, compared after every step.

`--hypothesis-profile many` plays a thousand games instead of twenty.
"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.comparison import Step, compare_game
from tests.engine.oracle import Plan


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    rows = draw(st.integers(1, 10))
    columns = draw(st.integers(2 if rows == 1 else 1, 10))
    marks = "XOABCD"[: draw(st.integers(2, 6))]
    cells = rows * columns
    return Plan(
        rows=rows,
        columns=columns,
        line=draw(st.integers(2, max(rows, columns))),
        marks=marks,
        blocked=tuple(draw(st.sets(st.integers(0, cells - 1), max_size=cells // 3))),
        misere=len(marks) == 2 and draw(st.booleans()),
        gravity=draw(st.booleans()),
        exact=draw(st.booleans()),
        opening=draw(st.sampled_from((None, "pie", "swap2"))),
    )


@st.composite
def games(draw: st.DrawFn) -> tuple[Plan, list[Step]]:
    plan = draw(plans())
    kinds = st.sampled_from(("legal", "legal", "legal", "legal", "any", "pass"))
    cells = plan.rows * plan.columns
    steps = st.lists(st.builds(Step, kinds, st.integers(0, 999)), min_size=cells // 2, max_size=2 * cells)
    return plan, draw(steps)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(games())
def test_engine_and_oracle_agree_after_every_step(game: tuple[Plan, list[Step]]) -> None:
    plan, steps = game
    assert compare_game(plan, steps) is None
