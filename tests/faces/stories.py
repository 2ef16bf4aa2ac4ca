"""What a person does with others, told once and run at each face; `bo` is a peer without a face."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.events import begin_event, come, open_event
from tests.faces.person import Person
from tests.peer import Peer, open_peer, play_out, two_playing
from tests.proxy import Proxy
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

Story = Callable[[Person, Server, Proxy], Awaitable[None]]


@asynccontextmanager
async def joined_by_bo(ana: Person, server: Server, rules: str = "classic") -> AsyncIterator[tuple[Peer, str]]:
    """Let ana open a room, where she moves first, and bo join it; yield bo and the code."""
    code = await ana.open_room(rules)
    async with open_peer(server.url, "bo") as bo:
        await bo.ask("join", room=code)
        await bo.state(status="playing")
        yield bo, code


async def begin(ana: Person, bo: Peer, code: str) -> None:
    """Play a move of each, so that the game counts: B2 and A1."""
    await ana.play("b2")
    await bo.state(ply=1)
    await bo.ask("move", room=code, cell=0, ply=1)
    await ana.see("O", "a1")


async def a_line_wins_and_the_rematch_begins(ana: Person, server: Server, proxy: Proxy) -> None:
    async with joined_by_bo(ana, server) as (bo, code):
        await ana.hear("Your move, X.")
        for ply, (cell, answer) in enumerate((("a1", 3), ("b1", 4), ("c1", None))):
            await ana.play(cell)
            await bo.state(ply=2 * ply + 1)
            if answer is not None:
                await bo.ask("move", room=code, cell=answer, ply=2 * ply + 1)
                await ana.see("O", "ab"[ply] + "2")
        await ana.hear("You win! Row 1 is X X X.")
        await ana.do("rematch")
        await bo.until(lambda told: told["type"] == "room" and told["offers"]["rematch"])
        await bo.ask("rematch", room=code)
        await bo.state(game=2, status="playing")
        await bo.ask("move", room=code, cell=4, ply=0)
        await ana.see("X", "b2")


async def one_joins_by_the_code_and_resigns(ana: Person, server: Server, proxy: Proxy) -> None:
    async with open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create", visibility="private"))["room"]
        await ana.join(code)
        await bo.state(status="playing")
        await bo.ask("move", room=code, cell=4, ply=0)
        await ana.see("X", "b2")
        await ana.play("a1")
        await bo.state(ply=2)
        await ana.do("resign")
        assert (await bo.state(status="over"))["result"]["reason"] == "resigned"
        await ana.hear("You lose")


async def offers_are_made_withdrawn_declined_and_accepted(ana: Person, server: Server, proxy: Proxy) -> None:
    async with joined_by_bo(ana, server) as (bo, code):
        await ana.hear("Your move, X.")
        await begin(ana, bo, code)
        await ana.do("draw")
        await bo.until(lambda told: told["type"] == "room" and told["offers"]["draw"] == "X")
        await ana.do("withdraw")
        await bo.until(lambda told: told["type"] == "room" and told["offers"]["draw"] is None)
        await bo.ask("draw", room=code, action="offer")
        await ana.hear("bo offers a draw.")
        await ana.do("decline")
        await bo.until(lambda told: told["type"] == "room" and told["offers"]["draw"] is None)
        await ana.do("undo")
        await bo.until(lambda told: told["type"] == "room" and told["offers"]["undo"] == "X")
        await bo.ask("undo", room=code, action="accept")
        await bo.state(ply=0)
        await ana.hear("You take back B2 and A1.")
        await bo.ask("draw", room=code, action="offer")
        await ana.hear("bo offers a draw.")
        await ana.do("accept")
        assert (await bo.state(status="over"))["result"]["reason"] == "agreed"
        await ana.hear("It's a draw. Both agreed.")


async def both_talk_and_the_other_leaves(ana: Person, server: Server, proxy: Proxy) -> None:
    async with joined_by_bo(ana, server) as (bo, code):
        await ana.hear("Your move, X.")
        await ana.say("good luck")
        assert (await bo.next_of("chat"))["text"] == "good luck"
        await bo.ask("chat", room=code, text="thank you")
        await ana.hear("bo: thank you")
        await begin(ana, bo, code)
        await bo.ask("leave", room=code)
        await ana.hear("You win! bo left the game.")


async def a_game_is_watched_from_the_middle_to_its_end(ana: Person, server: Server, proxy: Proxy) -> None:
    async with two_playing(server, "bo", "cy") as (bo, cy, code):
        await play_out({"X": bo, "O": cy}, code, [4, 0])
        await ana.watch(code)
        await ana.see("O", "a1")
        await play_out({"X": bo, "O": cy}, code, [8], first_ply=2)
        await ana.see("X", "c3")
        await cy.ask("resign", room=code)
        await ana.hear("bo wins")


async def a_game_goes_on_after_a_lost_connection(ana: Person, server: Server, proxy: Proxy) -> None:
    ana.url = proxy.url
    async with joined_by_bo(ana, server) as (bo, code):
        await ana.hear("Your move, X.")
        await ana.play("b2")
        await bo.state(ply=1)
        proxy.lose()
        await bo.until(lambda told: told["type"] == "room" and not told["seats"]["X"]["online"])
        await bo.ask("move", room=code, cell=0, ply=1)
        proxy.is_closed = False
        await ana.see("O", "a1")
        await ana.play("c3")
        assert (await bo.state(ply=3))["board"] == "O...X...X"


async def an_absent_opponent_loses_by_a_claim(ana: Person, server: Server, proxy: Proxy) -> None:
    async with Server(Settings(host="127.0.0.1", port=0, hold_seconds=0)) as hasty:
        ana.url = hasty.url
        async with joined_by_bo(ana, hasty) as (bo, code):
            await ana.hear("Your move, X.")
            await begin(ana, bo, code)
            await bo.socket.close()
            await ana.hear("bo has been away too long")
            await ana.do("claim")
            await ana.hear("You win! bo was away too long.")


async def the_sides_of_swap2_are_chosen(ana: Person, server: Server, proxy: Proxy) -> None:
    async with joined_by_bo(ana, server, "gomoku-standard") as (bo, code):
        for ply, cell in enumerate(("h8", "h9", "i10")):
            await ana.play(cell)
            await bo.state(ply=ply + 1)
        await bo.ask("choose", room=code, take="more", ply=3)
        await ana.hear("bo places two more, then you choose.")
        for ply, index in ((3, 0), (4, 1)):
            await bo.ask("move", room=code, cell=index, ply=ply)
        await ana.see("X", "b1")
        await ana.choose(1)
        assert (await bo.until(lambda told: told.get("chosen") == ["more", "O"]))["seats"]["O"]["name"] == "ana"


async def an_accepted_challenge_leads_to_its_room(ana: Person, server: Server, proxy: Proxy) -> None:
    async with joined_by_bo(ana, server) as (bo, code):
        await ana.hear("Your move, X.")
        await begin(ana, bo, code)
        await bo.ask("resign", room=code)
        player = (await bo.state(status="over"))["seats"]["X"]["player"]
        await ana.hear("You win! bo resigns.")
        await bo.ask("challenge", player=player, rules="misere", side="O")
        await ana.hear("bo challenges you")
        await ana.do("accept challenge")
        over = await bo.next_of("challenge_over")
        await bo.ask("join", room=over["room"])
        await ana.hear("Your move, X.")
        await ana.play("a1")
        await bo.state(room=over["room"], ply=1)


async def a_tournament_calls_to_its_board(ana: Person, server: Server, proxy: Proxy) -> None:
    async with open_peer(server.url, "bo") as bo:
        event = await open_event(bo, bo)
        await ana.enter_event(event)
        await begin_event(bo, event, players=2)
        room = await come(bo)
        await bo.state(status="playing")
        await ana.hear("move")
        await bo.ask("resign", room=room)
        await ana.hear("You win! bo resigns.")


STORIES: tuple[Story, ...] = (
    a_line_wins_and_the_rematch_begins,
    one_joins_by_the_code_and_resigns,
    offers_are_made_withdrawn_declined_and_accepted,
    both_talk_and_the_other_leaves,
    a_game_is_watched_from_the_middle_to_its_end,
    a_game_goes_on_after_a_lost_connection,
    an_absent_opponent_loses_by_a_claim,
    the_sides_of_swap2_are_chosen,
    an_accepted_challenge_leads_to_its_room,
    a_tournament_calls_to_its_board,
)
