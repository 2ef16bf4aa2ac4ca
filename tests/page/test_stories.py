import pytest

from tests.faces.page import PagePerson
from tests.faces.stories import STORIES, Story
from tests.page.conftest import Visit
from tests.proxy import Proxy
from tictactoe_server.server import Server


@pytest.mark.parametrize("story", STORIES)
async def test_a_story_at_the_page(server: Server, visit: Visit, story: Story) -> None:
    async with Proxy(server.port) as proxy:
        await story(PagePerson(server.url, visit), server, proxy)
