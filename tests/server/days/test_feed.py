"""The Atom feed of the games that await a player's move."""

import warnings
from typing import Any
from xml.etree import ElementTree

import feedparser
import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.server.days.test_day_games import asleep, begin, play
from tests.server.days.test_notices import choose
from tests.server.test_pages import get
from tictactoe_protocol.terms import DAY_MS
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

ATOM = "{http://www.w3.org/2005/Atom}"


def path_of(reply: dict[str, Any]) -> str:
    return "/" + str(reply["feed"]).split("/", 3)[3]


async def test_an_entry_for_each_waiting_game(server: Server) -> None:
    room, x, o = await begin(server, visibility="public")
    path = path_of(await choose(server, o, feed=True))
    empty = await get(server, path)
    assert empty.status == 200
    await play(server, x, room, (4, 0))
    await asleep(server, room)
    reply = await get(server, path)
    assert reply.fields["content-type"] == "application/atom+xml"
    assert "private" in reply.fields["cache-control"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        parsed = feedparser.parse(reply.body)
    assert (parsed.bozo, parsed.version) == (False, "atom10")
    (entry,) = parsed.entries
    assert entry.link == f"http://127.0.0.1:{server.port}/{room}"
    assert "2  .(X)." in entry.content[0].value
    assert "ana is X, bo is O." in entry.content[0].value
    assert entry.updated_parsed is not None
    root = ElementTree.fromstring(reply.body)
    for element in (root, *root.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1, name
    assert root.find(f"{ATOM}author/{ATOM}name") is not None
    pictures = [link["href"] for link in entry.links if link["rel"] == "enclosure"]
    assert pictures == [f"http://127.0.0.1:{server.port}/preview/{room}.png"]
    assert (await get(server, f"/preview/{room}.png")).status == 200


async def test_it_changes_only_with_the_games(server: Server, clock: FakeClock) -> None:
    room, x, o = await begin(server, visibility="private")
    path = path_of(await choose(server, o, feed=True))
    await play(server, x, room, (4, 0))
    first = await get(server, path)
    assert b"enclosure" not in first.body, "a private room has no picture"
    clock.advance(DAY_MS)
    again = await get(server, path, f"If-None-Match: {first.fields['etag']}")
    assert (again.status, again.body) == (304, b"")
    await play(server, o, room, (3, 1))
    moved = await get(server, path, f"If-None-Match: {first.fields['etag']}")
    assert moved.status == 200
    assert b"<entry" not in moved.body


async def test_a_revoked_or_unknown_address(server: Server) -> None:
    _, _, o = await begin(server)
    path = path_of(await choose(server, o, feed=True))
    await choose(server, o, feed=False)
    assert (await get(server, path)).status == 404
    assert path_of(await choose(server, o, feed=True)) != path


async def test_guesses_are_limited(clock: FakeClock) -> None:
    limits = uncounted(misses_per_minute_per_address=3)
    async with Server(Settings("127.0.0.1", 0), None, limits, monotonic_ns=clock) as server:
        guesses = [(await get(server, f"/feed/{'a' * 42}{number}.atom")).status for number in range(6)]
    assert (guesses[0], guesses[-1]) == (404, 429)


async def test_the_secret_is_never_logged(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _, _, o = await begin(server)
    path = path_of(await choose(server, o, feed=True))

    def fail(*args: Any, **more: Any) -> Any:
        raise RuntimeError("no feed")

    monkeypatch.setattr("tictactoe_server.features.days.notices.render_feed", fail)
    assert (await get(server, path)).status == 500
    paths = [vars(record)["path"] for record in caplog.records if record.message == "HTTP request failed"]
    assert paths == ["/feed/....atom"]
    logged = "".join(str(vars(record)) for record in caplog.records) + caplog.text
    assert path.split("/")[2].removesuffix(".atom") not in logged
