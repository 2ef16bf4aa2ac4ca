"""The commands of the client: a table with a row for each command, with its words and its key. Pure.

The key bindings, the key line, the help, command completion, plain mode and the key settings are all derived from this
table. Deeds are the names of actions in `tictactoe_words.choices`. Keys are characters or have the names of the
terminal library. Words, labels and sentences are ids in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal

from tictactoe_words.catalogue import say

if TYPE_CHECKING:
    from tictactoe_words.choices import Choices, Deed

PlainKind = Literal["board", "last", "clock", "who", "free", "runs", "help", "mistakes", "turn"]
PartKind = Literal["row", "column", "cell", "around", "diagonals", "marks", "moves", "value"]
GameKind = Literal["resign", "rematch", "draw", "undo", "claim", "choose", "yes", "no", "save"]
VerbKind = GameKind | Literal["new", "leave", "quit", "chat", "mute", "unmute", "challenge", "block", "plan"]


@dataclass(frozen=True, slots=True)
class Place:
    """Play the cell with this index, row-major from 0."""

    cell: int


@dataclass(frozen=True, slots=True)
class Query:
    """Ask for information.

    Attributes:
        kind: What to ask for. An empty line asks for the ``turn``: whose move it is.
        number: The index of the row, column, cell or mark from 0, the number of last moves, or the ply for a ``value``.
            None means the last cell, all marks, all moves, or the displayed position.
    """

    kind: PlainKind | PartKind
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Display another position.

    Attributes:
        kind: Which position: ``at`` is after `number` moves, ``by`` is `number` moves further, ``live`` is the newest
            position, ``mistake`` is the next mistake.
        number: A number of moves; for ``by`` and ``mistake``, negative numbers go back.
        may_be_no: Whether the command was typed as ``n``, which may also be the answer no to an open question.
    """

    kind: Literal["at", "by", "live", "mistake"]
    number: int = 0
    may_be_no: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    """Carry out a command.

    Attributes:
        argument: The text after the command's word: an answer, a chat line, a name, a file, or "". For ``choose``, it
            is a mark, ``swap``, ``stay`` or ``more``.
    """

    kind: VerbKind
    argument: str = ""


Intent = Place | Query | Look | Verb


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a command.

    Attributes:
        name: The name of the key in the settings.
        keys: The default keys, separated by spaces. If several rows have a key with the same name, only one of them
            lists the default keys. If no row lists any, the key cannot be changed.
        does: The method of the screen or of its input line that the key calls, with arguments. By default, the key
            carries out the command, or on a page calls the method with the name of the key.
        shown: For each label in the key line, the situations and pages with this label, separated by spaces; the key is
            active in all of them. The key line leaves out the label "", and shows the deed's label for ``deed``.
        deeds: The deeds of the key; by default the deeds of the row.
        label: The label in the help, if it differs from the label in the key line and from the row's help.
    """

    name: str
    keys: str = ""
    does: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    deeds: tuple[str, ...] | None = None
    label: str = ""

    def label_in(self, situation: str) -> str | None:
        """Return the label in the key line of a situation or page, or None if the key is not active in it."""
        return next((label for label, where in self.shown.items() if situation in where.split()), None)


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table: a command that can be typed or called by a key.

    Attributes:
        means: What a typed line with one of the words means.
        words: The ids of the command's words; by default its own id, empty if it cannot be typed.
        argument: An example of the argument, for the help.
        is_optional: Whether the argument may be left out; the help shows it in brackets.
        takes: The id of a word for the argument in the help, instead of `argument`.
        ways: The ids of the words that may follow the command's word.
        deeds: The deeds that make the command possible if one of them is possible; empty if it is always possible.
        help: The id of the sentence about what it does, by default ``does`` and its own id.
    """

    id: str
    means: Intent | None = None
    words: tuple[str, ...] | None = None
    argument: str = ""
    is_optional: bool = False
    takes: str = ""
    ways: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()
    key: Key | None = None
    help: str = ""

    @property
    def does(self) -> str:
        """What the command does: a few words, or the first line of its help on the command line."""
        return say(self.help or f"does {self.id}").partition("\n")[0]

    @property
    def word_ids(self) -> tuple[str, ...]:
        """The ids of the command's words; empty if the command can only be called by a key."""
        return self.words if self.words is not None else (self.id,)

    @property
    def typed(self) -> tuple[str, ...]:
        """The lines that can be typed for the command, the shortest first."""
        argument = word_of(self.takes) if self.takes else self.argument
        argument = f"[{argument}]" if self.is_optional else argument
        return tuple(f"{word} {argument}".rstrip() for id in self.word_ids for word in words_of(id))

    @property
    def pressed_for(self) -> tuple[str, ...]:
        """The deeds of the command's key, which does the first possible one; empty if the key is always active."""
        return self.key.deeds if self.key is not None and self.key.deeds is not None else self.deeds


