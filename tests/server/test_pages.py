import asyncio
import gzip
import itertools
import json
import re
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest

from tests.environment import environment
from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, two_playing
from tests.raw import open_bytes
from tests.rows import each
from tests.server.test_limits import serving
from tests.server.test_plain_http import Answer, read_answer
from tictactoe_engine.records import parse_record
from tictactoe_protocol import clean_text
from tictactoe_server.http.assets import Assets, Modules
from tictactoe_server.http.qr_codes import draw_qr
from tictactoe_server.play.lobby import CODES
from tictactoe_server.records.tables import SHARES
from tictactoe_server.server import Server
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.http_messages import HttpRequest
from tictactoe_server.transport.listen import Links, addresses_at

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
LINE_FOR_X = [0, 3, 1, 4, 2]


async def get(server: Server, path: str, *fields: str, accept: str = "*/*", host: str = "") -> Answer:
    lines = (f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{server.port}'}", f"Accept: {accept}", *fields)
    async with open_bytes(server.port) as (reader, writer):
        writer.write("\r\n".join((*lines, "", "")).encode())
        return await read_answer(reader)


async def text_of(server: Server, path: str) -> str:
    answer = await get(server, path)
    assert answer.status == 200, answer.body
    assert answer.fields["content-type"] == "text/plain; charset=utf-8"
    assert answer.fields["cache-control"] == "no-cache"
    return answer.body.decode()


def head_of(answer: Answer) -> tuple[str, str]:
    page = answer.body.decode()
    title, description = re.search("<title>(.*)</title>", page), re.search('name="description" content="(.*)"', page)
    assert title is not None
    assert description is not None
    return title[1], description[1]


async def test_a_room_and_the_server_have_a_qr_code_of_the_link_for_others(server: Server) -> None:
    for path in ("/qr/K7M4PQ.svg", "/qr/k7m-4pq.svg", "/qr.svg"):
        found = await get(server, path, accept="image/*")
        assert (found.status, found.fields["content-type"]) == (200, "image/svg+xml")
        assert found.body == draw_qr(f"http://127.0.0.1:{server.port}/{'K7M4PQ' if 'qr/' in path else ''}")
        assert (await get(server, path, f"If-None-Match: {found.fields['etag']}")).status == 304
    for path in ("/qr/K7M4P.svg", "/qr/.svg", "/qr/K7M4PQ.png", "/qr"):
        assert (await get(server, path)).status == 404
    hosts = addresses_at("0.0.0.0")
    if hosts:
        async with serving(host="0.0.0.0") as open_server:
            drawn = (await get(open_server, "/qr.svg", host=f"localhost:{open_server.port}")).body
            assert drawn == draw_qr(f"http://{hosts[0]}:{open_server.port}/")


async def test_only_local_clients_learn_the_machines_addresses(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Links, "for_others", lambda _: ["http://10.0.0.7:8765"])
    here = HttpRequest("GET", "/", "", "localhost:8765", {}, keeps_alive=True, has_body=False, address="::1")
    assert server._pages._address_for_others(here) == "http://10.0.0.7:8765"
    assert server._pages._address_for_others(replace(here, address="203.0.113.9")) == ""


def files_in(path: str, body: bytes) -> list[str]:
    found = re.findall(r'"(/assets/[^"]+|\.{1,2}/[^"]+\.\w+)"', body.decode("utf-8", "replace"))
    return [urljoin(path, name) for name in found]


async def test_every_file_that_the_page_needs_is_served_in_a_folder_that_is_named_after_a_hash(server: Server) -> None:
    page = await get(server, "/", accept=BROWSER)
    assert page.fields["cache-control"] == "no-cache"
    due, seen = files_in("/", page.body), set[str]()
    while due:
        path = due.pop()
        if path in seen:
            continue
        seen.add(path)
        assert re.fullmatch(r"/assets/[0-9a-f]{12}/[\w/.-]+\.\w+", path)
        found = await get(server, path)
        assert (found.status, found.fields["cache-control"]) == (200, "public, max-age=31536000, immutable"), path
        if path.endswith(".js"):
            assert found.fields["content-type"] == "text/javascript; charset=utf-8"
        due += files_in(path, found.body)
    assert {path.rpartition(".")[2] for path in seen} >= {"js", "css"}


async def test_pages_texts_and_assets_are_compressed_for_clients_that_accept_it(server: Server, ana: Peer) -> None:
    for _ in range(5):
        await ana.ask("create")
    page = await get(server, "/", accept=BROWSER)
    paths = files_in("/", page.body)
    for path, accept in (("/", BROWSER), ("/", "*/*"), *((path, "*/*") for path in paths)):
        plain, packed, refused = [
            await get(server, path, *fields, accept=accept)
            for fields in ((), ("Accept-Encoding: gzip, br",), ("Accept-Encoding: gzip;q=0",))
        ]
        assert "content-encoding" not in plain.fields
        assert packed.fields["content-encoding"] == "gzip"
        assert "Accept-Encoding" in packed.fields["vary"]
        assert packed.fields.get("etag") == plain.fields.get("etag")
        assert gzip.decompress(packed.body) == plain.body == refused.body
        assert len(packed.body) < len(plain.body)


@pytest.mark.parametrize("accept", [BROWSER, "*/*"])
async def test_a_cached_answer_is_not_sent_again(server: Server, accept: str) -> None:
    async with two_playing(server) as (_, _, room):
        for path in ("/", "/wall", "/favicon.ico", "/robots.txt", f"/{room}"):
            await check_cached(server, path, accept)


async def check_cached(server: Server, path: str, accept: str) -> None:
    first = await get(server, path, accept=accept)
    for tag in (first.fields["etag"], f'"other", {first.fields["etag"]}'):
        again = await get(server, path, f"If-None-Match: {tag}", "Accept-Encoding: gzip", accept=accept)
        assert (again.status, again.body) == (304, b"")
        assert not {"content-length", "content-type", "content-encoding"} & again.fields.keys()
        for name in ("etag", "cache-control", "vary"):
            assert again.fields[name] == first.fields[name]
    assert (await get(server, path, 'If-None-Match: W/"other"', accept=accept)).body == first.body


@pytest.mark.features
async def test_every_page_has_a_content_security_policy(server: Server, ana: Peer) -> None:
    private = (await ana.ask("create", visibility="private"))["room"]
    terms = {"kind": "swiss", "title": "Friday", "clock": {"move_ms": 10_000}}
    event = (await ana.ask("event_open", entry="code", **terms))["event"]
    for path, accept, status in (
        ("/", BROWSER, 200),
        ("/", "*/*", 200),
        ("/wall", BROWSER, 200),
        ("/nothing", BROWSER, 404),
        ("/robots.txt", "*/*", 200),
        (f"/{private}", BROWSER, 200),
        (f"/e/{event}", BROWSER, 200),
        (f"/embed/{private}", BROWSER, 404),
        (f"/embed/e/{event}", BROWSER, 404),
        ("/embed/K7M4PQ", BROWSER, 404),
        ("/embed/replay/abcdefghijklmnop", BROWSER, 404),
        ("/embed/wall", BROWSER, 404),
    ):
        answer = await get(server, path, accept=accept, host="localhost:1")
        assert answer.status == status, path
        fields = answer.fields
        policy = fields["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert "connect-src 'self' ws://localhost:1 wss://localhost:1" in policy
        assert "unsafe" not in fields["content-security-policy"]
        assert (fields["x-content-type-options"], fields["referrer-policy"]) == ("nosniff", "no-referrer")


async def test_an_unknown_path_is_404_as_text_and_as_a_page_in_browsers(server: Server) -> None:
    paths = (
        *("/nothing", "/ws/", "/wall/", "/replay/../x", "/replay/abcdefghijklmnop.html"),
        *("/assets/", "/assets/main.js", "/assets/../index.html", "/index.html", "/%2e%2e/x", "//", "/%C3%A9", "/%00"),
    )
    forms = (("*/*", "text/plain", b"Not found"), (BROWSER, "text/html", b"/main.js"))
    for path, (accept, kind, words) in itertools.product(paths, forms):
        answer = await get(server, path, accept=accept)
        assert answer.status == 404, path
        assert answer.fields["content-type"].startswith(kind)
        assert words in answer.body
        assert answer.fields["cache-control"] == "no-store"


async def test_a_slash_or_punctuation_after_a_link_is_dropped(server: Server) -> None:
    leads_to = {
        "/K7M4PQ": ("/K7M4PQ.", "/K7M4PQ/", "/k7m-4pq.)", "/K7M4PQ/?fbclid=x", "//K7M4PQ"),
        "/e/K7M4PQ": ("/e/K7M4PQ/", "/e/K7M4PQ.", "/E/k7m-4pq", "/E/K7M4PQ", "//e//K7M4PQ"),
        "/e/K7M4PQ/wall": ("/e/K7M4PQ/wall.", "/E/K7M4PQ/Wall", "/e/K7M4PQ/wall/"),
        "/e/K7M4PQ/cards": ("/e/K7M4PQ/cards.)",),
    }
    for location, paths in leads_to.items():
        for path in paths:
            answer = await get(server, path, accept=BROWSER)
            shown = urlsplit(urljoin(f"http://host{path}", answer.fields["location"])).path
            assert (path, answer.status, shown) == (path, 307, location)
    for path, location in (
        ("/%0d%0aX-Injected:%20yes//x", "../../%0D%0AX-Injected%3A%20yes/x"),
        ("/%E2%82%AC//x", "../../%E2%82%AC/x"),
    ):
        answer = await get(server, path, accept=BROWSER)
        assert (answer.status, answer.fields["location"]) == (307, location)
        assert "x-injected" not in answer.fields


async def test_all_addresses_have_the_path_under_which_a_proxy_shows_the_server(server: Server) -> None:
    assert re.search(rb'="\.\./\.\./assets/\w+/main\.js"', (await get(server, "/no/such/page", accept=BROWSER)).body)
    async with serving(base_path="/games") as below:
        own = f"http://127.0.0.1:{below.port}/games"
        for path in ("/games/", "/games", "/", "//"):
            assert f"In a browser:    {own}/\n" in await text_of(below, path)
            page = (await get(below, path, accept=BROWSER)).body.decode()
            assert 'href="/games/"' in page
            assert all("/games/assets/" in name for name in files_in(path, page.encode()))
        assert (await get(below, "/games/K7M4PQ.")).fields["location"] == "/games/K7M4PQ"
        assert (await get(below, "/games/qr/K7M4PQ.svg")).body == draw_qr(f"{own}/K7M4PQ")
        refused = await get(below, "/games/", accept=BROWSER, host="play.example")
        assert refused.body.endswith(b"start the server with --origin http://play.example\n")
        async with (
            open_peer(f"{below.url}/games/ws", "ana") as ana,
            open_peer(f"{below.url}/games", "bo") as bo,
        ):
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            assert f"In a browser:   {own}/{room}\n" in await text_of(below, f"/games/{room}")
            game = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X))["game_id"]
            assert (await ana.ask("share", game_id=game))["link"].startswith(f"{own}/replay/")


