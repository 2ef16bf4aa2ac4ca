import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer
from tests.rows import each
from tests.server.cases import cases
from tictactoe_protocol.names import LINK_MS, MAX_DEVICES
from tictactoe_server.core.session import TRIES
from tictactoe_server.operator.order import OrderRefused
from tictactoe_server.operator.people import ListNames, Merge, Release
from tictactoe_server.people.accounts import hash_secret
from tictactoe_server.people.confusables import keys_of
from tictactoe_server.play.names import Names
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import (
    ACCOUNTS,
    CLAIMS,
    LINKS,
    MAX_FORMER,
    PLAYERS,
    SEATED_DAYS,
    Account,
    Claim,
    FormerCodes,
    KnownDevice,
    LinkCode,
    today,
)
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.specs import Storage

HERE = Settings(host="127.0.0.1", port=0)


def alike(*names: str) -> bool:
    return all(set(keys_of(one)) & set(keys_of(other)) for one, other in itertools.pairwise(names))


@each("names", cases("names that look alike"))
def test_names_that_look_alike_have_a_key_in_common(names: list[str]) -> None:
    assert alike(*names)


@pytest.mark.parametrize("names", cases("names that people tell apart"))
def test_names_that_people_tell_apart_have_none(names: list[str]) -> None:
    assert not alike(*names)


@pytest.fixture
async def store() -> Storage:
    return MemoryStore(kept_by())


@pytest.fixture
async def server(store: Storage) -> AsyncIterator[Server]:
    async with Server(HERE, store=store, limits=uncounted()) as running:
        yield running


async def claim(peer: Peer, name: str) -> list[str]:
    answer = await peer.ask("claim_name", name=name)
    assert answer["type"] == "ok", answer
    codes: list[str] = answer["rescue"]
    return codes


async def seat_names(peer: Peer, other: Peer) -> dict[str, str]:
    """Return both names as a third player sees them in one room."""
    room = (await peer.ask("create"))["room"]
    await other.ask("join", room=room)
    state = await other.state(status="playing")
    return {mark: seat["name"] for mark, seat in state["seats"].items()}


async def test_other_players_with_a_claimed_name_are_marked(server: Server, ana: Peer, bo: Peer) -> None:
    assert "claimed" not in ana.welcome
    codes = await claim(ana, "ana")
    assert len(set(codes)) == 3
    assert {len(code) for code in codes} == {19}
    async with open_peer(server.url, "Аna") as other, open_peer(server.url, token=ana.welcome["token"]) as again:
        assert (other.welcome["name"], other.welcome["claimed"]) == ("Аna", False)
        assert (again.welcome["name"], again.welcome["claimed"]) == ("ana", True)
        assert await seat_names(again, other) == {"X": "ana", "O": "Аna?"}
        room = (await other.ask("create"))["room"]
        await bo.ask("join", room=room)
        await other.ask("chat", room=room, text="It is me!")
        assert (await bo.next_of("chat"))["from"] == "Аna?"
        refused = await other.ask("claim_name", name="ANA")
        assert (refused["code"], refused["data"]) == ("bad_name", {"why": "claimed", "name": "ana"})


@pytest.mark.parametrize(("name", "shown"), [("ana", "ana?"), ("a" * 24, f"{'a' * 23}?")])
async def test_a_connected_namesake_is_marked_once_the_name_is_claimed(server: Server, name: str, shown: str) -> None:
    """The mark makes no name longer than names may be."""
    async with open_peer(server.url, name) as first, open_peer(server.url, name) as second:
        await claim(second, name)
        assert await seat_names(first, second) == {"X": shown, "O": name}


async def test_a_refused_claim_reserves_no_similar_names(ana: Peer, bo: Peer, cy: Peer) -> None:
    await claim(bo, "lan")
    assert await ana.refusal("claim_name", name="Ian") == "bad_name"
    await claim(cy, "ian")


async def a_week_later(store: Storage) -> None:
    """Advance the stored time by a week, so that names are released."""
    rows = [row async for some in store.table(CLAIMS).load_all() for row in some]
    for row in rows:
        await change(store.table(CLAIMS), row.key, lambda old: old and replace(old, left=old.left and old.left - 8))


async def test_a_player_has_one_name_and_the_former_is_free_after_a_week(ana: Peer, bo: Peer, store: Storage) -> None:
    await claim(ana, "Ian")
    await claim(ana, "IAN")
    assert await bo.refusal("claim_name", name="ian") == "bad_name"
    await claim(ana, "cy")
    assert await bo.refusal("claim_name", name="ian") == "bad_name"
    await a_week_later(store)
    await claim(bo, "ian")
    assert (await ana.ask("devices"))["claimed"] == "cy"


