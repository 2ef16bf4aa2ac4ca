from hypothesis import given
from hypothesis import strategies as st

from tictactoe_client.tui.foot import arrange_foot, fit_keys
from tictactoe_client.tui.picture import measure

GAME = "1-9 or qwe/asd/zxc place  arrows+Enter  Tab chat  : command  ? help"
HOME = "↑↓ choose  Enter open  r refresh  ? help  t theme  s settings  Ctrl+Q quit"
REFUSAL = "B2 is taken by O. Free: A1 B1 C1 A2 C2 A3 B3 C3 D3."


def fit(text: str, width: int) -> str:
    hints = [(keys, does) for keys, _, does in (item.rpartition(" ") for item in text.split("  "))]
    return "  ".join(f"{keys} {does}".strip() for keys, does in fit_keys(hints, width, ("help",)))


@given(st.integers(6, 100))
def test_no_key_is_cut(width: int) -> None:
    for text in (GAME, HOME):
        fitted = fit(text, width)
        assert measure(fitted) <= width
        assert set(fitted.split("  ")) <= set(text.split("  "))
        assert "? help" in fitted


def test_a_long_refusal_uses_a_second_line_if_available() -> None:
    foot = arrange_foot(None, (REFUSAL, "warn"), 38, 4)
    assert [text for text, _ in foot.status] == ["B2 is taken by O. Free: A1 B1 C1 A2 C2", "A3 B3 C3 D3."]
    assert {role for _, role in foot.status} == {"warn"}


def test_in_one_line_it_ends_after_a_word() -> None:
    foot = arrange_foot(("bo offers a draw.   Ctrl+Y accept", "warn"), (REFUSAL, "warn"), 38, 2)
    assert [text for text, _ in foot.status] == ["B2 is taken by O. Free: A1 B1 C1 A2 …"]
    assert [text for text, _ in foot.banner] == ["bo offers a draw.   Ctrl+Y accept"]


def test_an_empty_prompt_makes_room_and_a_typed_move_does_not() -> None:
    assert arrange_foot(None, (REFUSAL, ""), 56, 2, beside=("move: _", "dim"), may_drop=True).beside == ("", "")
    foot = arrange_foot(None, (REFUSAL, ""), 56, 2, beside=("move: h_", "title"))
    assert foot.beside == ("move: h_", "title")
    assert len(foot.status) == 2


@given(st.text(max_size=90), st.text(max_size=90), st.integers(20, 80), st.integers(2, 6), st.booleans())
def test_a_foot_keeps_to_its_lines_and_width(banner: str, status: str, width: int, rows: int, may_drop: bool) -> None:
    asked = (banner, "warn") if banner.strip() else None
    foot = arrange_foot(asked, (status, ""), width, rows, beside=("move: h_", ""), may_drop=may_drop)
    assert foot.height <= rows
    assert foot.status
    assert bool(foot.banner) is (asked is not None)
    assert all(measure(text) <= width for text, _ in (*foot.banner, *foot.status))
    assert measure(foot.status[-1][0]) <= width - (measure(foot.beside[0]) + 2 if foot.beside[0] else 0)