async def test_no_answer_has_control_characters_of_the_address(server: Server) -> None:
    hostile = quote("\x1b[31m\x07\x9b31m\u202e")
    rooted = (
        "/",
        "/e/",
        "/player/",
        "/ladder/",
        "/replay/",
        "/preview/",
        "/embed/",
        "/qr/",
        "/api/",
        "/api/rooms/",
        "/api/events/",
    )
    suffixes = ("", ".json", ".txt", ".csv", ".png", ".svg", "/wall", "/table.csv")
    for path, accept in itertools.product(
        (f"{root}{hostile}{suffix}" for root in rooted for suffix in suffixes), ("*/*", BROWSER)
    ):
        answer = await get(server, path, accept=accept)
        assert clean_text(text := answer.body.decode().replace("\n", "").replace("\t", "")) == text, path
        assert not any("\x1b" in value for value in answer.fields.values())


async def test_publicly_cached_responses_do_not_depend_on_the_host_header(server: Server) -> None:
    page = await get(server, "/", accept=BROWSER)
    for path in files_in("/", page.body):
        here, there = [(await get(server, path, host=host)).fields for host in ("localhost:1", "evil.example")]
        assert "evil.example" not in str(there)
        assert here["content-security-policy"] == there["content-security-policy"]


async def test_clients_other_than_browsers_get_text(server: Server) -> None:
    for accept in ("*/*", "text/plain", "text/html;q=0, */*", "application/json"):
        answer = await get(server, "/", accept=accept)
        assert answer.fields["content-type"].startswith("text/plain")
        assert answer.fields["vary"] == "Accept, Accept-Encoding, Accept-Language, Cookie"