def words_of(id: str) -> tuple[str, ...]:
    """Return the words with this id in the current language, the shortest first."""
    return tuple(say(f"type {id}").partition("; ")[0].split(", "))


def word_of(id: str) -> str:
    """Return the shortest word with this id that has at least two letters, or else the shortest word."""
    words = words_of(id)
    return next((word for word in words if len(word) > 1), words[0])


def _press(name: str, keys: str, does: str, shown: Mapping[str, str], *deeds: str, label: str = "") -> Command:
    """Return the row of a command that can only be called by a key."""
    return Command(name, words=(), deeds=deeds, key=Key(name, keys, does, shown, label=label))


_ANSWERS: Final = ("accept", "decline", "withdraw", "offer")
_REPLIES: Final = _ANSWERS[:2]
_STEPS: Final = {"key step": "reviewing replay watching past", "": "playing choosing over"}
_COMPARES: Final = {"key choose": "reviewing", "": "playing choosing replay watching past over"}
_OFFERED: Final = {"": "talking commanding playing choosing past over"}
_IN_GAME: Final = {"": "playing choosing"}
_AT_END: Final = {"deed": "over", "": "past"}
_BACK: Final = {"": "replay watching past over"}
_LIVE: Final = {
    "key live": "watching",
    "key to the newest": "past reviewing",
    "key to start and end": "replay",
    "": "over",
}
_REVIEWS: Final = {"key values": "replay watching past", "key hide values": "reviewing", "deed review": "over"}
_MISTAKES: Final = {"deed mistakes": "reviewing replay past", "": "watching over"}
_SAVES: Final = {"deed save": "replay over history", "": "past player"}
_HELPS: Final = {"key help": "playing choosing replay waiting attending watching past page", "": "away over"}
_COMMANDING: Final = {"key command": "playing choosing", "": "away replay waiting attending watching past over"}
_LEADS_BACK: Final = {
    "key play on": "asked",
    "key back": "talking commanding reviewing replay page",
    "key cancel": "waiting new",
    "deed leave": "away attending watching playing choosing",
    "key to home": "over",
    "": "past question",
}
_CHATS: Final = {"deed chat": "playing choosing attending watching past over", "": "talking commanding away waiting"}
_CHAT: Final = Key("chat", "tab", "switch_line", _CHATS, deeds=(), label="deed chat")
_CHALLENGE: Final = Key("challenge", "c", "", {"deed": "over", "": "past", "type challenge": "player"})
_ACCEPTS: Final = ("draw accept", "undo accept")
_DECLINES: Final = ("draw decline", "undo decline")
_WITHDRAWS: Final = ("draw withdraw", "undo withdraw")
_LEAVE: Final = Key("back", "escape", "back", _LEADS_BACK)
_COMMAND: Final = Key("command", ": /", "line.begin_command", _COMMANDING, label="key command")
_REMATCH: Final = Key("rematch", "r", "", _AT_END)
_SAVE: Final = Key("save", "s", "", _SAVES)
_ACCEPT: Final = Key("accept", "ctrl+y", "", _OFFERED, (*_ACCEPTS, "rematch accept"))
_DECLINE: Final = Key("decline", "ctrl+n", "", _OFFERED, (*_DECLINES, *_WITHDRAWS))
_LIST: Final = {"": "list"}
_VALUES: Final = {"": "values"}
_TEXT: Final = {"": "text"}

