from contextlib import AsyncExitStack

import pytest

from tests.faces.library import LibraryPerson
from tests.faces.plain import PlainPerson
from tests.faces.stories import STORIES, Story
from tests.proxy import Proxy
from tictactoe_server.server import Server


@pytest.mark.parametrize("face", [PlainPerson, LibraryPerson])
@pytest.mark.parametrize("story", STORIES)
async def test_a_story_in_plain_mode_and_with_the_library(
    server: Server, proxy: Proxy, story: Story, face: type[PlainPerson | LibraryPerson]
) -> None:
    async with AsyncExitStack() as stack:
        await story(face(server.url, stack), server, proxy)
