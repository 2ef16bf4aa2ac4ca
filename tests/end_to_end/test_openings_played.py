import asyncio
from pathlib import Path

from tests.end_to_end.clients import run_client
from tests.end_to_end.test_client_plain import open_room
from tests.end_to_end.test_plain_game import Sitting, compare
from tictactoe_engine.records import parse_record
from tictactoe_server.server import Server

OPTIONS = ("--board", "5x5", "--win", "4", "--exact", "--opening", "swap2")


async def test_a_swap2_game_in_plain_mode_is_watched_saved_and_replayed(server: Server, here: Path) -> None:
    """The texts that ana reads and types are in `transcripts/`."""
    async with run_client("new", *OPTIONS, "-n", "ana", "-s", server.url) as client:
        code, ana = await open_room(client), Sitting(client)
        place = (code, "-s", server.url)
        async with run_client("join", *place, "-n", "bo", "--language", "de") as bo, run_client("watch", *place) as eve:
            await ana.hear("Place X: 3 to go, then bo chooses a side.")
            await bo.until("Einer setzt drei für beide Seiten", "ana setzt X: noch 3, dann wählst du eine Seite.")
            await eve.until("Connected")  # before the events she has to see
            await ana.ask("c3", "You place X on C3.", "Place O: 2 to go, then bo chooses a side.")
            await ana.ask("c4", "You place O on C4.", "Place X: 1 to go, then bo chooses a side.")
            await ana.ask("d3", "You place X on D3.", "bo chooses a side.")
            await bo.until("ana setzt X auf D3.", "Wähle deine Seite.", "Tippe 1 oder tauschen: X spielen")
            await bo.ask("b3", "Wähle deine Seite. ana hat für beide Seiten drei gesetzt.")
            await bo.ask("undo", "Züge und Wahl der Eröffnung lassen sich nicht zurücknehmen.")
            await bo.ask(
                "mehr", "Du setzt zwei weitere, dann wählt ana.", "Setze O: noch 2, dann wählt ana eine Seite."
            )
            await bo.ask("b3", "Du setzt O auf B3.", "Setze X: noch 1, dann wählt ana eine Seite.")
            await bo.ask("d2", "Du setzt X auf D2.", "ana wählt eine Seite.")
            await ana.hear("bo places two more, then you choose.", "bo places X on D2.", "Choose your side.")
            await ana.hear("Type 1 or swap: play O, and move; 2 or stay: stay X, O moves.")
            await ana.ask("take o", "You take O: bo is X now.", "Your move, O.")
            await bo.until("ana nimmt O: Du bist jetzt X.")
            await ana.ask("e4", "You play E4.")
            await bo.until("Du bist am Zug, X.")
            bo.type("aufgeben", "aufgeben")
            await ana.hear("You win! bo resigns.", "Winner: ana, O.", "Rematch?")
            await eve.until("Winner: ana, O.")
            await eve.ask("save game.txt", "Saved in game.txt")
            await ana.ask("board 3", "Move 3 of 6: ana places X on D3.", "bo places two more, then you choose.")
            compare("opening", ana.text(server.url, code))
        client.type("leave")
        assert await client.end() == 0
    record = parse_record(await asyncio.to_thread((here / "game.txt").read_text))
    assert (record.chosen, record.players) == (("more", "O"), (("X", "bo"), ("O", "ana")))
    async with run_client("replay", "--json", "-n", "ana", "-s", server.url) as own:
        told = await own.message(type="record")
        choices = [{"ply": 3, "mark": "O", "take": "more"}, {"ply": 5, "mark": "X", "take": "O"}]
        assert (told["choices"], told["rules"]["opening"], told["rules"]["exact"]) == (choices, "swap2", True)
    async with run_client("replay", "game.txt", "--plain", "--at", "5", "--no-board") as shown:
        await shown.until("Move 5 of 6: bo places X on D2.", "ana takes O: bo is X now.")
    async with run_client("history", "-n", "ana", "-s", server.url) as games:
        line = await games.read_line()
        assert line is not None
        assert "exact lines only, swap2 opening  bo (X) v ana (O)  won by resignation" in line