_MOVING: Final = (
    _press("up", "up", "go -1 0", _COMPARES),
    _press("down", "down", "go 1 0", _COMPARES),
    _press("up", "", "move -1", {"key choose": "list"}),
    _press("down", "", "move 1", {"key choose": "list"}),
    _press("up", "", "cursor_up", {"key choose": "values"}),
    _press("down", "", "cursor_down", {"key choose": "values"}),
    _press("up", "", "scroll_up", {"key scroll": "text"}),
    _press("down", "", "scroll_down", {"key scroll": "text"}),
    _press("open", "enter", "", {"key open": "list new", "": "settings"}),
    _press("open", "", "", {"key watch": "watch event", "key replay": "history player", "key choose": "names"}),
    _press("open", "", "select", {"key choose": "values"}),
    _press("left", "", "change -1", {"key change": "home form ladder"}),
    _press("right", "", "change 1", {"key change": "home form ladder"}),
    _press("place", "enter space", "", _IN_GAME),
)

COMMANDS: Final[Mapping[str, tuple[Command, ...]]] = {
    "topic ask": (
        Command("board", Query("board")),
        Command("last", Query("last")),
        Command("free", Query("free")),
        Command("clock", Query("clock")),
        Command("who", Query("who")),
    ),
    "topic read": (Command("read", Query("cell"), argument="b2"),),
    "topic look": (
        Command("around", Query("around"), argument="b2", is_optional=True),
        Command("diagonals", Query("diagonals"), argument="b2", is_optional=True),
    ),
    "topic list": (
        Command("marks", Query("marks"), argument="x", is_optional=True),
        Command("runs", Query("runs")),
        Command("moves", Query("moves"), argument="6", is_optional=True),
    ),
    "topic step": (
        Command("back", Look("by", -1), key=Key("left", "left", "go 0 -1", _STEPS)),
        Command("next", Look("by", 1), key=Key("right", "right", "go 0 1", _STEPS)),
        Command("board at", Query("board"), argument="5"),
        Command("live", Look("live"), key=Key("end", "end", "look_at", _LIVE)),
    ),
    "topic worth": (
        Command(
            *("value", Query("value")),
            argument="5",
            is_optional=True,
            deeds=("review",),
            key=Key("review", "v", "", _REVIEWS, label="deed review"),
        ),
        Command("mistakes", Query("mistakes"), deeds=("mistakes",)),
        Command(
            "next mistake",
            Look("mistake", 1),
            deeds=("mistakes",),
            key=Key("mistake", "m", "", _MISTAKES),
            help="deed mistakes",
        ),
        Command(
            "previous mistake", Look("mistake", -1), deeds=("mistakes",), key=Key("mistake_before", "M", "", _BACK)
        ),
    ),
    "topic opening": tuple(
        Command(f"choose {way}", Verb("choose", way), deeds=(f"choose {way}",), key=Key(way, key, "", {"": "choosing"}))
        for way, key in (("swap", "1"), ("stay", "2"), ("more", "3"))
    ),
    "topic game": (
        Command("draw", Verb("draw"), ways=_ANSWERS, deeds=("draw offer", "draw accept"), help="deed draw offer"),
        Command("undo", Verb("undo"), ways=_ANSWERS, deeds=("undo offer", "undo accept"), help="deed undo offer"),
        Command("resign", Verb("resign"), deeds=("resign",), help="deed resign"),
        Command(
            "claim",
            Verb("claim"),
            ways=("win", "draw"),
            deeds=("claim win",),
            key=Key("claim", "w", "", _IN_GAME),
            help="deed claim win",
        ),
        Command(
            "claim draw",
            Verb("claim"),
            ("claim",),
            takes="way draw",
            deeds=("claim draw",),
            key=Key("claim_draw", "d", "", _IN_GAME),
            help="deed claim draw",
        ),
    ),
    "topic offers": (
        Command("yes", Verb("yes"), deeds=(*_ACCEPTS, "rematch accept"), key=_ACCEPT, help="deed accept"),
        Command("no", Verb("no"), deeds=_DECLINES, key=_DECLINE, help="deed decline"),
        *(
            Command(
                f"{kind} withdraw",
                Verb(kind),
                (kind,),
                takes="way withdraw",
                deeds=(f"{kind} withdraw",),
                help="deed withdraw",
            )
            for kind in ("draw", "undo")
        ),
    ),
    "topic end": (
        Command("rematch", Verb("rematch"), deeds=("rematch",), key=_REMATCH, help="deed rematch ask"),
        Command(
            *("challenge", Verb("challenge")),
            ways=_REPLIES,
            deeds=("challenge",),
            key=_CHALLENGE,
            help="deed challenge",
        ),
        Command("new", Verb("new"), deeds=("new",), key=Key("another", "n", "", _AT_END), help="deed new opponent"),
        Command(
            "save", Verb("save"), takes="argument file", is_optional=True, deeds=("save",), key=_SAVE, help="deed save"
        ),
    ),
    "topic talk": (
        Command("chat", Verb("chat"), takes="argument text", deeds=("chat",), key=_CHAT, help="deed chat"),
        Command("mute", Verb("mute"), takes="argument name", is_optional=True),
        Command("unmute", Verb("unmute"), takes="argument name"),
    ),
    "topic also": (
        Command("help", Query("help"), help="key help", key=Key("help", "? f1", "help", _HELPS, label="key help")),
        Command("leave", Verb("leave"), ("leave", "quit"), key=_LEAVE, help="deed leave"),
        Command("command", words=(), key=_COMMAND, help="key command"),
        Command("redraw", words=(), key=Key("redraw", "ctrl+l", "", {"": "app"}), help="key refresh"),
        Command("end", words=(), key=Key("quit", "ctrl+q", "ask_to_quit", {"key quit": "app"}), help="key quit"),
    ),
}
"""The commands that the help lists in a room, by topic."""