async def test_an_unknown_host_name_is_answered_with_the_needed_option(server: Server) -> None:
    page = await get(server, "/", accept=BROWSER, host="play.example:80")
    assert page.status == 421
    assert b"--origin http://play.example:80" in page.body
    assert (await get(server, "/", host="play.example:80")).status == 200
    async with serving(origins=("http://play.example:80",)) as known:
        assert (await get(known, "/", accept=BROWSER, host="play.example:80")).status == 200


def page_at(host: str) -> HttpRequest:
    """Return a WebSocket request of a page at this host, sent to a server of the same name."""
    fields: dict[str, list[str]] = {"origin": [f"http://{host}"], "upgrade": ["websocket"]}
    return HttpRequest("GET", "/ws", "", host, fields, keeps_alive=True, has_body=False)


@each(
    "host",
    [
        *("nas.lan", "nas.home:8765", "NAS.Lan.", "a.b.lan", "nas.intranet", "nas.private", "nas.corp", "nas.local"),
        *("nas.internal", "nas.home.arpa", "nas.localhost", "nas", "localhost", "[fe80::1]:80", "192.168.178.20"),
    ],
)
def test_reserved_local_host_names_are_accepted(host: str) -> None:
    admission = Admission(uncounted())
    assert admission.knows(host)
    assert admission.allows_origin(page_at(host))


