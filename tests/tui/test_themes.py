"""Every theme is readable: each text and line has a contrast of at least 4.5:1 to its background."""

import re

import pytest

from tests.tui.conftest import OpenScreen
from tictactoe_client.themes import THEMES, library_theme, resolve_theme, theme_named
from tictactoe_server.server import Server

COLOURFUL = [name for name in THEMES if name not in ("auto", "terminal")]
ON_GROUND = ("ink", "foreground", "dim", "title", "good", "bad", "text-muted", "border", "primary", "accent", "error")


def contrast(one: str, other: str) -> float:
    """Return the ratio of two colours' luminances, from 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


@pytest.mark.parametrize("name", COLOURFUL)
def test_every_role_of_every_theme_can_be_read_on_its_own_ground(name: str) -> None:
    roles = theme_named(name)
    assert set(roles) == set(theme_named("night"))
    for role, style in roles.items():
        colours = re.findall(r"#[0-9a-fA-F]{6}", style)
        assert len(colours) == 2, role
        assert contrast(*colours) >= 4.5, role


@pytest.mark.parametrize("name", COLOURFUL)
def test_the_librarys_widgets_have_enough_contrast(name: str) -> None:
    variables = library_theme(name).variables
    for role in ON_GROUND:
        assert contrast(variables[role], variables["ground"]) >= 4.5, role
    for kind in ("block-cursor", "input-cursor", "input-selection"):
        assert contrast(variables[f"{kind}-foreground"], variables[f"{kind}-background"]) >= 4.5, kind


def test_the_terminal_s_own_pair_is_used_with_bold_and_reverse_alone() -> None:
    styles = {role: style for role, style in theme_named("terminal").items() if role != "qr"}
    words = set(" ".join(styles.values()).split())
    assert words == {"bold", "reverse"}
    assert set(library_theme("terminal").variables.values()) == {"ansi_default", "bold reverse"}


@pytest.mark.parametrize(
    ("background", "shown"), [("15;0", "night"), ("0;default;15", "paper"), ("0;7", "paper"), ("", "terminal")]
)
def test_the_theme_follows_the_environment(monkeypatch: pytest.MonkeyPatch, background: str, shown: str) -> None:
    monkeypatch.setenv("COLORFGBG", background)
    assert resolve_theme("auto", colour=True) == shown
    assert resolve_theme("auto", colour=False) == "terminal"


def test_a_page_in_a_browser_has_colours_whatever_the_terminal_of_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLORFGBG", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert resolve_theme("auto", colour=True) == "terminal"
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "truecolor")
    assert resolve_theme("auto", colour=True) == "night"


@pytest.mark.parametrize("name", ["terminal", "paper", "contrast"])
async def test_the_first_screens_have_no_untested_colour(server: Server, open_screen: OpenScreen, name: str) -> None:
    known = {"default", *library_theme(name).variables.values()} if name != "terminal" else {"default"}
    known |= set(re.findall(r"#[0-9a-f]{6}", " ".join(theme_named(name).values()).lower()))
    async with open_screen(server.url, theme=name) as ana:
        for key, words in (("?", "Everywhere"), ("s", "Bell at your turn"), ("n", "your name")):
            await ana.until("Playing as")
            assert ana.colours() <= {colour.lower() for colour in known}
            await ana.do(key, words)
            assert ana.colours() <= {colour.lower() for colour in known}
            await ana.press("escape")
