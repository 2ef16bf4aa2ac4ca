import json
import re
import shlex
from collections.abc import AsyncIterator

import pytest

from tests.peer import Peer, open_peer, play_out, until
from tests.raw import open_bytes
from tests.server.test_pages import BROWSER, LINE_FOR_X, get
from tests.server.test_previews import previews_of
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.privacy.service import Erasure
from tictactoe_server.features.tournaments.service import AllowOrganiser
from tictactoe_server.records.tables import FORGOTTEN, today
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

pytestmark = pytest.mark.features

CLASS = {"title": "Class 3b", "kind": "swiss", "clock": {"move_ms": 10_000}}


@pytest.fixture
async def school() -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0, for_="school", features=(BotOptions(demo=False),))) as server:
        yield server


async def read(server: Server, path: str) -> str:
    return (await get(server, path)).body.decode()


def test_explicit_options_override_the_school_profile() -> None:
    assert (Settings().chat, Settings().lobby, Settings().keep_players_days) == ("on", "names", None)
    school = Settings(for_="school", chat="off")
    assert (school.chat, school.lobby, school.keep_players_days) == ("off", "marks", 180)


async def test_chat_in_a_school_is_limited_to_sentences(school: Server) -> None:
    async with open_peer(school.url) as ana, open_peer(school.url) as bo:
        assert ana.welcome["chat"] == "sentences"
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        refused = await bo.ask("chat", room=room, text="Where do you live?")
        assert (refused["code"], refused["data"]["why"]) == ("not_allowed", "chat sentences")
        await bo.ask("chat", room=room, sentence="well_played")
        line = await ana.next_of("chat")
        assert (line["sentence"], line["text"]) == ("well_played", "Well played!")
        assert (await bo.ask("chat", room=room, sentence="rude"))["code"] == "bad_message"


async def test_chat_is_refused_if_it_is_off() -> None:
    async with (
        Server(Settings(host="127.0.0.1", port=0, chat="off", features=(BotOptions(demo=False),))) as server,
        open_peer(server.url, "ana") as ana,
    ):
        assert (ana.welcome["chat"], ana.welcome["name"]) == ("off", "ana")
        room = (await ana.ask("create"))["room"]
        for said in ({"text": "hello"}, {"sentence": "hello"}):
            refused = await ana.ask("chat", room=room, **said)
            assert (refused["code"], refused["data"]["why"]) == ("not_allowed", "chat off")


async def test_a_schools_players_cannot_choose_names(school: Server) -> None:
    async with open_peer(school.url, "Mia Schmidt") as mia:
        name, token = mia.welcome["name"], mia.welcome["token"]
        assert re.fullmatch("[A-Z][a-z]+ [A-Z][a-z]+ [0-9]{2}", name)
        refused = await mia.ask("claim_name", name="mia")
        assert (refused["code"], refused["data"]["why"]) == ("not_allowed", "names given")
    async with open_peer(school.url, "Mia", token) as again:
        assert again.welcome["name"] == name


async def test_lists_pages_texts_and_pictures_show_marks_and_no_ids(school: Server) -> None:
    async with open_peer(school.url, "ana") as ana, open_peer(school.url, "bo") as bo:
        room = (await ana.ask("create"))["room"]
        state = await bo.ask("join", room=room)
        assert state["type"] == "ok"
        hidden = [peer.welcome[field] for peer in (ana, bo) for field in ("name", "player")]
        lobby = await bo.ask("lobby", on=True, boards=1)
        board = next((one for one in bo.seen if one["type"] == "boards"), None) or await bo.next_of("boards")
        assert [seat["name"] for seat in lobby["rooms"][0]["seats"].values()] == ["X", "O"]
        await ana.ask("sync", room=room)
        shown = [one for one in ana.seen if one["type"] == "room"][-1]
        assert {seat[field] for seat in shown["seats"].values() for field in ("name", "player")} == set(hidden)
        told = [json.dumps(lobby), json.dumps(board), json.dumps(await bo.ask("rooms")), await read(school, "/wall")]
        told += [await read(school, path) for path in ("/", "/api/rooms", f"/api/rooms/{room}", f"/{room}")]
        game = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X))["game_id"]
        replay = f"replay/{(await ana.ask('share', game_id=game))['replay']}"
        texts = f"/api/games/{game}", f"/api/rooms/{room}", f"/{replay}", f"/{replay}.json"
        told += [await read(school, path) for path in texts]
        pages = [f"/{place}{one}" for one in (room, replay) for place in ("", "embed/")]
        told += [(await get(school, path, accept=BROWSER)).body.decode() for path in pages]
        async with open_peer(school.url) as other:
            told.append(json.dumps(await other.ask("record", game_id=game)))
        for one in (room, replay):
            assert (await get(school, f"/preview/{one}.png")).status == 200
        told += map(str, previews_of(school)._pictures)
        assert not [text for text in told for one in (*hidden, "X is X") if one in text]