@pytest.mark.parametrize(
    "host", ["evil.example", "lan.example", "nas.lan.example", "nas.fritz.box", ".example", "", "."]
)
def test_registrable_host_names_are_refused(host: str) -> None:
    admission = Admission(uncounted())
    assert not admission.knows(host)
    assert not admission.allows_origin(page_at(host))


async def test_without_pages_only_websockets_and_health_checks_are_served() -> None:
    async with serving(page=False) as server, open_peer(server.url, "ana") as ana:
        room = (await ana.ask("create"))["room"]
        assert (await get(server, "/")).status == 426
        assert (await get(server, "/healthz")).status == 200
        for path in (f"/{room}", "/wall", "/robots.txt", "/assets/x.js", "/replay/abcdefghijklmnop"):
            assert (await get(server, path, accept=BROWSER)).status == 404
        assert ana.welcome["sharing"] is False
        assert await ana.refusal("share", game_id="1") == "not_allowed"


async def test_a_public_room_is_named_by_its_players_and_a_private_one_only_as_private(server: Server) -> None:
    async with two_playing(server) as (_, _, room), open_peer(server.url, "o'dd") as odd:
        shown = await get(server, f"/{room}", accept=BROWSER)
        assert head_of(shown)[0] == "ana v bo, 3x3"
        assert "ana's move" in head_of(shown)[1].replace("&#x27;", "'")
        open_one = (await odd.ask("create", rules="four"))["room"]
        assert head_of(await get(server, f"/{open_one}", accept=BROWSER))[0] == "o&#x27;dd, 4x4"
        private = (await odd.ask("create", visibility="private"))["room"]
        assert head_of(await get(server, f"/{private}", accept=BROWSER)) == ("a private game", "a private game")


async def test_the_home_page_as_text_lists_and_counts_the_public_rooms_alone(bots: Server) -> None:
    server = bots
    async with two_playing(server) as (ana, _, room):
        await ana.ask("create", visibility="private", bots={"O": "easy"})
        waiting = (await ana.ask("create", rules="gomoku"))["room"]
        private = (await ana.ask("create", visibility="private"))["room"]
        text = await text_of(server, "/")
        assert "1 game on, 1 room waits." in text
        assert re.search(rf"{room}  playing  ana v bo +classic", text)
        assert re.search(rf"{waiting}  waiting  ana +gomoku", text)
        assert private not in text
        assert f"curl http://127.0.0.1:{server.port}/CODE" in text


