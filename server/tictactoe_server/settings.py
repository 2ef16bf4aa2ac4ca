"""The settings and limits of every server with their defaults, and the command line options that fill them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeVar, get_args
from urllib.parse import SplitResult, urlsplit

import click
from click import BadParameter, Choice, FloatRange, IntRange, Option

from tictactoe_protocol import BadRoomCode, parse_room_code
from tictactoe_protocol.codes import DEFAULT_PORT

Count = int
"""A limit on a number; 0 means no limit."""

LogFormat = Literal["text", "json"]

_PURPOSES: Final[Mapping[str | None, Mapping[str, Any]]] = {
    None: {"chat": "on", "lobby": "names"},
    "school": {"chat": "sentences", "lobby": "marks", "keep_players_days": 180},
}
"""Defaults that `--for` sets for other options."""

_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_BASE_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", re.ASCII)
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,9})([smhdw]?)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return a duration with an optional unit in seconds; raises `BadParameter`.

    >>> parse_duration("90"), parse_duration("30m"), parse_duration("4w")
    (90.0, 1800.0, 2419200.0)
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise BadParameter(f"{text!r} is no length of time: write 90, 30m, 12h, 7d or 4w.")
    return float(int(found[1]) * _UNITS[found[2]])


def _parse_limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if name not in COUNTS:
        near = difflib.get_close_matches(name, COUNTS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COUNTS)}."
        raise BadParameter(f"There is no limit {name!r}: {hint}")
    if not re.fullmatch("[0-9]{1,9}", number):
        raise BadParameter(f"{text!r} names no number from 0, as in {name}=100.")
    return name, int(number)


def _parse_network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise BadParameter(f"{text!r} is no address and no network, such as 10.0.0.0/8.") from None


def _parse_header(text: str) -> str | None:
    if text and not _HEADER.fullmatch(text):
        raise BadParameter(f"{text!r} is no name of a header, such as Remote-User.")
    return text or None


def split_url(text: str) -> SplitResult | None:
    """Return the parts of a URL, or None if it has no host or an invalid port."""
    try:
        parts = urlsplit(text)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _parse_origin(text: str) -> str:
    origin = text.rstrip("/")
    parts = split_url(origin)
    if parts is None or parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
        raise BadParameter(f"{text!r} is no origin, such as https://play.example.")
    return origin


def _parse_base_path(text: str) -> str:
    """Return a path without its trailing slash; its last part cannot be a room code, as links have one there."""
    path = "/" + text.strip("/") if text.strip("/") else ""
    with suppress(BadRoomCode):
        code = parse_room_code(path.rpartition("/")[2])
        raise BadParameter(f"{text!r} ends like a link to the room {code}: choose another path.")
    if not _BASE_PATH.fullmatch(path):
        raise BadParameter(f"{text!r} is no path, such as /games.")
    return path


def option(
    help: str, type: Any = None, metavar: str | None = None, *, default: Any = None, name: str = "", **how: Any
) -> Any:
    """Return a field that a command line option fills; the option is named after the field unless `name` is given."""
    return field(default=default, metadata={"help": help, "type": type, "metavar": metavar, "name": name, **how})


def seconds_option(default: float, help: str, least: float, most: float | None, name: str) -> Any:
    """Return a field with a duration in seconds."""
    return option(help, FloatRange(least, most), "SECONDS", default=default, name=name)


def file_option(help: str) -> Any:
    """Return a field with the path of a file."""
    return option(help, click.Path(path_type=Path), "FILE")


def list_option(help: str, parse: Callable[[str], Any], metavar: str, name: str) -> Any:
    """Return a field for an option that may be repeated."""
    return option(f"{help}; may be given more than once.", parse, metavar, default=(), name=name, multiple=True)


@dataclass(frozen=True, slots=True)
class Options:
    """Settings that only one feature reads.

    Attributes:
        section: The heading of these options in the help.
    """

    section: ClassVar[str]

    def check(self, settings: Settings) -> None:
        """Raise `UsageError` if these options contradict the other ones."""


OptionsKind = TypeVar("OptionsKind", bound=Options)


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a server; the help of each option describes its field, None is the documented default."""

    host: str | None = option("Address to listen on. [default: all, IPv4 and IPv6, as ::]", metavar="ADDRESS")
    port: int = option("Port to listen on; 0 picks a free one.", IntRange(0, 65535), default=DEFAULT_PORT)
    tls_cert: Path | None = file_option(
        "Speak TLS (wss://) with this certificate, in PEM, its chain included; a renewed file is taken up by itself."
    )
    tls_key: Path | None = file_option("The key of --tls-cert, in PEM and without a pass phrase.")
    log_format: LogFormat = option("How log lines on stderr look.", Choice(get_args(LogFormat)), default="text")
    log_level: str = option(
        "The least important lines to log.",
        Choice(("debug", "info", "warning", "error"), case_sensitive=False),
        default="info",
    )
    hold_seconds: float = seconds_option(
        60.0, "How long a dropped player's seat is kept before the opponent may claim the game.", 0, 86_400, "hold"
    )
    data: Path | None = None  # the folder of rooms and games; None stores nothing
    origins: tuple[str, ...] = list_option(
        "Web pages of this origin may connect, too, as in https://play.example", _parse_origin, "ORIGIN", "origin"
    )
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = list_option(
        "Trust proxies in this network to name their clients and the scheme", _parse_network, "CIDR", "trusted-proxy"
    )
    base_path: str = option(
        "The path under which a proxy shows this server, as in /games; links then have it.",
        _parse_base_path,
        "PATH",
        default="",
    )
    trust_header: str | None = option(
        "The header in which a --trusted-proxy names whom it has signed on, as in Remote-User: that is their name, "
        "and nobody else may claim it.",
        _parse_header,
        "HEADER",
    )
    announce_as: str | None = option(
        "The name under which players on this network find the server. [default: this machine's name]", metavar="NAME"
    )
    announces: bool = option(
        "Do not announce the server on the local network.", default=True, name="no-announce", is_flag=True
    )
    keep_history_days: float | None = option(
        "How long finished games are kept. [default: for good]", FloatRange(0), "DAYS", name="keep-history"
    )
    page: bool = option(
        "Whether browsers are shown the page on the same port, and others rooms and games as text. With the extra"
        " `previews` (pip install 'tictactoe-rooms[previews]'), links have a picture.",
        default=True,
        name="page/--no-page",
    )
    title: str | None = option("What this server is called, on the page and in terminals.", metavar="TEXT")
    greeting: Path | None = file_option("A text that the first page begins with, in UTF-8, 2,000 characters at most.")
    imprint: str | None = option(
        "Where it says who runs this server, linked on every page: http, https or mailto.", metavar="URL"
    )
    accent: str | None = option(
        "The page's colour for links and buttons, which has to be readable, as in #1f5f8b.", metavar="COLOUR"
    )
    logo: Path | None = file_option("An image beside the title: PNG, SVG or WebP, 100 KB at most.")
    for_: Literal["school"] | None = option(
        "Defaults for a purpose: school means --chat sentences, --lobby marks and --keep-players 180.",
        Choice(("school",)),
        name="for",
    )
    chat: Literal["off", "sentences", "on"] | None = option(
        "What people may say: nothing, ready-made messages, or anything. [default: on]",
        Choice(("off", "sentences", "on")),
    )
    lobby: Literal["names", "marks"] | None = option(
        "Whether people choose their names and lists show them; with marks the server or the organiser of an event "
        "gives the names. [default: names]",
        Choice(("names", "marks")),
    )
    keep_players_days: int | None = option(
        "Delete players who have been away for this many days.", IntRange(1, 36_500), "DAYS", name="keep-players"
    )

    features: tuple[Options, ...] = ()  # of features, where they differ from the defaults

    def __post_init__(self) -> None:
        for name, usual in _PURPOSES[self.for_].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)

    def of(self, kind: type[OptionsKind]) -> OptionsKind:
        """Return the options of a feature."""
        return next((options for options in self.features if isinstance(options, kind)), kind())

    @property
    def hides_names(self) -> bool:
        """Whether the server names its players, and outsiders see marks instead of names."""
        return self.lobby == "marks"


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts and limits of a server.

    Operators may set each `Count` by its name: THING-per-WINDOW-per-KEY is a rate, with bursts of up to
    THING-at-once-per-KEY; without a window, it limits the number at a time. `transport.rate_limit` looks limits up by
    these names. docs/protocol/limits.md describes what clients see.
    """

    hello_seconds: float = 5.0  # for a connection to say hello; it is dropped another fifth later at the latest
    ping_seconds: float = 4.8  # between pings; a peer is dropped after three intervals of silence
    close_seconds: float = 2.0  # for a peer to complete the closing handshake
    outbox_bytes: int = 256 * 1024
    """Output buffered for a slow peer; beyond it, only the newest state of each room and as much again of the rest."""
    catch_up_seconds: float = 5.0  # for a slow peer to read enough before it is cut off
    deserted_seconds: float = seconds_option(
        600.0,
        "How long a room that no player is connected to is kept while it waits or its game is over.",
        1,
        None,
        "keep-room",
    )
    deserted_game_seconds: float = seconds_option(
        3600.0, "How long a running game is kept that all have left without a word.", 1, None, "keep-game"
    )
    unwatched_seconds: float = 60.0  # before a game of bots without watchers is closed
    start_seconds: float = 30.0  # for the first move of a timed game, unless the time for a move is longer
    flood_seconds: float = 10.0  # before a connection that keeps exceeding its rate is closed
    certificate_seconds: float = 60.0  # between checks for a renewed certificate
    # Messages: the excess waits (sessions.session, sessions.pressure).
    messages_per_second: Count = 100  # of a player, or of a connection before its hello
    messages_at_once: Count = 300
    messages_per_second_per_address: Count = 1_000
    messages_at_once_per_address: Count = 3_000
    messages_for_a_bad_one: Count = 10  # that an invalid message counts as, for its address
    bad_messages_per_ten_seconds: Count = 300  # invalid messages before the connection is closed
    # Connections and plain HTTP: the excess is rejected (transport.admission).
    connections: Count = 20_000  # also limited by the system's file descriptors
    connections_per_address: Count = 1_000
    connections_per_minute_per_address: Count = 3_000  # new connections, without plain HTTP
    connections_at_once_per_address: Count = 1_000
    # Rooms, seats and other requests: the excess is refused (`people`, `core`, `play`).
    rooms: Count = 20_000
    rooms_per_player: Count = 20  # opened by the player
    rooms_per_address: Count = 400  # opened from the address
    bot_games_per_player: Count = 5  # running games with bots
    creates_per_minute_per_player: Count = 20  # new rooms
    creates_per_minute_per_address: Count = 200  # new rooms
    misses_per_minute_per_player: Count = 10  # requests for missing or inaccessible rooms
    misses_per_minute_per_address: Count = 100  # the same
    misses_at_once_per_address: Count = 300
    requests_per_minute_per_address: Count = 20_000  # of plain HTTP
    answer_megabytes_per_minute_per_address: Count = 100  # under /api/, /e/ and /replay/
    new_players_per_minute_per_address: Count = 120
    new_players_at_once_per_address: Count = 400
    seats_per_player: Count = 20  # in unfinished games with other people
    seats_per_address: Count = 1_000  # the same
    unbegun_seats_per_address: Count = 40  # of these in other people's public rooms, until the players have moved
    kept_megabytes_per_hour_per_player: Count = 10  # of stored finished games
    kept_megabytes_per_hour_per_address: Count = 100  # the same
    watchers_per_room: Count = 500  # connections and streams
    streams_per_address: Count = 100  # of rooms and events
    offers_per_ten_seconds_per_player: Count = 5  # draw offers, takeback requests and new games after an abort
    turn_milliseconds: Count = 80  # processor time for requests in one turn of the event loop; further ones are `busy`


COUNTS: Final = {field.name.replace("_", "-"): field.name for field in fields(Limits) if field.type == "Count"}
"""Fields of `Limits` by the names of their limits."""


def count_of(limits: Limits, name: str) -> int:
    """Return the value of a limit in `COUNTS`."""
    return int(getattr(limits, COUNTS[name]))


def with_counts(limits: Limits, counts: Mapping[str, int]) -> Limits:
    """Return the limits with some of `COUNTS` replaced."""
    return replace(limits, **{COUNTS[name]: count for name, count in counts.items()})


def options_of(kind: type) -> dict[str, Option]:
    """Return the command line options by the fields of a class that they fill; a "no-" option clears its field."""
    found = {}
    for one in fields(kind):
        if not one.metadata:
            continue
        how = dict(one.metadata)
        name = how.pop("name") or one.name.replace("_", "-")
        if name.startswith("no-"):
            how["callback"] = lambda context, option, is_given: not is_given
        elif one.default:
            how["default"] = how.pop("typed", one.default)
        found[one.name] = Option([f"--{name}"], show_default=True, **how)
    return found


LIMIT: Final = Option(
    ["--limit"],
    type=_parse_limit,
    metavar="NAME=NUMBER",
    multiple=True,
    help="How many of something there may be, 0 for no limit; may be given more than once.",
)
"""The option that sets any of `COUNTS`."""

SECTIONS: Final[Mapping[str, str]] = {
    "Network": "host port tls-cert tls-key announce-as no-announce",
    "Behind a proxy": "origin trusted-proxy base-path trust-header",
    "Data": "data keep-history keep-players keep-room keep-game",
    "Players and games": "for chat lobby hold",
    "Page": "page title greeting imprint accent logo",
    "Log and limits": "log-format log-level limit",
}
"""The options of every server by the sections of the help."""