async def name_organiser(server: Server, teacher: Peer) -> None:
    await server.carry_out(AllowOrganiser(teacher.welcome["name"]))


async def test_only_named_players_can_open_events(school: Server) -> None:
    async with open_peer(school.url) as teacher, open_peer(school.url) as other:
        assert teacher.welcome["opens_events"] is False
        refused = await teacher.ask("event_open", **CLASS)
        assert (refused["code"], refused["data"]["why"]) == ("not_allowed", "events named")
        assert shlex.split(refused["message"])[-1] == teacher.welcome["name"]
        assert " " in teacher.welcome["name"]
        await name_organiser(school, teacher)
        assert (await teacher.ask("event_open", **CLASS))["type"] == "ok"
        assert [one["title"] for one in (await teacher.ask("events"))["events"]] == ["Class 3b"]
        assert (await other.ask("events"))["events"] == []
        assert "Class 3b" not in await read(school, "/api/events") + await read(school, "/")
        async with open_peer(school.url, token=teacher.welcome["token"]) as again:
            assert "opens_events" not in again.welcome
        await school.carry_out(AllowOrganiser(teacher.welcome["player"], off=True))
        assert await teacher.refusal("event_open", **CLASS) == "not_allowed"


async def test_the_code_of_an_event_shows_outsiders_numbers_and_the_wall_key_shows_names(school: Server) -> None:
    names = ("Mia Ott", "Tom Abel", "Cem Kaya")
    async with (
        open_peer(school.url) as teacher,
        open_peer(school.url) as mia,
        open_peer(school.url) as tom,
        open_peer(school.url) as stranger,
        open_peer(school.url) as wall,
        open_peer(school.url, token=tom.welcome["token"]) as second_tab,
    ):
        await name_organiser(school, teacher)
        opened = await teacher.ask("event_open", **CLASS, entry="roster", roster=names)
        code, tickets = opened["event"], {card["name"]: card["ticket"] for card in opened["cards"]}
        await second_tab.ask("event_watch", event=code, on=True)
        await stranger.ask("event_watch", event=code, on=True)
        for name, pupil in zip(names, (mia, tom), strict=False):
            assert (await pupil.ask("event_join", event=code, ticket=tickets[name]))["type"] == "ok"
        await teacher.ask("event_watch", event=code, on=True)
        state = await teacher.next_of("event")
        assert (await teacher.ask("event_run", event=code, seq=state["seq"], action="begin"))["type"] == "ok"
        room = (await mia.next_of("call"))["room"]
        while "Tom Abel" not in str(second_tab.seen[-1]):  # the second tab is sent names once the card is used
            await second_tab.receive()
        hidden = [*names, room, *(peer.welcome["player"] for peer in (mia, tom, teacher))]
        assert (await stranger.ask("event_watch", event=code, on=True, key="WRONG-KEY"))["type"] == "ok"
        await stranger.next_of("event")
        paths = [f"/e/{code}{end}" for end in ("", "/wall", ".json", ".csv", ".txt")]
        paths += [f"/api/events/{code}{end}" for end in ("", "/games")] + [f"/{code}"]
        told = [await read(school, path) for path in paths]
        told += [(await get(school, path, accept=BROWSER)).body.decode() for path in paths]
        told += [(await first_line(school, f"/api/events/{code}/stream")), *map(str, stranger.seen)]
        assert "#1" in told[0]
        assert '"#1"' in told[2]
        assert not [text for text in told for one in hidden if one in text]

        key = state["key"]
        await wall.ask("event_watch", event=code, on=True, key=key.lower())
        shown = (await wall.next_of("event"), await read(school, f"/e/{code}.json?key={key}"))
        assert all(name in text for text in map(str, shown) for name in names)
        assert await first_line(school, f"/api/events/{code}/stream?key={key}") != told[-1]


async def first_line(server: Server, path: str) -> str:
    async with open_bytes(server.port) as (reader, writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        await reader.readline()  # the length of the chunk
        return (await reader.readline()).decode()


async def test_absent_players_are_forgotten_after_the_period(school: Server) -> None:
    async with open_peer(school.url) as ana:
        token = ana.welcome["token"]
    await until(lambda: not school.core.presence.ids)
    await school.service(Erasure).go_round(today() + 181)
    async with open_peer(school.url, token=token) as gone:
        assert gone.welcome["code"] == "bad_token"
    kept = [one async for some in school.core.store.table(FORGOTTEN).load_all() for one in some]
    assert len(kept) == 1