async def test_no_line_is_wider_than_80_columns_whatever_names_people_have(server: Server) -> None:
    async with open_peer(server.url, "三" * 24) as wide, open_peer(server.url, "m" * 24) as long:
        for preset in ("classic", "three-players", "gomoku", "connect-four") * 3:
            room = (await wide.ask("create", rules=preset, clock={"move_ms": 10_000}))["room"]
            await long.ask("join", room=room)
            await play_out(
                {"X": wide}, room, [40 if preset == "connect-four" else 0]
            ) if preset != "three-players" else None
        texts = [await text_of(server, path) for path in ("/", "/wall", f"/{room}")]
    for text in texts:
        for line in text.splitlines():
            assert len(line) + len(re.findall("三", line)) <= 80, line


async def test_the_wall_as_text_shows_boards_side_by_side(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.play.lobby.WALL_MS", 0)
    assert "No public game is on." in await text_of(server, "/wall")
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        rooms = [(await ana.ask("create"))["room"] for _ in range(5)]
        for room in rooms:
            await bo.ask("join", room=room)
        lines = (await text_of(server, "/wall")).splitlines()
        assert lines[0].split() == rooms[:0:-1]
        assert lines[1].split() == ["ana", "v", "bo"] * 4
        assert sum(line.count("A B C") for line in lines) == 5


async def test_abandoned_games_are_not_listed_as_text(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.play.lobby.WALL_MS", 0)
    monkeypatch.setattr("tictactoe_server.core.indexes.LIST_SECONDS", 0)
    async with open_peer(server.url) as eve:
        async with two_playing(server) as (_, _, room):
            await eve.ask("watch", room=room)
            assert room in await text_of(server, "/wall")
        await eve.until(
            lambda state: not any(seat["online"] for seat in state.get("seats", {"": {"online": 1}}).values())
        )
        for path in ("/wall", "/"):
            assert room not in await text_of(server, path)
        assert room in await text_of(server, f"/{room}")


@pytest.mark.features
async def test_codes_cannot_be_found_by_trying_and_misses_over_http_do_not_count_for_players(clock: FakeClock) -> None:
    limits = uncounted(misses_per_minute_per_address=3, misses_at_once_per_address=3)
    async with serving(limits, clock) as server, open_peer(server.url, "ana") as ana:
        room = (await ana.ask("create", visibility="private"))["room"]
        for _ in range(3):
            assert (await get(server, "/222222")).status == 404
        for path in ("/333333", f"/{room}", f"/api/rooms/{room}", "/replay/abcdefghijklmnop"):
            answer = await get(server, path)
            assert answer.status == 429
            assert 0 < int(answer.fields["retry-after"]) <= 60
        pages = [await get(server, path, accept=BROWSER) for path in ("/333333", f"/{room}")]
        assert [page.status for page in pages] == [200, 200]
        assert pages[0].body == pages[1].body
        assert (await get(server, "/")).status == 200
        assert [await ana.refusal("join", room="K7M4PQ") for _ in range(4)] == ["no_such_room"] * 3 + ["rate_limited"]


async def test_a_shared_game_is_public_until_revoked(server: Server, ana: Peer, bo: Peer, eve: Peer) -> None:
    assert ana.welcome["sharing"] is True
    room = (await ana.ask("create"))["room"]
    await bo.ask("join", room=room)
    game = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X))["game_id"]
    assert await eve.refusal("share", game_id=game) == "not_allowed"
    told, again, others = [await peer.ask("share", game_id=game) for peer in (ana, ana, bo)]
    assert re.fullmatch(r"[\w-]{22}", told["replay"])
    assert told["link"] == f"http://127.0.0.1:{server.port}/replay/{told['replay']}"
    assert (again["replay"], again["replay"] != others["replay"]) == (told["replay"], True)

    path = f"/replay/{told['replay']}"
    text = await text_of(server, path)
    assert "1 <X X X>\n" in text
    assert "ana wins by a line after 5 moves." in text
    page = await get(server, path, accept=BROWSER)
    assert head_of(page)[0] == "ana v bo, 3x3"
    for accept in ("*/*", BROWSER):
        record = parse_record((await get(server, f"{path}.txt", accept=accept)).body.decode())
        assert record.moves == tuple(LINE_FOR_X)

        found = await get(server, f"{path}.json", accept=accept)
        assert (found.fields["content-type"], found.fields["etag"][:3]) == ("application/json", 'W/"')
        assert json.loads(found.body) == (await bo.ask("record", game_id=game))["played"]

    assert "link" not in await ana.ask("share", game_id=game, on=False)
    for form in ("", ".txt", ".json"):
        assert (await get(server, path + form)).status == 404
    assert (await get(server, f"/replay/{others['replay']}")).status == 200

    anew = (await ana.ask("share", game_id=game))["replay"]
    assert anew != told["replay"]
    assert (await get(server, path)).status == 404
    assert (await get(server, f"/replay/{anew}")).status == 200


