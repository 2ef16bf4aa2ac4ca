"""Tokens are shown only to their players: never in the log, in answers to others, or in the data."""

import signal
from pathlib import Path

from tests.faults.harness import Harness
from tests.peer import Message, Peer, open_peer, play_out

WRONG_TOKEN = "not-the-token-of-anybody-here"


def content_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def meet_refusals(peer: Peer, room: str) -> list[Message]:
    """Provoke many refusals, also with the token's field; return the answers."""
    token = peer.welcome["token"]
    answers = [await peer.ask("hello", token=token), await peer.ask("move", room=room, cell=400, ply=0)]
    for text in (
        "{",
        f'{{"type":"hello","token":"{token}","more":1}}',
        f'{{"type":"hello","token":["{token}"]}}',
        f'{{"type":"hello","token":"{token * 6}"}}',
        f'{{"type":"hello","token":"{token}","token":"{token}"}}',
    ):
        await peer.send_text(text)
        answers.append(await peer.next_of("error"))
    return answers


async def test_no_token_is_in_the_log_the_answers_to_others_or_the_data(tmp_path: Path) -> None:
    heard: dict[str, list[Message]] = {}
    async with Harness(tmp_path, "--log-level", "debug") as server:
        async with (
            open_peer(server.url, "ana") as ana,
            open_peer(server.url, "bo") as bo,
            open_peer(server.url, "eve") as eve,
            open_peer(server.url, token=WRONG_TOKEN) as stranger,
        ):
            assert stranger.welcome["code"] == "bad_token"
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            await eve.ask("watch", room=room)
            await ana.state(status="playing")
            await bo.state(status="playing")
            await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
            refusals = await meet_refusals(eve, room)
            for peer in (ana, bo, eve):
                await peer.ask("sync", room=room)
                heard[peer.welcome["token"]] = [message for message in peer.seen if message["type"] != "welcome"]
            heard[WRONG_TOKEN] = stranger.seen
            refusals += stranger.seen
        tokens = list(heard)
        await server.end()
        kept = content_of(tmp_path)
        await server.start()
        async with open_peer(server.url, token=tokens[0]) as ana:
            assert ana.welcome["name"] == "ana"
        await server.end(signal.SIGTERM)
    kept += content_of(tmp_path)
    assert len(set(tokens)) == 4
    assert room.encode() in kept
    for token in tokens:
        assert token not in "\n".join(server.log)
        assert token.encode() not in kept
        for other, messages in heard.items():
            assert other == token or token not in str(messages)
        assert [message for message in refusals if token in str(message)] == []


async def test_no_code_of_a_name_or_a_device_is_in_the_log_the_answers_to_others_or_the_data(tmp_path: Path) -> None:
    wrong = "7KQ2-M94F-X3ZW-8HTB"
    async with Harness(tmp_path, "--log-level", "debug") as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "eve") as eve:
            rescue = (await ana.ask("claim_name", name="ana"))["rescue"]
            link, unused = [(await ana.ask("link"))["link_code"] for _ in range(2)]
            room = (await ana.ask("create"))["room"]
            await eve.ask("join", room=room)
            async with (
                open_peer(server.url, link=unused) as phone,
                open_peer(server.url, "ana", rescue=rescue[0]) as back,
            ):
                for peer in (phone, back):
                    devices = (await peer.ask("devices"))["devices"]
                await ana.ask("revoke", device=devices[-1]["id"])
                tokens = [phone.welcome["token"], back.welcome["token"]]
            answers = []
            for fields in ({"link": link}, {"name": "ana", "rescue": wrong}, {"link": link * 9}, {"rescue": [wrong]}):
                async with open_peer(server.url, **fields) as stranger:
                    assert stranger.welcome["type"] == "error"
                    answers.append(stranger.welcome)
            await eve.ask("sync", room=room)
            answers += eve.seen[1:]
        await server.end(signal.SIGTERM)
        log = "\n".join(server.log)
    assert "name claimed" in log
    assert "device added" in log
    kept = content_of(tmp_path)
    secrets = [link, unused, wrong, *rescue, *tokens]
    for secret in (*secrets, *(secret.replace("-", "") for secret in secrets)):
        assert secret not in log
        assert secret.encode() not in kept
        assert secret not in str(answers)