_UNTOLD: Final = (
    Command("choose", Verb("choose")),
    Command("quit", Verb("quit")),
    Command("block", Verb("block")),
    Command("plan", Verb("plan"), ways=("none",)),
    _press("enter", "", "", {"key say it": "talking", "key ok": "commanding"}),
    _press("12 enter", "", "", {"key go to": "replay"}),
    _press("home", "home", "look_at 0", {"key to start and end": "replay", "": "watching past over"}),
    _press("aside_left", "< shift+left", "shift 0 -1", {"": "replay"}),
    _press("aside_right", "> shift+right", "shift 0 1", {"": "replay"}),
    _press("confirm", "enter y", "", {"key yes": "asked", "": "question"}),
    _press("give_up", "r", "", {"": "asked"}),
    _press("copy", "y", "copy", {"type copy": "waiting", "deed copy": "event"}, label="deed copy"),
    _press("hide_code", "Q", "switch_code", {"key hide code": "waiting"}),
    _press("computer", "b", "go_to_computer", {"deed computer": "waiting"}, "computer"),
    _press("event_join", "j", "deed event_join", {"key event join": "event"}, "join"),
    _press("event_pause", "p", "deed event_pause", {"key event pause": "event"}, "away", "ready"),
    _press("event_leave", "l", "deed event_leave", {"deed leave": "event"}, "leave"),
    _press("theme", "t", "", {"key theme": "home"}),
    _press("theme", "", "app.theme", {"": "settings"}),
    _press("settings", "s", "open_page settings", {"key settings": "home"}),
    _press("settings", "", "back", {"": "settings"}),
    _press("help", "", "back", {"": "help"}),
    _press("share", "x", "", {"key share": "history"}),
    _press("refresh", "r", "", {"key refresh": "home history ladder", "": "player"}),
    _press("accept", "", "answer accept", {"": "app"}),
    _press("decline", "", "answer decline", {"": "app"}),
    _press("block", "ctrl+x", "answer block", {"key block": "player", "": "app"}),
    _press("retry", "r", "retry", {"key retry": "away home"}),
    _press("local", "l", "", {"key start a server": "home"}),
    _press("name", "n", "", {"": "home", "key own page": "ladder"}, label="name title"),
    _press("rated", "R", "rated", {"rated": "home"}),
    _press("devices", "N", "open_page devices", {"": "home"}, label="page name devices"),
    _press("home", "", "go 0", _LIST),
    _press("end", "", "go -1", _LIST),
    _press("page_up", "pageup", "page -1", _LIST),
    _press("page_down", "pagedown", "page 1", _LIST),
    _press("home", "", "first", _VALUES),
    _press("end", "", "last", _VALUES),
    _press("page_up", "", "", _VALUES),
    _press("page_down", "", "", _VALUES),
    _press("back", "", "dismiss", {"key back": "values"}),
    _press("home", "", "scroll_home", _TEXT),
    _press("end", "", "scroll_end", _TEXT),
    _press("page_up", "", "", _TEXT),
    _press("page_down", "", "", _TEXT),
    _press("call", "ctrl+g", "", {"": "app"}),
    _press("leave", "ctrl+c", "interrupt", {"": "app"}),
)

