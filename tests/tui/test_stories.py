from contextlib import AsyncExitStack

import pytest

from tests.faces.screen import ScreenPerson
from tests.faces.stories import STORIES, Story
from tests.proxy import Proxy
from tests.tui.conftest import OpenScreen
from tictactoe_server.server import Server


@pytest.mark.parametrize("story", STORIES)
async def test_a_story_at_the_full_screen(server: Server, proxy: Proxy, open_screen: OpenScreen, story: Story) -> None:
    async with AsyncExitStack() as stack:
        await story(ScreenPerson(server.url, stack, open_screen), server, proxy)
