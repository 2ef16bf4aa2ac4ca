from tests.fakes import FakeClock
from tests.peer import Peer, two_playing
from tictactoe_server.server import Server


def lines_seen(peer: Peer) -> list[str]:
    return [message["text"] for message in peer.seen if message["type"] == "chat"]


async def test_watchers_cannot_write_in_a_players_only_chat(ana: Peer, eve: Peer) -> None:
    room = (await ana.ask("create", chat="players"))["room"]
    assert (await ana.state())["chat"] == "players"
    await eve.ask("watch", room=room)
    assert await eve.refusal("chat", room=room, text="Take the corner!") == "not_allowed"
    await ana.ask("chat", room=room, text="Quiet, please.")
    line = await eve.next_of("chat")
    assert line.keys() == {"type", "room", "from", "seat", "text", "at", "player"}
    assert (line["text"], line["from"], line["seat"]) == ("Quiet, please.", "ana", "X")
    assert line["player"] == ana.welcome["player"]
    assert lines_seen(ana) == []


async def test_empty_and_too_long_chat_lines_are_refused(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room):
        for text, code in (
            ("   ", "bad_message"),
            ("\u200b\u202e\n", "bad_message"),
            ("a" * 201, "too_long"),
            ("\u200b" * 201, "too_long"),
        ):
            refused = await ana.ask("chat", room=room, text=text)
            assert (refused["code"], refused["path"]) == (code, "text")
        await ana.ask("chat", room=room, text="next")
        assert (await bo.next_of("chat"))["text"] == "next"


async def test_a_burst_delays_only_its_sender(clocked: Server, clock: FakeClock) -> None:
    async with two_playing(clocked) as (ana, bo, room):
        replies = [await ana.ask("chat", room=room, text=f"line {number}") for number in range(8)]
        assert [reply["type"] for reply in replies] == ["ok"] * 5 + ["error"] * 3
        refused = replies[-1]
        assert (refused["code"], refused["room"]) == ("rate_limited", room)
        assert 0 < refused["retry_ms"] <= 5_000
        assert (await bo.ask("chat", room=room, text="me too"))["type"] == "ok"
        clock.advance(refused["retry_ms"])
        assert (await ana.ask("chat", room=room, text="line 8"))["type"] == "ok"
        assert await ana.refusal("chat", room=room, text="line 9") == "rate_limited"
        clock.advance(60_000)
        for number in range(10, 15):
            assert (await ana.ask("chat", room=room, text=f"line {number}"))["type"] == "ok"
        await bo.until(lambda message: message.get("text") == "line 14")
        assert lines_seen(bo) == [*(f"line {number}" for number in range(5)), "me too", "line 8"] + [
            f"line {number}" for number in range(10, 15)
        ]