async def test_an_unsuitable_name_cannot_be_claimed(server: Server) -> None:
    async with open_peer(server.url) as peer:
        for name in ("", "a&b", "'-.", "h\u0430rd-bot"):
            assert await peer.refusal("claim_name", name=name) == "bad_name"


async def test_a_name_unused_for_a_year_is_free_again(server: Server, ana: Peer, bo: Peer, store: Storage) -> None:
    await claim(ana, "ana")
    await change(store.table(CLAIMS), "ana", lambda old: Claim("ana", old.player if old else "", today() - 9))
    async with open_peer(server.url, token=ana.welcome["token"]) as again:
        assert again.welcome["claimed"] is True
    kept = await store.table(CLAIMS).load("ana")
    assert kept is not None
    assert kept[0].seen == today()
    long_ago = Claim("ana", kept[0].player, today() - SEATED_DAYS - 1)
    await change(store.table(CLAIMS), "ana", lambda old: long_ago)
    await claim(bo, "ana")
    async with open_peer(server.url, token=ana.welcome["token"]) as again:
        assert again.welcome["claimed"] is False


async def test_a_rescue_code_brings_the_name_back_once_on_a_device_of_its_own(server: Server, store: Storage) -> None:
    async with open_peer(server.url, "ana") as ana:
        codes = await claim(ana, "ana")
        player = ana.welcome["player"]
    for code in codes[:2]:
        async with open_peer(server.url, "ANA", rescue=code.lower().replace("-", " ")) as back:
            assert (back.welcome["player"], back.welcome["name"]) == (player, "ana")
            assert back.welcome["token"] != ana.welcome["token"]
        async with open_peer(server.url, token=back.welcome["token"]) as again:
            assert again.welcome["player"] == player
            left = await again.ask("devices")
    assert (left["codes_left"], len(left["devices"])) == (1, 3)
    for name, code in (("ana", codes[0]), ("bo", codes[2]), ("ana", "7KQ2-M94F-X3ZW-8HTB")):
        async with open_peer(server.url, name, rescue=code) as refused:
            assert (refused.welcome["code"], refused.welcome["path"]) == ("bad_token", "rescue")
    kept = await store.table(ACCOUNTS).load(player)
    assert kept is not None
    assert not any(code.replace("-", "") in str(kept[0]) for code in codes)


def aged(days: float, account: Account | None) -> Account:
    """Return an account that was unused for this many days."""
    assert account is not None
    seconds = days * 86_400
    former = tuple(FormerCodes(one.codes, one.since - seconds, one.replaced - seconds) for one in account.former)
    devices = tuple(KnownDevice(one.key, one.client, one.since - seconds, one.is_rescued) for one in account.devices)
    return replace(account, since=account.since - seconds, former=former, devices=devices)


@pytest.mark.parametrize(("days", "is_back"), [(6.9, True), (7.1, False)])
async def test_old_codes_last_a_week(server: Server, ana: Peer, store: Storage, days: float, is_back: bool) -> None:
    old, player = await claim(ana, "ana"), ana.welcome["player"]
    await change(store.table(ACCOUNTS), player, lambda account: aged(30, account))
    async with open_peer(server.url, link=(await ana.ask("link"))["link_code"]) as thief:
        await change(store.table(ACCOUNTS), player, lambda account: aged(3.1, account))
        for _ in range(MAX_FORMER + 2):  # more than a device may claim in a minute
            await change(store.table(ACCOUNTS), player, lambda account: account and account.with_codes(("none",)))
        new = await claim(thief, "mine")
    await change(store.table(ACCOUNTS), player, lambda account: aged(days, account))
    async with open_peer(server.url, "ana", rescue=old[0]) as back:
        assert back.welcome.get("player") == (player if is_back else None)
    async with open_peer(server.url, "mine", rescue=new[0]) as other:
        assert ("player" in other.welcome) is not is_back, "a code of before makes newer ones void"


