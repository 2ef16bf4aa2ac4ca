"""What one does in a room: place, command, answer, confirm. Keys and clicks lead here; ways out are those of `Going`.

It knows nothing of keys and draws nothing; what came of a deed is told on the desk's status line or by the next state.
"""

from __future__ import annotations

from tictactoe_client.input.actions import Actions
from tictactoe_client.input.columns import describe_full_column, landing_cell
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb
from tictactoe_client.input.parser import parse_intent
from tictactoe_client.online.errors import ClientError, Interrupted, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.text.offers import can_play_again
from tictactoe_client.text.wording import MOST_FREE_AFTER_MISTAKE, ONLY_PLAYERS_MOVE, list_free, name_of
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.room.going import Going
from tictactoe_client.tui.room.hand import Hand
from tictactoe_client.tui.room.looking import Looking
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol import clean_text
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import ChatLine, RoomState


class GameDeeds:
    """The deeds of one person in one room."""

    def __init__(
        self, desk: Desk, room: Room, actions: Actions, table: Table, hand: Hand, looking: Looking, going: Going
    ) -> None:
        self._desk = desk
        self._actions = actions
        self._room = room
        self._table = table
        self._hand = hand
        self._looking = looking
        self._going = going

    # -- at the board ---------------------------------------------------------------------------------------------

    def place(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        state = self._table.state
        if state is None:
            return
        if self._table.seat is None:
            self._desk.say(ONLY_PLAYERS_MOVE)
        elif state.status == "over":
            self._desk.say(f"The game is over. {self._describe_ways_on(state)}.")
        elif state.status == "waiting":
            self._desk.say("The game has not begun: a seat is free.")
        elif not self._table.plays:
            self._desk.say("You are out of the game; the others play on.")
        elif not self._table.is_my_turn:
            self._desk.say(f"It's {name_of(state, state.turn)}'s move.")
        elif self._hand.pending is None:
            self._send(cell, state)

    def _describe_ways_on(self, state: RoomState) -> str:
        show, another = self._desk.keymap.show, self._going.another
        ways = [f"{show('rematch')} rematch"] if can_play_again(state) else []
        ways += [f"{show('another')} {another}"] if another else []
        back = show("back")
        return f"{', '.join(ways)} or {back}" if ways else f"{back} goes home"

    def _send(self, cell: int, state: RoomState) -> None:
        """Send a move; where marks fall, one in the column of the cell."""
        target = landing_cell(state, cell) if state.rules.gravity else cell
        if target is None:
            self._desk.say(describe_full_column(state, cell))
            return
        self._hand.pending = (target, state.turn or "")
        self._desk.start(self._send_move(target, state))

    async def _send_move(self, cell: int, state: RoomState) -> None:
        try:
            await self._room.move(cell, ply=state.ply)
        except Refused as refused:
            is_about_cell = refused.code in ("occupied", "blocked", "floating")
            free = f" {list_free(state, MOST_FREE_AFTER_MISTAKE)}" if is_about_cell else ""
            self._desk.say(f"{clean_text(refused.message)}{free}")
            self._hand.pending = None
        except ClientError:
            self._hand.pending = None
            raise

    # -- in words -------------------------------------------------------------------------------------------------

    def command(self, text: str) -> None:
        """Carry out what was typed after ``:``; what costs the game is asked about first."""
        words = text.strip().lower()
        state = self._table.state
        word, _, rest = text.strip().partition(" ")
        if not words or state is None:
            return
        if words == "resign" and self._table.plays:
            self._hand.confirming = "resign"
        elif words in ("leave", "quit", "exit"):
            self._leave()
        elif words == "new":
            self._going.to_another()
        elif words in ("help", "h", "?"):
            self.open_help()
        elif word.lower() in ("chat", "say") and rest:
            self.chat(rest)
        elif words == "review":
            self._looking.review()
        elif self._looking.points_at(words, state):
            return
        else:
            self._understand(text, state)

    def _understand(self, text: str, state: RoomState) -> None:
        """Place where a cell was typed, look where another moment was, else do it."""
        settings = self._desk.settings
        try:
            intent = parse_intent(
                f":{text}", state.rules.to_rules(), keys=settings.keys, coordinates=settings.coordinates
            )
        except BadInput as bad:
            self._desk.say(bad.message)
            return
        if isinstance(intent, Place):
            self.place(intent.cell)
        elif isinstance(intent, Query) and intent.kind == "board":
            self._looking.at_last_move()
        else:
            self.do(intent)

    def do(self, intent: Intent) -> None:
        """Do what is wanted beside everything else, and tell what comes of it."""
        self._desk.start(self._do(intent))

    def chat(self, text: str) -> None:
        """Say something to everybody in the room; what is too long stays in the line to be made shorter."""
        text = text.strip()
        if len(text) > MAX_CHAT_LENGTH:
            self._hand.unsaid = text
            self._hand.begin_chat()
            self._desk.say(f"Too long: {len(text)} of {MAX_CHAT_LENGTH} characters.")
        elif text:
            self._desk.start(self._say(text))

    async def _say(self, text: str) -> None:
        """Say it; what is refused comes back into the line, or with the next one where a key was pressed meanwhile."""
        hand, keys = self._hand, self._hand.keys
        try:
            await self._room.chat(text)
        except (Refused, Interrupted) as failed:
            hand.unsaid = text
            if hand.keys == keys and hand.mode == "board":
                hand.begin_chat()
            self._desk.say(clean_text(failed.message))

    async def _do(self, intent: Intent) -> None:
        before = self._actions.timeline
        told = (await self._actions.do(intent)).lines
        if self._actions.timeline is not before:
            if intent == Look("mistake", 1) or intent == Look("mistake", -1):
                self._looking.show_values()
            self._looking.at_another_moment()
        if len(told) > 1:
            self._table.talk.extend(told)
        if told:
            self._desk.say(told[0])
        self._desk.redraw()

    def hears(self, line: ChatLine) -> bool:
        """Tell whether something that was said is to be shown: not what somebody said who is muted."""
        return self._actions.muted.hears(line)

    def confirm(self) -> None:
        """Do what was asked about."""
        what = self._hand.confirming
        if what == "resign":
            self.do(Verb("resign"))
        elif what == "quit":
            self._desk.quit_after_all()
        elif what == "another":
            self._going.to_another()
        elif what == "leave":
            self._going.home()
        self._hand.confirming = None

    def _leave(self) -> None:
        """Leave the room in so many words: from wherever one looks, and asking where it loses a game."""
        self._hand.ahead.clear()
        self._looking.at_present()
        self._going.back()

    def open_help(self) -> None:
        """Lay the page of keys and words on top."""
        self._desk.pages[-1].open_help()
