from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tests.fakes import TroubledStore
from tests.limits import uncounted
from tests.server.events.authors import begun as begun_before
from tests.server.events.authors import new_event
from tests.server.events.authors import run as carry_out
from tests.server.test_events_service import HERE, known
from tictactoe_server.features.tournaments.event_store import EVENTS, IDLE_DAYS, OVER_DAYS
from tictactoe_server.server import Server
from tictactoe_server.storage.store import MISSING, Unreadable, save

pytestmark = pytest.mark.features

DAY_MS = 86_400_000


async def test_idle_events_are_deleted_and_finished_ones_much_later(tmp_path: Path) -> None:
    settings = replace(HERE, data=tmp_path)
    ages = {"ADL2EA": IDLE_DAYS + 1, "ADL3EA": IDLE_DAYS - 1, "0VER2A": OVER_DAYS + 1, "0VER3A": OVER_DAYS - 1}
    ages |= {"V01D2A": IDLE_DAYS + 1, "RVN2NG": IDLE_DAYS + 1}  # closed before it began; still on
    async with Server(settings) as server:
        now, table = server.core.time(), server.core.store.table(EVENTS)
        for code, days in ages.items():
            is_begun = code.startswith(("0", "R"))
            event = msgspec.structs.replace(begun_before(2), pairings=()) if is_begun else new_event()
            event = msgspec.structs.replace(event, code=code, opened_at=now - days * DAY_MS)
            await save(table, code, event if code.startswith(("A", "R")) else carry_out(event, "close"), MISSING)
    async with Server(settings) as server:
        table, left = server.core.store.table(EVENTS), list[str]()
        while len(left) != 3:
            left = [code for code in ages if await table.load(code) is not None]
        assert left == ["ADL3EA", "0VER3A", "RVN2NG"]


async def test_a_damaged_event_harms_no_other(store: TroubledStore) -> None:
    for code in ("K7M4PR", "K7M4PS"):
        store.events.put(msgspec.structs.replace(new_event(), code=code))
    store.events.trouble.fail("load", Unreadable("damaged"), key="K7M4PR", times=100)
    async with Server(HERE, store, uncounted()) as server, known(server, "ana") as ana:
        assert [row["event"] for row in (await ana.ask("events"))["events"]] == ["K7M4PS"]
        assert await ana.refusal("event_join", event="K7M4PR") == "no_such_event"
        assert (await ana.ask("event_join", event="K7M4PS"))["type"] == "ok"