@pytest.mark.features
@pytest.mark.parametrize(
    "request_",
    [
        {"type": "forget"},
        {"type": "claim_name", "name": "ana"},
        {"type": "claim_name", "name": "bea"},
        {"type": "revoke"},
    ],
    ids=["be forgotten", "get new rescue codes", "release the name", "remove an older device"],
)
async def test_irreversible_requests_are_refused_to_a_new_device(server: Server, ana: Peer, request_: Message) -> None:
    codes = await claim(ana, "ana")
    first = (await ana.ask("devices"))["devices"][0]["id"]
    async with open_peer(server.url, link=(await ana.ask("link"))["link_code"]) as thief:
        assert (await ana.next_of("announcement"))["code"] == "device_added"
        async with open_peer(server.url, token=ana.welcome["token"]) as again:
            assert again.welcome["device_news"] == "device_added"
        refused = await thief.ask(**request_ | ({"device": first} if request_["type"] == "revoke" else {}))
        assert (refused["code"], refused["data"]) == ("not_allowed", {"why": "device new"})
        assert refused.get("path") == ("device" if request_["type"] == "revoke" else None)
        assert (await ana.next_of("announcement"))["code"] == "device_refused"
        assert "announcement" not in [message["type"] for message in thief.seen]
    async with open_peer(server.url, token=thief.welcome["token"]) as thief:
        assert "device_news" not in thief.welcome
    async with open_peer(server.url, "ana", rescue=codes[0]) as ana:
        assert (ana.welcome["name"], ana.welcome.get("device_news")) == ("ana", None)
    async with open_peer(server.url, token=again.welcome["token"]) as ana:
        assert ana.welcome["device_news"] == "device_refused"
        (new, rescued) = [one for one in (await ana.ask("devices"))["devices"] if one.get("new")]
        for device in (new, rescued):
            assert (await ana.ask("revoke", device=device["id"]))["type"] == "ok"
    async with open_peer(server.url, token=again.welcome["token"]) as ana:
        assert "device_news" not in ana.welcome


async def test_a_rescued_or_older_device_may_remove_others(server: Server, ana: Peer, store: Storage) -> None:
    codes = await claim(ana, "ana")
    first = (await ana.ask("devices"))["devices"][0]["id"]
    link = (await ana.ask("link"))["link_code"]
    async with open_peer(server.url, link=link), open_peer(server.url, "ana", rescue=codes[0]) as back:
        second = (await back.ask("devices"))["devices"][1]["id"]
        assert (await back.ask("revoke", device=second))["type"] == "ok"
    async with open_peer(server.url, link=(await ana.ask("link"))["link_code"]) as phone:
        await change(store.table(ACCOUNTS), ana.welcome["player"], lambda account: aged(3.1, account))
        assert (await phone.ask("revoke", device=first))["type"] == "ok"


async def test_a_code_makes_another_device_the_same_player_once(server: Server) -> None:
    async with open_peer(server.url, "ana", client="he\x1bre/\u202e1") as ana:
        answer = await ana.ask("link")
        assert (len(answer["link_code"]), answer["expires_ms"]) == (8, LINK_MS)
        async with open_peer(server.url, "phone", client="there/2", link=answer["link_code"].lower()) as phone:
            assert phone.welcome["player"] == ana.welcome["player"]
            assert (phone.welcome["name"], phone.welcome["token"] == ana.welcome["token"]) == ("ana", False)
            async with open_peer(server.url, link=answer["link_code"]) as late:
                assert (late.welcome["code"], late.welcome["path"]) == ("bad_token", "link")
            devices = (await phone.ask("devices"))["devices"]
            assert [(one["client"], one.get("current", False)) for one in devices] == [
                ("here/1", False),
                ("there/2", True),
            ]
            room = (await ana.ask("create"))["room"]
            assert (await phone.ask("join", room=room))["seat"] == "X"
        async with open_peer(server.url, token=phone.welcome["token"]) as again:
            assert again.welcome["player"] == ana.welcome["player"]


async def test_a_link_code_expires_and_is_replaced_by_a_newer_one(server: Server, ana: Peer, store: Storage) -> None:
    old, new = [(await ana.ask("link"))["link_code"] for _ in range(2)]
    async with open_peer(server.url, link=old) as late:
        assert late.welcome["code"] == "bad_token"
    await change(store.table(LINKS), hash_secret(new), lambda kept: kept and LinkCode(kept.player, 0))
    async with open_peer(server.url, link=new) as late:
        assert late.welcome["code"] == "bad_token"
        assert (await late.ask("hello", name="cy"))["type"] == "welcome", "the connection stays"


async def test_a_name_is_borne_on_all_devices(server: Server, ana: Peer) -> None:
    code = (await ana.ask("link"))["link_code"]
    async with open_peer(server.url, link=code) as phone:
        await claim(ana, "anna")
    async with open_peer(server.url, token=phone.welcome["token"]) as again:
        assert (again.welcome["name"], again.welcome["claimed"]) == ("anna", True)
    async with open_peer(server.url, "annabel", token=ana.welcome["token"]):
        pass
    async with open_peer(server.url, token=phone.welcome["token"]) as again:
        assert again.welcome["name"] == "annabel"


