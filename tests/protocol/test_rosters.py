import pytest

from tictactoe_protocol.terms import ClockFields
from tictactoe_words.rosters import read_roster
from tictactoe_words.tournaments import describe_plan

FAST, SLOW, DAILY = ClockFields(180_000, 2_000), ClockFields(move_ms=10_000), ClockFields(days=1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("Anna\nBen\n\n Cem \r\nDana", ("Anna", "Ben", "Cem", "Dana")),
        ("Anna, Ben, Cem", ("Anna", "Ben", "Cem")),
        ("Name\nAnna\nBen", ("Anna", "Ben")),
        ('"Anna"\n"Ben"', ("Anna", "Ben")),
        ("Lena\nJan\nLena\nLENA", ("Lena 1", "Jan", "Lena 2", "LENA 3")),
        ("Anna\tKoch\nBen\tRot", ("Anna", "Ben")),
        ("Nr;Vorname;Nachname\r\n1;Lena;Koch\r\n2;Lena;Maus\r\n3;Jürgen;Özil\r\n", ("Lena K.", "Lena M.", "Jürgen")),
        ("Name,Vorname\nKoch,Lena\nRot,Lena", ("Lena K.", "Lena R.")),
        ("1\tLena\tlena@example.org\n2\tJan\tjan@example.org", ("Lena", "Jan")),
        ("Koch, Lena\nRot, Jan", ("Lena", "Jan")),
        ("Name\nKoch, Lena\nRot, Jan", ("Lena", "Jan")),
        ("Lena\tw\tKoch\nLena\tw\tRot\nLena", ("Lena K.", "Lena R.", "Lena")),
        ("Vorname\tKlasse\nLena\t5b\nLena\t5b", ("Lena 1", "Lena 2")),
        ("Vorname, Nachname\nLena, Koch\nJan, Rot", ("Lena", "Jan")),
        (
            "Klasse 5b\t\t\n\nNachname\tVorname\tKlasse\nKoch\tLena\t5b\n\t\t\nKorn\tLena\t5b\nKorn\tLENA\t5b\n",
            ("Lena Koc.", "Lena Kor. 1", "LENA Kor. 2"),
        ),
        ("Nr.\tName, Vorname\tKlasse\n1\tKoch, Lena\t5b\n2\tKaya, Lena\t5b", ("Lena Ko.", "Lena Ka.")),
        ("Ana\nBo\nCara\nStudent\nDan", ("Ana", "Bo", "Cara", "Student", "Dan")),
        ("Anna, Ben, Name", ("Anna", "Ben", "Name")),
        ("Klasse 5b\nName\nAnna\nBen", ("Anna", "Ben")),
        ("Nachname;;Klasse\nKoch;Lena;5b\nRot;Jan;5b", ("Koch", "Rot")),
        ("Koch, Lena\nRot, Jan\nMax", ("Lena", "Jan", "Max")),
        ("Koch, Max\nRot, Max\nMax", ("Max K.", "Max R.", "Max")),
    ],
)
def test_the_names_in_a_pasted_list_are_read(text: str, names: tuple[str, ...]) -> None:
    assert read_roster(text) == names


def test_of_a_long_list_only_so_many_people_and_letters_are_read() -> None:
    assert len(read_roster("A\tB\n" * 3_000)) == 1_000
    assert read_roster("A" * 3_000) == ("A" * 64,)


@pytest.mark.parametrize(
    ("kind", "players", "clock", "plan"),
    [
        ("round_robin", 1, FAST, ""),
        ("round_robin", 5, FAST, "5 players, 5 rounds, about 9 minutes."),
        ("round_robin", 25, FAST, "25 players are too many for this kind, which takes 24."),
        ("swiss", 5, FAST, "5 players, 3 rounds, about 5 minutes."),
        ("swiss", 200, FAST, "200 players, 8 rounds, about 14 minutes."),
        ("swiss", 201, FAST, "201 players are too many for this kind, which takes 200."),
        ("knock_out", 5, FAST, "5 players, 3 rounds, about 12 minutes."),
        ("knock_out", 24, SLOW, "24 players, 5 rounds, about 14 minutes."),
        ("knock_out", 200, DAILY, "200 players, 8 rounds, about 518 hours."),
    ],
)
def test_a_plan_has_players_rounds_and_a_rough_duration(kind: str, players: int, clock: ClockFields, plan: str) -> None:
    assert describe_plan(kind, players, 9, clock, 30_000) == plan