RECORD: Final[Mapping[str, tuple[Command, ...]]] = {
    "topic step": (
        Command("record next"),
        Command("record back", help="does back"),
        Command("record number"),
        Command("record live", help="does live"),
        Command("record quit", help="key quit"),
    ),
    "topic ask": (*(COMMANDS["topic ask"][:3]), Command("record who", words=("who",))),
    **{topic: COMMANDS[topic] for topic in ("topic read", "topic look", "topic list", "topic worth")},
}
"""The commands that can be typed in a recorded game."""

HOME: Final = (
    Command("home resume", words=("resume",)),
    Command("home play", words=("play",), help="command play"),
    Command("home bot", words=("bot",), help="command bot"),
    Command("home local", words=("local",), help="command local"),
    Command("home new", words=("new",), help="command new"),
    Command("home join", words=("join",), takes="argument code", help="command join"),
    Command("home watch", words=("watch",), help="command watch"),
    Command("home rooms", words=("rooms",), help="command rooms"),
    Command("home history", words=("history",), help="command history"),
)
"""The most frequent commands at the prompt outside rooms."""

FURTHER_HOME: Final = (
    Command("home challenge", words=("challenge",), takes="argument name", help="command challenge"),
    Command("home event", words=("event",), help="command event"),
    Command("home ladder", words=("ladder",), help="command ladder"),
)
"""Further commands at the prompt outside rooms. All other commands of the command line can be typed there, too."""

SUGGESTED: Final = ("resign", "draw", "undo", "claim", "chat", "clock", "who", "leave", "help")
"""The words that are suggested when a player begins to type a command."""

TABLE: Final = (*_MOVING, *chain.from_iterable(COMMANDS.values()), *_UNTOLD)
"""All commands that can be typed or called by a key in rooms, or called by a key on pages."""

