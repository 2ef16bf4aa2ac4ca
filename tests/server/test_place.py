import re
from pathlib import Path

import pytest

from tests.end_to_end.test_server_command import complaint
from tests.peer import open_peer
from tests.rows import each
from tests.server.test_pages import BROWSER, get, text_of
from tictactoe_server import OperatorError
from tictactoe_server.http.assets import FOLDER, STYLE
from tictactoe_server.http.branding import _GROUND, LEAST_CONTRAST, _parse_colour, contrast, load_branding
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "greeting.txt").write_text("Welcome\x1b[31m to <our> club.\n\nFridays at six.\n", "utf-8")
    (tmp_path / "logo").write_bytes(SVG)
    return Settings(
        host="127.0.0.1",
        port=0,
        title='Room "12"',
        greeting=tmp_path / "greeting.txt",
        imprint="https://club.example/imprint?a=1&b",
        accent="#0b5d3b",
        logo=tmp_path / "logo",
    )


async def test_branding_is_shown_on_the_page_to_curl_and_to_clients(settings: Settings) -> None:
    async with Server(settings) as server:
        for path in ("/", "/wall", "/nowhere"):
            page = (await get(server, path, accept=BROWSER)).body.decode()
            assert "Room &quot;12&quot;" in re.findall("<title>.*</title>", page)[0]
            assert '<meta property="og:site_name" content="Room &quot;12&quot;">' in page
            assert 'href="https://club.example/imprint?a=1&amp;b"' in page
        style, logo = re.findall(r"/assets/\w+/(?:place|logo)\.\w+", page)
        found = await get(server, style)
        assert "--accent:light-dark(#0b5d3b, #" in found.body.decode().replace("--accent: ", "--accent:")
        image = await get(server, logo)
        assert (image.body, image.fields["content-type"]) == (SVG, "image/svg+xml")
        policy = image.fields["content-security-policy"]
        assert ("default-src 'none'" in policy, policy.endswith("sandbox")) == (True, True)
        told = await text_of(server, "/")
        assert told.startswith(
            'Room "12": 0 games on, 0 rooms wait.\n\nWelcome[31m to <our> club.\n\nFridays at six.\n'
        )
        assert "Imprint:         https://club.example/imprint?a=1&b\n" in told
        async with open_peer(server.url) as peer:
            said = peer.welcome["title"], peer.welcome["greeting"]
            assert said == ('Room "12"', "Welcome[31m to <our> club.\n\nFridays at six.")


async def test_a_server_of_which_nothing_was_said_is_called_as_ever(tmp_path: Path) -> None:
    async with Server(Settings(host="127.0.0.1", port=0)) as server, open_peer(server.url) as peer:
        page = (await get(server, "/", accept=BROWSER)).body.decode()
        assert not re.search("place\\.|logo\\.|imprint", page)
        assert {"title", "greeting"}.isdisjoint(peer.welcome)


@each("colour", ("#0b5d3b", "#1f5f8b", "#000000", "#ffffff", "#ffdd00", "#8B0000"))
def test_an_accent_can_be_read_on_every_ground_of_either_look_and_is_the_chosen_one_on_one(colour: str) -> None:
    accent = load_branding(Settings(accent=colour), FOLDER / STYLE).accent
    assert accent is not None
    assert colour.lower() in accent
    grounds = _GROUND.findall((FOLDER / STYLE).read_text("utf-8"))
    assert len(grounds) == 3
    for looks in grounds:
        for own, ground in zip(accent, looks, strict=True):
            assert contrast(_parse_colour(own), _parse_colour(ground)) >= LEAST_CONTRAST


@pytest.mark.parametrize(
    ("option", "value", "content", "why"),
    [
        ("title", "x" * 61, None, "61 characters"),
        ("greeting", "FILE", b"x" * 2_001, "2,001 characters"),
        ("greeting", "FILE", b"\xff", "not valid UTF-8"),
        ("greeting", "FILE", None, ": No such file"),
        ("imprint", "javascript:alert(1)", None, "not a URL"),
        ("imprint", "https://", None, "not a URL"),
        ("accent", "red", None, "not a colour such as #1f5f8b"),
        ("accent", "#e23b3b", None, "its contrast is "),
        ("logo", "FILE", b"GIF89a", "not a PNG, SVG or WebP image"),
        ("logo", "FILE", b"<html><svg>", "not a PNG"),
        ("logo", "FILE", b"\x89PNG\r\n\x1a\n" + bytes(100_000), "larger than 100,000 bytes"),
    ],
)
def test_an_unusable_value_is_refused(option: str, value: str, content: bytes | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    settings = Settings(**{option: file if value == "FILE" else value})  # type: ignore[arg-type]
    with pytest.raises(OperatorError, match=re.escape(why)) as refused:
        load_branding(settings, FOLDER / STYLE)
    assert f"--{option} " in str(refused.value)


async def test_a_server_with_an_unusable_value_does_not_start() -> None:
    assert "not a colour" in await complaint("--data", ":memory:", "--port", "0", "--accent", "red")