def test_the_folder_of_assets_changes_with_every_file(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<script src="{{assets}}main.js"></script>{{title}}')
    pages = set()
    for number in "12":
        (tmp_path / "main.js").write_text(f"export const a = {number};\n")
        pages.add(Assets(tmp_path).page("{{description}}", "x"))
    assert len(pages) == 2
    assert all(page.endswith(b"{{description}}") for page in pages), "a title is no template"


@pytest.mark.parametrize(
    ("imported", "fault"),
    [
        ('import { main } from "./main.js";', "'main.js', 'a.js', 'main.js'"),
        ('import * as b from "./b.js";', 'in a.js: import * as b from "./b.js";'),
        ('export { b } from "./b.js";', 'in a.js: export { b } from "./b.js";'),
    ],
    ids=["circular", "import", "export"],
)
def test_circular_and_unsupported_imports_of_modules_are_refused(imported: str, fault: str) -> None:
    texts = {"main.js": 'import { a } from "./a.js";\n', "a.js": f"{imported}\n", "b.js": ""}
    with pytest.raises(ValueError, match=re.escape(fault)):
        Modules(texts, ("main.js",), ())


def test_every_process_serves_the_same_under_the_same_path() -> None:
    """A restarted process and all servers of a cluster can answer for each other."""
    program = (
        "from tictactoe_server.http.assets import Assets; print(Assets().page('', '', '', 'de', 'home.js').decode())"
    )
    command = [sys.executable, "-c", program]
    pages = {
        subprocess.run(command, capture_output=True, check=True, env=environment(PYTHONHASHSEED=seed)).stdout
        for seed in ("1", "4")
    }
    assert len(pages) == 1


@pytest.mark.parametrize(
    ("asked", "cookie", "language"),
    [
        ("", "", "en"),
        ("de-DE,de;q=0.9,en;q=0.8", "", "de"),
        ("fr-FR, DE;q=0.7", "", "de"),
        ("tlh", "", "en"),
        ("de", "other=1; language=en", "en"),
        ("en", "language=<b>", "en"),
    ],
)
async def test_a_browser_gets_the_page_in_its_language(server: Server, asked: str, cookie: str, language: str) -> None:
    told = f"Accept-Language: {asked}", f"Cookie: {cookie}"
    page = (await get(server, "/", *told, accept=BROWSER)).body.decode()
    assert f'<html lang="{language}" ' in page
    assert re.search(rf'<link rel="preload" href="\./assets/\w+/{language}\.json"', page)
    assert ("braucht JavaScript" in page) == (language == "de")


async def test_an_unresponsive_store_is_reported_over_http(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(id: str) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(server.core.store.table(SHARES), "load", never)
    monkeypatch.setattr("tictactoe_server.http.pages.ANSWER_SECONDS", 0.05)
    answer = await get(server, "/replay/abcdefghijklmnop")
    assert answer.status == 503


async def test_a_qr_code_of_a_secret_link_is_drawn_in_an_answer(ana: Peer) -> None:
    link = "http://host:8765/e/K7M4PQ#7c2f"
    image = (await ana.ask("qr", text=link))["qr"].partition("base64,")[2]
    assert b64decode(image) == draw_qr(link)
    assert await ana.refusal("qr", text="x" * 129) == "bad_message"


async def test_qr_codes_are_limited_for_a_player(ana: Peer) -> None:
    codes = [(await ana.ask("qr", text="http://host:8765/")).get("code") for _ in range(CODES + 100)]
    assert {*codes[:CODES]} == {None}
    assert "rate_limited" in codes[CODES:]