_ROOMS: Final = (
    *("asked", "talking", "commanding", "away", "playing", "choosing", "reviewing", "replay"),
    *("waiting", "attending", "watching", "past", "over"),
)
"""The situations in a room. All other names of situations are pages or parts of pages."""
_FIRST: Final[Mapping[str, tuple[str, ...]]] = {
    "asked": ("confirm",),
    "talking": ("enter",),
    "commanding": ("enter",),
    "away": ("retry",),
    "reviewing": ("left", "right", "up", "down"),
    "over": ("rematch",),
    "home": ("retry", "back", "local"),
    "event": ("event_join", "event_pause", "event_leave"),
    "settings": ("back",),
    "help": (),
}
_LAST: Final[Mapping[str, tuple[str, ...]]] = {
    "reviewing": ("end", "back"),
    "replay": ("save", "home", "end", "12 enter", "help"),
    "event": ("help", "quit"),
    "history": ("save", "share", "refresh", "quit"),
}
"""The first (`_FIRST`) and the last keys in the key line of a situation, if they differ from the default."""

_PRESSED: Final = [(row, row.key) for row in TABLE if row.key is not None]


def list_first(situation: str) -> tuple[str, ...]:
    """Return the names of the first keys in a key line; on most pages, these are ``open`` and ``back``."""
    return _FIRST.get(situation, () if situation in _ROOMS else ("open", "back"))


def order_keys(situation: str, names: Iterable[str]) -> list[str]:
    """Return the keys with these names in the order of the key line.

    This is the order of the table, except for the first and the last keys.
    """
    first, last = list_first(situation), _LAST.get(situation, ("help",) if situation in _ROOMS else ("quit",))
    between = (key.name for _, key in _PRESSED if key.name not in (*first, *last))
    return sorted(names, key=[*first, *between, *last].index)


def list_keys(situation: str) -> dict[str, tuple[Key, str]]:
    """Return the keys that are active in a situation or page, by name, each with its label in the key line."""
    return {key.name: (key, label) for _, key in _PRESSED if (label := key.label_in(situation)) is not None}


def _list_labels(situation: str) -> dict[str, str]:
    """Return the labels of the keys that are active in a situation, by name; empty labels come last."""
    keys = list_keys(situation)
    names = sorted(order_keys(situation, keys), key=lambda name: not keys[name][1])
    return {name: keys[name][1] for name in names}


ACTIONS: Final = {key.name: tuple(key.keys.split()) for _, key in _PRESSED if key.keys}
"""The keys that can be changed in the settings, with their defaults."""

SITUATIONS: Final = {situation: _list_labels(situation) for situation in _ROOMS}
"""The names and labels of the keys that are active in each situation in a room.

If two names have the same key in a situation, the first name counts.
"""

IN_ROOMS: Final = {one[1].name: one for one in _PRESSED if any(one[1].label_in(where) is not None for where in _ROOMS)}
"""The row and the key of every key that is active in rooms, by name."""

DEEDS: Final = {key.name: row.pressed_for for row, key in _PRESSED if row.pressed_for}
"""The deeds of each key, by name. A key does its first possible deed; keys that are not listed are always active."""

_KEY_OF: Final = {deed: name for name in reversed(IN_ROOMS) for deed in DEEDS.get(name, ())}


def key_for(deed: Deed) -> str:
    """Return the name of the key for `deed`; if there is no key, return the id of the deed."""
    return _KEY_OF.get(deed.name) or _KEY_OF.get(deed.id, deed.id)


def list_commands(*, plays: bool, now: Choices | None = None) -> Iterator[tuple[str, Sequence[Command]]]:
    """Yield the commands for players or watchers by topic. With `now`, only possible commands are included."""
    for topic, commands in COMMANDS.items():
        found = [one for one in commands if now is None or not one.deeds or any(map(now.may, one.deeds))]
        if topic == "topic talk" and plays and now is not None and not now.may("chat"):
            continue
        if not plays:
            of_game = topic in ("topic opening", "topic game", "topic offers")
            found = [one for one in found if not of_game and one.id not in ("rematch", "new")]
        if found:
            yield topic, found
