import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peer import PATIENCE_SECONDS
from tests.tui.conftest import OpenScreen, ScreenUser
from tictactoe_client.files.config import load_choices
from tictactoe_server.server import Server

NOBODY = "ws://127.0.0.1:1"


@asynccontextmanager
async def at_settings(open_screen: OpenScreen, **options: Any) -> AsyncIterator[ScreenUser]:
    async with open_screen(NOBODY, **options) as ana:
        await ana.until("r retry")
        await ana.do("s", "> Theme")
        yield ana


def chosen(user: ScreenUser) -> str:
    return next((line for line in user.text.splitlines() if line.startswith("   > ")), "")


async def until_chosen(user: ScreenUser, words: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while words not in chosen(user):
            await user.pilot.pause()


async def until_kept(user: ScreenUser) -> dict[str, Any]:
    async with user.app.saving:
        return load_choices()


async def test_each_setting_counts_at_once_and_is_kept(open_screen: OpenScreen) -> None:
    kept: dict[str, object] = {}
    async with at_settings(open_screen) as ana:
        for field, shown, value, key in (
            ("theme", "night", "night", "theme"),
            ("colour", "no", False, "no_color"),
            ("ascii", "yes", True, "ascii"),
            ("motion", "no", False, "no_motion"),
            ("mouse", "no", False, "no_mouse"),
            ("bell", "always", "always", "bell"),
            ("language", "English", "en", "language"),
            ("keys", "pad", "pad", "keys"),
            ("coordinates", "both from 0", "row-column-0", "coordinates"),
            ("confirm", "yes", True, "confirm"),
        ):
            await ana.press("right")
            await until_chosen(ana, shown)
            assert getattr(ana.app.settings, field) == value
            kept[key] = not value if key.startswith("no_") else value
            assert await until_kept(ana) == kept
            await ana.press("down")


async def test_every_key_of_the_form(open_screen: OpenScreen) -> None:
    async with at_settings(open_screen) as ana:
        assert "Theme" in chosen(ana)
        await ana.press("up")
        await until_chosen(ana, "Confirm clicks")
        await ana.press("down", "down")
        await until_chosen(ana, "Colour")
        await ana.do("up space", "contrast")
        await ana.press("escape")
        await ana.do("t", "Theme: night")
        await ana.do("?", "Everywhere")
        await ana.do("escape escape", "r retry")
        await ana.do("s s", "r retry")


async def test_a_value_is_chosen_from_all_of_them_with_the_mouse(open_screen: OpenScreen) -> None:
    async with at_settings(open_screen) as ana:
        await ana.click(30, 2)
        lines = (await ana.until("> terminal", "  contrast", "Esc back")).splitlines()
        (night,) = (y for y, line in enumerate(lines) if "  night" in line)
        await ana.click(30, night)
        await ana.until("> Theme              night", gone="contrast")
        assert await until_kept(ana) == {"theme": "night"}


async def test_a_setting_fixed_by_client_toml_changes_for_this_run_only(open_screen: OpenScreen) -> None:
    async with at_settings(open_screen, theme="night", fixed=frozenset({"theme"})) as ana:
        await ana.until("Theme              night", "in client.toml; here for this run")
        await ana.do("right", "> Theme              paper")
        await ana.press("down", "right")
        assert await until_kept(ana) == {"no_color": True}


async def test_the_last_setting_is_saved_even_if_the_program_ends_at_once(open_screen: OpenScreen) -> None:
    async with at_settings(open_screen) as ana:
        await ana.press("right", "right", "right", "ctrl+q")
    assert load_choices() == {"theme": "contrast"}


async def test_the_theme_chosen_at_home_is_kept(open_screen: OpenScreen, home: Path) -> None:
    async with open_screen(NOBODY) as ana:
        await ana.until("r retry")
        await ana.do("t", "Theme: night")
        assert await until_kept(ana) == {"theme": "night"}


async def test_a_name_chosen_at_home_is_kept(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, name=None) as ana:
        await ana.until("Playing as  guest-")
        await ana.press("n")
        await ana.enter("zoe", "Playing as  zoe")
        assert await until_kept(ana) == {"name": "zoe"}


@pytest.mark.parametrize("given", [{"name_is_for_now": True}, {"fixed": frozenset({"name"})}], ids=["option", "file"])
async def test_a_set_name_changes_for_one_run(server: Server, open_screen: OpenScreen, given: dict[str, Any]) -> None:
    async with open_screen(server.url, name="ana", **given) as ana:
        await ana.until("Playing as  ana")
        await ana.press("n")
        await ana.enter("zoe", "Playing as  zoe", "for this run only")
        assert await until_kept(ana) == {}


async def test_a_config_error_is_shown_on_the_screen(open_screen: OpenScreen) -> None:
    doubt = 'client.toml line 4: unknown key "thme". Did you mean "theme"?'
    async with open_screen(NOBODY, doubts=(doubt,)) as ana:
        await ana.until("r retry", doubt)
        await ana.do("t", "Theme: night", gone=doubt)
