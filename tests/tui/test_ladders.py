from collections.abc import AsyncIterator

import pytest
from msgspec import UNSET

from tests.faults.hostile_server import Answer, Frame, hostile_server, make_welcome
from tests.peer import Peer, open_peer
from tests.server.ratings.served import CLOCK, RULES, play_rated, rating
from tests.tui.conftest import OpenScreen, ScreenUser
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.ladders import PlayerPage
from tictactoe_engine import PRESETS
from tictactoe_protocol.names import ClaimName
from tictactoe_protocol.pushes import Ok, PlayerProfile
from tictactoe_protocol.rated import Encounters, LadderRow, LadderStanding, LadderState, Profile, Ratings
from tictactoe_protocol.requests import Hello, Request
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server

__all__ = ["rating"]


@pytest.fixture
async def bo(rating: Server) -> AsyncIterator[Peer]:
    async with open_peer(rating.url, "bo") as peer:
        await peer.ask("claim_name", name="bo")
        yield peer


@pytest.fixture
async def ana(rating: Server, open_screen: OpenScreen) -> AsyncIterator[ScreenUser]:
    async with open_screen(rating.url, colour=False) as user:
        await user.until("Playing as  ana")
        await user.client.ask(ClaimName(name="ana"))
        yield user


async def test_a_challenge_is_shown_on_every_page_and_answered_once_it_is_visible(ana: ScreenUser, bo: Peer) -> None:
    await bo.ask("challenge", player=ana.client.player, rules=RULES, clock=CLOCK)
    await ana.until("bo challenges you: 6 by 7, ", "Ctrl+Y accept", "Ctrl+N decline", "Ctrl+X block")
    await ana.do("s", "Settings", "bo challenges you")
    await ana.do("escape ctrl+n", "You decline.")
    assert (await bo.next_of("challenge_over"))["how"] == "declined"
    ana.app.say("A note that covers it.")
    await bo.ask("challenge", player=ana.client.player, rules=RULES, clock=CLOCK, rated=True)
    await ana.until("bo challenges you")
    ana.app.say("A note that covers it.")
    await ana.until("A note that covers it.")
    await ana.do("ctrl+y", "bo challenges you")
    await ana.do("ctrl+y", "10:00")


async def test_a_rated_opponent_is_wanted_once_one_has_kept_a_name(rating: Server, open_screen: OpenScreen) -> None:
    async with open_screen(rating.url, colour=False) as user:
        await user.until("> Find an opponent", "against whoever comes next", "Nobody else is online.", gone="R: rated")
        await user.do("left left left left", "‹ Connect four ›", "(R: rated)")
        await user.do("R", "> Make this name yours")
        await user.do("enter", "What's your name?")
        await user.do("enter", "is yours")
        await user.do("escape", "written")
        await user.do("enter", "Playing as", "‹ Connect four ›  rated, 3+2")
        await user.do("enter", "Waiting for another player", "Connect four · rated", "3 min each + 2 s a move; public.")


async def test_rescue_codes_stay_before_a_rated_game_when_the_connection_is_new(
    rating: Server, open_screen: OpenScreen
) -> None:
    choice = Choice("match", PRESETS[RULES], ClockFields(**CLOCK), rated=True)
    async with open_screen(rating.url, choice, name="ana") as user:
        await user.until("> Make this name yours")
        await user.do("enter", "What's your name?")
        await user.do("enter", "ana is yours. If", "3 rescue codes are left")
        await user.app.session.greet_again()
        await user.do("escape", "Have you written the codes down?")
        await user.do("enter", "Waiting for another player", "Connect four · rated")


async def test_one_asks_from_a_player_s_page_and_takes_it_back(ana: ScreenUser, bo: Peer) -> None:
    async with open_peer(ana.app.session.address.url, "cy") as cy:
        await cy.ask("claim_name", name="cy")
        await play_rated(cy, bo)
    await ana.do("l", "> Ladders")
    await ana.do("enter", "‹ ", "0 rated games.", "n your page")
    await ana.do("n", "ana", "No rated game yet.")
    await ana.do("escape", "n your page")
    ana.app.open(PlayerPage(bo.welcome["player"], RULES))
    await ana.until("bo", "connect-four", "lost by resignation")
    await ana.do("c", "You challenge bo: 6 by 7, ", "3+2, rated.   Ctrl+N")
    asked = await bo.next_of("challenge")
    assert asked["clock"] == {"initial_ms": 180000, "increment_ms": 2000}
    await ana.do("ctrl+n", "Your challenge is withdrawn.")
    assert (await bo.next_of("challenge_over"))["how"] == "withdrawn"
    await ana.do("ctrl+x", "bo is blocked")
    await ana.do("ctrl+x", "You see challenges and chat from bo again.")


async def test_a_rated_game_shows_its_changes_and_offers_a_new_challenge(ana: ScreenUser, bo: Peer) -> None:
    ana.app.ways_in.go(Choice("create", PRESETS[RULES], ClockFields(**CLOCK), rated=True))
    await ana.until("Waiting for", "rated")
    room = ana.code
    await bo.ask("join", room=room)
    await ana.until("Your move")
    await ana.do("1", "bo's move")
    await bo.ask("move", room=room, cell=36, ply=1)
    await ana.until("Your move")
    await bo.ask("resign", room=room)
    await ana.until("Your rating: 1662? (+162).", "c challenge again")
    text = await ana.do("c", "You challenge bo: ", "Ctrl+N withdraw")
    assert "challenge again" not in text
    await ana.do("ctrl+n", "Your challenge is withdrawn.", "c challenge again")


async def test_a_ladder_shows_neighbours_then_the_best_and_opens_their_pages(open_screen: OpenScreen) -> None:
    def ladder(request: Request) -> list[Frame]:
        assert isinstance(request, Ratings)
        assert isinstance(request.id, str)
        places = range(15, 26) if request.around is not UNSET else range(1, 21)
        rows = tuple(LadderRow(at, f"p-{at}", f"player-{at}", 2000.4 - at, 40.0, 100 + at, -1.2) for at in places)
        return [Ok(id=request.id, ladder=LadderState(str(request.rules), rows, 900, 27.6, 0.93))]

    def profile(request: Request) -> list[Frame]:
        assert isinstance(request, Profile)
        assert isinstance(request.id, str)
        standing = LadderStanding(RULES, 60, 1, 39, rating=1985.0, deviation=40.0, place=15)
        met = Encounters(2, 1, 3, 0)
        return [Ok(id=request.id, profile=PlayerProfile(request.player, "player-15", (standing,), (), met))]

    hello = make_welcome(ladders=(RULES, "four"))
    answers: dict[type, Answer] = {Ratings: ladder, Profile: profile, Hello: lambda _: [hello]}
    async with hostile_server("bo", answers) as server, open_screen(server.url, colour=False) as ana:
        await ana.until("Ladders")
        await ana.do("l", "> Ladders")
        text = await ana.do("enter", "‹ Connect four ›", "> 15", "player-15", "player-25", "900 rated games.")
        assert "1985 ±80" in text
        assert text.index("player-25") < text.index("player-1 ")
        await ana.do("right", "‹ Four", "> 15")
        await ana.do("enter", "player-15", "1985 ±80", "You and player-15: 2 won, 1 drawn, 3 lost.", "c challenge")
        await ana.until("No rated game yet.")
