from typing import Any

import pytest

from tests.peer import Peer, open_peer, play_out, two_playing
from tictactoe_server.features.reviews.service import FEATURE as REVIEWS
from tictactoe_server.server import Server

pytestmark = pytest.mark.features

WON_BY_X = [0, 3, 1, 4, 2]


async def analysis_of(peer: Peer, type: str, **request: Any) -> Any:
    """Ask until there was time for an answer."""
    while (answer := await peer.ask(type, **request)).get("code") == "busy":
        pass
    return answer["analysis"]


async def test_watchers_can_analyse_a_game_with_open_analysis(server: Server) -> None:
    async with two_playing(server, analysis="open") as (ana, bo, room), open_peer(server.url) as eve:
        await play_out({"X": ana, "O": bo}, room, WON_BY_X[:4])
        await eve.ask("watch", room=room)
        analysis = await analysis_of(eve, "analyse", room=room)
        assert (analysis["ply"], analysis["turn"], analysis["best"], analysis["solved"]) == (4, "X", [2], True)
        assert analysis["value"] == {"kind": "win", "plies": 1, "estimate": 1.0}
        assert sorted(map(int, analysis["cells"])) == [2, 5, 6, 7, 8]
        start = await analysis_of(eve, "analyse", room=room, ply=0)
        assert (start["turn"], start["value"]["kind"], len(start["cells"])) == ("X", "draw", 9)
        assert await analysis_of(ana, "analyse", room=room) == analysis


async def test_an_analysis_has_texts_in_the_language_of_hello(server: Server) -> None:
    async with two_playing(server, rules="gomoku", analysis="open") as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [112, 97, 113, 210, 114, 195])
        async with open_peer(server.url, language="de") as eve:
            await eve.ask("watch", room=room)
            analysis = await analysis_of(eve, "analyse", room=room, ply=5, stones=True)
        assert analysis["text"].startswith("Weiß am Zug: ")
        assert set(analysis["played"]) == {"kind", "lost", "text"}
        assert analysis["cells"]["195"]["text"].startswith("A14")
        assert {"text", "played"}.isdisjoint(await analysis_of(ana, "analyse", room=room, ply=5))


@pytest.mark.features(REVIEWS)
async def test_nothing_is_analysed_on_a_server_without_bots(server: Server) -> None:
    async with two_playing(server, analysis="open") as (ana, _, room):
        refused = await ana.ask("analyse", room=room)
        assert (refused["code"], refused["data"]) == ("not_allowed", {"why": "no bots"})


async def test_only_watchers_may_analyse_a_game_against_a_bot(ana: Peer, eve: Peer) -> None:
    room = (await ana.ask("create", bots=["easy"]))["room"]
    await eve.ask("watch", room=room)
    assert await ana.refusal("analyse", room=room) == "not_allowed"
    assert (await analysis_of(eve, "analyse", room=room, ply=0))["solved"] is True


async def test_finished_games_can_be_reviewed_by_players_and_by_link(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room), open_peer(server.url) as eve:
        game = (await play_out({"X": ana, "O": bo}, room, WON_BY_X))["game_id"]
        analysis = await analysis_of(ana, "review", game_id=game, ply=4)
        assert (analysis["ply"], analysis["turn"], analysis["best"], analysis["solved"]) == (4, "X", [2], True)
        assert (await analysis_of(bo, "review", game_id=game))["turn"] is None
        assert await eve.refusal("review", game_id=game) == "not_allowed"
        assert await eve.refusal("review") == "bad_message"
        assert await eve.refusal("review", game_id=game, replay="aB3-_dE5fG7hI9jK1mN3oP") == "bad_message"
        replay = (await bo.ask("share", game_id=game))["replay"]
        assert await analysis_of(eve, "review", replay=replay, ply=4) == analysis
        assert await eve.refusal("review", replay=replay, ply=6) == "stale"
        await bo.ask("share", game_id=game, on=False)
        refused = await eve.ask("review", replay=replay)
        told = f'No game is shared as "{replay}".'
        assert (refused["code"], refused["path"], refused["message"]) == ("not_allowed", "replay", told)


async def test_a_review_gives_the_values_of_opening_choices(ana: Peer, bo: Peer) -> None:
    rules = {"rows": 3, "columns": 3, "line": 3, "misere": True, "opening": "pie"}
    room = (await ana.ask("create", rules=rules))["room"]
    await bo.ask("join", room=room)
    await ana.ask("move", room=room, cell=0, ply=0)
    await bo.ask("choose", room=room, take="X", ply=1)
    await ana.ask("move", room=room, cell=4, ply=1)
    await bo.ask("resign", room=room)
    game = (await ana.ask("history"))["games"][0]["game_id"]
    for request in ({"type": "analyse", "room": room}, {"type": "review", "game_id": game}):
        analyses = [await analysis_of(ana, **request, ply=ply) for ply in (0, 1, 2)]
        before = analyses[1]["before"]
        assert [("before" in each, "options" in each) for each in (analyses[0], analyses[2])] == [(False, False)] * 2
        assert (before["ply"], before["turn"], before["cells"], before["best_options"]) == (1, "O", {}, ["O"])
        assert {take: worth["kind"] for take, worth in before["options"].items()} == {"X": "loss", "O": "win"}
        assert (analyses[1]["turn"], len(analyses[1]["cells"])) == ("O", 8)


async def test_an_open_analysis_is_shown_in_state_and_list_and_a_match_never_leads_there(ana: Peer, bo: Peer) -> None:
    lesson = (await ana.ask("create", analysis="open"))["room"]
    assert (await ana.state(room=lesson))["analysis"] == "open"
    fair = (await ana.ask("create"))["room"]
    assert "analysis" not in await ana.state(room=fair)
    rows = {row["room"]: row.get("analysis") for row in (await bo.ask("rooms"))["rooms"]}
    assert rows == {lesson: "open", fair: None}
    assert (await bo.ask("match"))["room"] == fair
    assert (await bo.ask("match"))["room"] not in (lesson, fair)
    assert await bo.refusal("create", analysis="ajar") == "bad_message"


async def test_a_running_game_between_people_is_not_analysed(server: Server, ana: Peer, bo: Peer, eve: Peer) -> None:
    room = (await ana.ask("create"))["room"]
    await eve.ask("watch", room=room)
    assert (await eve.ask("analyse", room=room))["type"] == "ok"
    await bo.ask("join", room=room)
    await ana.state(status="playing")
    for peer in (ana, eve):
        assert await peer.refusal("analyse", room=room, ply=0) == "not_allowed"
    async with open_peer(server.url, token=ana.welcome["token"]) as second_screen:
        await second_screen.ask("watch", room=room)
        assert await second_screen.refusal("analyse", room=room) == "not_allowed"
    await play_out({"X": ana, "O": bo}, room, WON_BY_X)
    over = await analysis_of(ana, "analyse", room=room)
    assert (over["turn"], over["cells"], over["value"]["kind"]) == (None, {}, "loss")
    assert (await analysis_of(bo, "analyse", room=room, ply=2))["ply"] == 2


async def test_asking_without_end_is_held_to_a_rate(clocked: Server) -> None:
    async with open_peer(clocked.url) as ana:
        room = (await ana.ask("create"))["room"]
        codes = {(await ana.ask("analyse", room=room)).get("code") for _ in range(40)}
    assert codes == {None, "rate_limited"}
