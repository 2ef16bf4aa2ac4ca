"""Turns chat lines and server messages into safe text, and mutes players."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from tictactoe_client.text.wording import describe_seconds
from tictactoe_protocol import clean_text
from tictactoe_protocol.codes import SENTENCES
from tictactoe_protocol.days import Turn
from tictactoe_protocol.events import Call
from tictactoe_protocol.pushes import Announcement, ChatLine, Error, Notice, RoomState, Welcome
from tictactoe_words.catalogue import say
from tictactoe_words.commands import word_of
from tictactoe_words.refusals import describe_announcement
from tictactoe_words.tournaments import describe_call


def announce_chat(line: ChatLine) -> str:
    """Return a chat line as safe text, which says if the writer is a watcher."""
    text = say(f"sentence {line.sentence}") if line.sentence in SENTENCES else clean_text(line.text)
    return say("chat of" if line.seat else "chat watching", name=clean_text(line.from_), text=text)


def list_greeting(welcome: Welcome) -> list[str]:
    """Return lines with the operator's greeting, and with the server's restrictions of chat and names."""
    texts = [text for text in (welcome.title, welcome.greeting) if text]
    lines = [clean_text(line) for text in texts for line in text.splitlines()]
    lines += [say(f"refused not_allowed chat {welcome.chat}")] if welcome.chat in ("off", "sentences") else []
    return [*lines, say("page names given")] if welcome.names == "given" else lines


def describe_device_news(welcome: Welcome) -> str:
    """Return the server's notice about a newly added device, or ""."""
    return describe_announcement(welcome.device_news or "") or ""


def list_sentences() -> str:
    """Return the numbered sentences that can be sent on a server without free chat, in a single line."""
    sentences = (f"{number} {say(f'sentence {id}')}" for number, id in enumerate(SENTENCES, 1))
    return say("chat sentences", sentences=" ".join(sentences))


def describe_turns(turns: Sequence[Turn]) -> str:
    """Say how many games over days await our move, and how to go to the next one."""
    return f"{say('turns await', n=len(turns))} {say('turns next', word=word_of('next'))}"


def describe_push(push: Notice | Announcement | Error | Call) -> str:
    """Return an unsolicited message from the server as safe text."""
    if isinstance(push, Call):
        return describe_call(push)
    if isinstance(push, Announcement):
        return say("server says", text=clean_text(push.text))
    if isinstance(push, Error):
        return clean_text(push.message)
    is_final = push.code == "stopping"
    if push.in_ms is UNSET:
        return say("refused busy stopping" if is_final else "refused busy restarting")
    told = say("last games before stop" if is_final else "last games before restart")
    if push.in_ms is None:
        return told
    return f"{told} {say('ends at the latest', time=describe_seconds(max(0, push.in_ms) / 1000))}"


class Muted:
    """The players whose chat `viewer` has hidden."""

    def __init__(self, viewer: str) -> None:
        self._viewer = viewer
        self._muted: dict[str, str] = {}
        self._heard: dict[str, str] = {}

    def hears(self, line: ChatLine) -> bool:
        """Return False if the writer is muted; remember writers, so that they can be muted by name."""
        self._heard[_key(line.from_)] = line.player
        return line.player not in self._muted

    def mute(self, name: str, state: RoomState) -> str:
        """Mute a player, or a watcher who has chatted, by name; return a line that says what was done."""
        who, known = self.find(name, state)
        if who is None:
            return say("nobody called", name=clean_text(name))
        if who == self._viewer:
            return say("refused not_allowed self")
        self._muted[who] = known
        return say("muted now", name=known)

    def unmute(self, name: str) -> str:
        """Unmute a muted person by name; return a line that says what was done."""
        for who, known in self._muted.items():
            if _key(known) == _key(name):
                del self._muted[who]
                return say("not muted", name=known)
        return say("not muted", name=clean_text(name))

    def describe(self) -> str:
        return say("muted are" if self._muted else "muted nobody", names=", ".join(self._muted.values()))

    def find(self, name: str, state: RoomState) -> tuple[str | None, str]:
        """Return the id, or None, and the name of a player or a watcher who has chatted."""
        for seat in state.seats.values():
            if seat is not None and _key(seat.name) == _key(name):
                return seat.player, clean_text(seat.name)
        return self._heard.get(_key(name)), clean_text(name).strip()


def _key(name: str) -> str:
    return name.strip().casefold()