async def test_a_revoked_device_is_sent_away_and_comes_back_by_no_token_or_code(server: Server, ana: Peer) -> None:
    code = (await ana.ask("link"))["link_code"]
    async with open_peer(server.url, link=code) as phone:
        stolen = next(one for one in (await ana.ask("devices"))["devices"] if "current" not in one)
        code = (await phone.ask("link"))["link_code"]
        assert (await ana.ask("revoke", device=stolen["id"]))["type"] == "ok"
        assert (await phone.next_of("error"))["code"] == "kicked"
        await phone.socket.wait_closed()
        assert phone.socket.close_code == 4501
    for proof in ({"token": phone.welcome["token"]}, {"link": code}):
        async with open_peer(server.url, **proof) as again:
            assert again.welcome["code"] == "bad_token"
    assert [one["current"] for one in (await ana.ask("devices"))["devices"]] == [True]
    assert await ana.refusal("revoke", device=stolen["id"]) == "not_allowed"


async def test_a_connected_device_that_was_revoked_may_not_claim_or_link(server: Server, store: Storage) -> None:
    async with open_peer(server.url, "ana") as ana:
        await change(store.table(PLAYERS), hash_secret(ana.welcome["token"]), lambda old: None)
        assert await ana.refusal("link") == "kicked"
        assert await ana.refusal("claim_name", name="ana") == "kicked"
    async with open_peer(server.url, "bo") as bo:
        await claim(bo, "ana")


async def test_the_number_of_devices_is_limited(ana: Peer, store: Storage) -> None:
    await ana.ask("link")

    def fill(old: Any) -> Any:
        for number in range(MAX_DEVICES):
            old = old.with_device(str(number))
        return old

    await change(store.table(ACCOUNTS), ana.welcome["player"], fill)
    assert (await ana.ask("link"))["data"] == {"why": "devices", "most": MAX_DEVICES}


async def test_five_tries_a_minute_are_enough(clocked: Server) -> None:
    async with open_peer(clocked.url) as ana:
        for number in range(5):
            await claim(ana, f"ana {number}")
        refused = await ana.ask("claim_name", name="ana")
    assert (refused["code"], refused["data"]) == ("rate_limited", {"why": "names"})
    assert 0 < refused["retry_ms"] <= 60_000


@pytest.mark.parametrize("way", ["link", "rescue"])
async def test_failed_codes_do_not_lock_out_neighbours(clocked: Server, way: str) -> None:
    async with open_peer(clocked.url, "ana") as ana:
        codes = {"rescue": (await claim(ana, "ana"))[0], "link": (await ana.ask("link"))["link_code"]}
        right: dict[str, Any] = {way: codes[way]}
    wrong: dict[str, Any] = {way: "7KQ2M94FX3ZW8HTB"}
    for number in range(TRIES + 1):
        async with open_peer(clocked.url, "ana", **wrong) as eve:
            assert eve.welcome["code"] == ("bad_token" if number < TRIES else "rate_limited")
            if number == TRIES:
                assert (await eve.ask("hello", name="ana", **right))["code"] == "rate_limited"
    async with open_peer(clocked.url, "ana", **right) as back:
        assert back.welcome["player"] == ana.welcome["player"]


async def test_players_with_a_claimed_name_or_two_devices_are_kept(server: Server, store: Storage) -> None:
    async with open_peer(server.url, "ana") as ana:
        await claim(ana, "ana")
        async with open_peer(server.url, link=(await ana.ask("link"))["link_code"]):
            pass
    await server.service(Names).close()
    rows = [stored.value async for some in store.table(PLAYERS).load_all() for stored in some]
    assert [getattr(row, "is_seated", None) for row in rows] == [True, True]


async def test_the_operator_lists_releases_and_merges(server: Server) -> None:
    assert await server.carry_out(ListNames()) == []
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "new phone") as phone:
        await claim(ana, "Ian")
        player, stray = ana.welcome["player"], phone.welcome["player"]
        row = {"name": "Ian", "player": player, "devices": 1, "codes_left": 3}
        assert await server.carry_out(ListNames()) == [row]
        told = await server.carry_out(Merge(stray, "ian"))
        assert told["connections"] == 1
        await phone.socket.wait_closed()
        assert phone.socket.close_code == 1012, "a client comes back by itself"
        async with open_peer(server.url, token=phone.welcome["token"]) as again:
            assert (again.welcome["player"], again.welcome["name"]) == (player, "Ian")
            assert len((await again.ask("devices"))["devices"]) == 2
        for order in (Merge(stray, "Ian"), Merge(player, "Ian"), Merge(player, "bo"), Release("bo")):
            with pytest.raises(OrderRefused):
                await server.carry_out(order)
        await server.carry_out(Release("IAN"))
        assert await server.carry_out(ListNames()) == []
        async with open_peer(server.url, "cy") as cy:
            await claim(cy, "lan")
            await claim(cy, "ian")


async def test_a_player_in_a_game_is_not_merged(server: Server, ana: Peer, bo: Peer) -> None:
    await claim(ana, "ana")
    room = (await bo.ask("create"))["room"]
    with pytest.raises(OrderRefused, match=room):
        await server.carry_out(Merge(bo.welcome["player"], "ana"))
