"""The general settings and limits of a server, their defaults, and the command line options that set them."""

from __future__ import annotations

import difflib
import math
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
"""The largest allowed number of something; 0 means no limit."""

LogFormat = Literal["text", "json"]

_PURPOSES: Final[Mapping[str | None, Mapping[str, Any]]] = {
    None: {"chat": "on", "lobby": "names"},
    "school": {"chat": "sentences", "lobby": "marks", "keep_players_days": 180},
}
"""For each value of `--for`, the defaults of other options."""

_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_BASE_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", re.ASCII)
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,9})([smhdw]?)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return the seconds in a duration such as ``30m``; without a unit it is in seconds. May raise `BadParameter`.

    >>> parse_duration("90"), parse_duration("30m"), parse_duration("4w")
    (90.0, 1800.0, 2419200.0)
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise BadParameter(f"{text!r} is not a duration such as 90, 30m, 12h, 7d or 4w.")
    return float(int(found[1]) * _UNITS[found[2]])


def _parse_limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if name not in COUNTS:
        near = difflib.get_close_matches(name, COUNTS, 1)
        hint = f"Did you mean {near[0]}?" if near else f"The limits are {', '.join(COUNTS)}."
        raise BadParameter(f"Unknown limit {name!r}. {hint}")
    if not re.fullmatch("[0-9]{1,9}", number):
        raise BadParameter(f"{text!r} needs a number from 0 to 999999999 after the name, such as {name}=100.")
    return name, int(number)


def _parse_network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise BadParameter(f"{text!r} is not an address or a network such as 10.0.0.0/8.") from None


def _parse_header(text: str) -> str | None:
    if text and not _HEADER.fullmatch(text):
        raise BadParameter(f"{text!r} is not the name of a header such as Remote-User.")
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
        raise BadParameter(f"{text!r} is not an origin such as https://play.example.")
    return origin


def _parse_base_path(text: str) -> str:
    """Return a path without its trailing slash.

    Raise `BadParameter` if its last part is a room code, because links to rooms end with a code.
    """
    path = "/" + text.strip("/") if text.strip("/") else ""
    with suppress(BadRoomCode):
        code = parse_room_code(path.rpartition("/")[2])
        raise BadParameter(f"{text!r} looks like a link to room {code}. Choose another path.")
    if not _BASE_PATH.fullmatch(path):
        raise BadParameter(f"{text!r} is not a path such as /games.")
    return path


def option(
    help: str, type: Any = None, metavar: str | None = None, *, default: Any = None, name: str = "", **how: Any
) -> Any:
    """Return a dataclass field that a command line option sets.

    Args:
        type: The type of the option's value, as for `click.Option`.
        name: The name of the option; by default the name of the field.
        how: More arguments for `click.Option`.
    """
    return field(default=default, metadata={"help": help, "type": type, "metavar": metavar, "name": name, **how})


class FiniteRange(FloatRange):
    """A range of numbers that refuses NaN and infinity, which `FloatRange` may accept."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        number: float = super().convert(value, param, context)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a number.", param, context)


def seconds_option(default: float, help: str, least: float, most: float | None, name: str) -> Any:
    return option(help, FiniteRange(least, most), "SECONDS", default=default, name=name)


def file_option(help: str) -> Any:
    return option(help, click.Path(path_type=Path), "FILE")


def list_option(help: str, parse: Callable[[str], Any], metavar: str, name: str) -> Any:
    """Return a field for an option that may be given several times; `parse` parses each value."""
    return option(f"{help} May be repeated.", parse, metavar, default=(), name=name, multiple=True)


@dataclass(frozen=True, slots=True)
class Options:
    """Settings that belong to a feature.

    Attributes:
        section: The heading above the feature's options in the help.
    """

    section: ClassVar[str]

    @property
    def shared_store(self) -> str:
        """The store that servers share instead of using their data folders, as text for the operator, or ""."""
        return ""

    def check(self, settings: Settings) -> None:
        """Raise `UsageError` if these options contradict `settings`."""


OptionsKind = TypeVar("OptionsKind", bound=Options)


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a server.

    The help text of an option describes its field. None means the default that the help states.
    """

    host: str | None = option(
        "Listen on this address, such as 127.0.0.1. [default: all IPv4 and IPv6 addresses]", metavar="ADDRESS"
    )
    port: int = option("Listen on this port; 0 chooses a free one.", IntRange(0, 65535), "NUMBER", default=DEFAULT_PORT)
    tls_cert: Path | None = file_option(
        "Use TLS with this certificate chain (PEM), and reload the file if it changes. Requires --tls-key."
    )
    tls_key: Path | None = file_option("Private key of --tls-cert (PEM, without a passphrase).")
    log_format: LogFormat = option("Format of the log on standard error.", Choice(get_args(LogFormat)), default="text")
    log_level: str = option(
        "Log messages of this level and above.",
        Choice(("debug", "info", "warning", "error"), case_sensitive=False),
        default="info",
    )
    hold_seconds: float = seconds_option(
        60.0,
        "Time for a disconnected player to return. Afterwards, the opponent may claim a win or a draw.",
        0,
        86_400,
        "hold",
    )
    data: Path | None = None  # the data folder; None to store nothing on disk
    origins: tuple[str, ...] = list_option(
        "Address that players use, such as https://play.example. Its pages may connect.",
        _parse_origin,
        "ORIGIN",
        "origin",
    )
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = list_option(
        "Believe X-Forwarded-For, X-Forwarded-Proto and PROXY protocol 1 from this network, such as 127.0.0.1.",
        _parse_network,
        "CIDR",
        "trusted-proxy",
    )
    base_path: str = option(
        "Path under which a proxy publishes this server, such as /games. Links begin with it.",
        _parse_base_path,
        "PATH",
        default="",
    )
    trust_header: str | None = option(
        "Header in which a --trusted-proxy passes the name of a signed-on player, such as Remote-User. Nobody else can "
        "claim the name.",
        _parse_header,
        "HEADER",
    )
    announce_as: str | None = option(
        "Announce the server under this name on the local network (mDNS). [default: the machine's name]", metavar="NAME"
    )
    announces: bool = option(
        "Do not announce the server on the local network (mDNS).", default=True, name="no-announce", is_flag=True
    )
    keep_history_days: float | None = option(
        "Delete finished games after this many days. [default: keep them forever]",
        FiniteRange(0, 36_500),
        "DAYS",
        name="keep-history",
    )
    page: bool = option(
        "Serve the web page on the same port, and text for clients such as curl. Link previews have pictures with "
        "the extra 'tictactoe-rooms[previews]'.",
        default=True,
        name="page/--no-page",
    )
    title: str | None = option("Name of the server on the page and in terminals.", metavar="TEXT")
    greeting: Path | None = file_option("Show this text above the home page (UTF-8, at most 2,000 characters).")
    imprint: str | None = option(
        "Link every page to this statement of who runs the server (http, https or mailto).", metavar="URL"
    )
    accent: str | None = option(
        "Colour of links and buttons on the page, such as #1f5f8b. It must be readable.", metavar="COLOUR"
    )
    logo: Path | None = file_option("Show this image beside the title (PNG, SVG or WebP, at most 100 KB).")
    for_: Literal["school"] | None = option(
        "Use the defaults for this purpose. school: --chat sentences, --lobby marks and --keep-players 180.",
        Choice(("school",)),
        name="for",
    )
    chat: Literal["off", "sentences", "on"] | None = option(
        "Chat of players: disabled, ready-made sentences only, or free text. [default: on]",
        Choice(("off", "sentences", "on")),
    )
    lobby: Literal["names", "marks"] | None = option(
        "names: players choose their names, which lists show. marks: the server or a tournament's organiser assigns "
        "names, and lists show only marks. [default: names]",
        Choice(("names", "marks")),
    )
    keep_players_days: int | None = option(
        "Forget players who have been away for this many days. [default: never]",
        IntRange(1, 36_500),
        "DAYS",
        name="keep-players",
    )

    features: tuple[Options, ...] = ()  # the options of features; a missing feature has its defaults

    def __post_init__(self) -> None:
        for name, usual in _PURPOSES[self.for_].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)

    def of(self, kind: type[OptionsKind]) -> OptionsKind:
        return next((options for options in self.features if isinstance(options, kind)), kind())

    @property
    def hides_names(self) -> bool:
        """Whether the server assigns players' names, and lists show marks instead of names."""
        return self.lobby == "marks"


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts and limits of a server.

    Operators set a `Count` with ``--limit``, by the field's name with hyphens. THING-per-WINDOW-per-KEY is a rate,
    whose bursts are limited by THING-at-once-per-KEY. A name without a window limits the number at the same time.
    `transport.rate_limit` finds limits by these names. docs/reference/protocol/limits.md describes what clients notice.
    """

    hello_seconds: float = 5.0  # for a client to say hello; the connection is aborted at most a fifth later
    ping_seconds: float = 4.8  # between pings; a connection is aborted after three intervals of silence
    close_seconds: float = 2.0  # for a peer to complete the closing handshake
    outbox_bytes: int = 256 * 1024
    """Output that the transport buffers for a slow peer.

    Beyond it, the newest state of each room and at most this many bytes of other messages are queued.
    """
    catch_up_seconds: float = 5.0  # for a slow peer to read that output before its connection is aborted
    deserted_seconds: float = seconds_option(
        600.0,
        "Close a room this long after its last player has disconnected, if no game is in progress.",
        1,
        None,
        "keep-room",
    )
    deserted_game_seconds: float = seconds_option(
        3600.0,
        "Close a room with a game in progress this long after its last player has disconnected.",
        1,
        None,
        "keep-game",
    )
    unwatched_seconds: float = 60.0  # before a game between bots without watchers is closed
    start_seconds: float = 30.0  # for the first move in a timed game, unless the time per move is longer
    flood_seconds: float = 10.0  # before a connection that keeps exceeding its rate limit is closed
    certificate_seconds: float = 60.0  # between checks for a renewed certificate
    # Messages: excess messages wait (core.session, core.pressure).
    messages_per_second: Count = 100  # from a player, or from a connection before its hello
    messages_at_once: Count = 300
    messages_per_second_per_address: Count = 1_000
    messages_at_once_per_address: Count = 3_000
    messages_for_a_bad_one: Count = 10  # how many messages from its address an invalid message counts as
    bad_messages_per_ten_seconds: Count = 300  # invalid messages before the connection is closed
    # Connections and plain HTTP: excess connections and requests are rejected (transport.admission).
    connections: Count = 20_000  # also limited by the system's file descriptors
    connections_per_address: Count = 1_000
    connections_per_minute_per_address: Count = 3_000  # new connections, except for plain HTTP
    connections_at_once_per_address: Count = 1_000
    # Rooms, seats and other requests: excess requests are refused (`people`, `core`, `play`).
    rooms: Count = 20_000
    rooms_per_player: Count = 20  # opened by the player
    rooms_per_address: Count = 400  # opened from the address
    bot_games_per_player: Count = 5  # running games with bots
    creates_per_minute_per_player: Count = 20  # new rooms
    creates_per_minute_per_address: Count = 200  # new rooms
    misses_per_minute_per_player: Count = 10  # requests for missing or inaccessible rooms
    misses_per_minute_per_address: Count = 100  # the same, from one address
    misses_at_once_per_address: Count = 300
    requests_per_minute_per_address: Count = 20_000  # in plain HTTP
    answer_megabytes_per_minute_per_address: Count = 100  # responses for the routes of services
    new_players_per_minute_per_address: Count = 120
    new_players_at_once_per_address: Count = 400
    seats_per_player: Count = 20  # in unfinished games with other people
    day_games_per_player: Count = 100  # unfinished games over days
    seats_per_address: Count = 1_000  # the same, from one address
    unbegun_seats_per_address: Count = 40  # seats in the public rooms of others, until all players have moved
    kept_megabytes_per_hour_per_player: Count = 10  # finished games that are stored
    kept_megabytes_per_hour_per_address: Count = 100  # the same, from one address
    watchers_per_room: Count = 500  # connections and streams
    streams_per_address: Count = 100  # streams from rooms and tournaments
    offers_per_ten_seconds_per_player: Count = 5  # draw offers, takeback requests and new games after an abort
    turn_milliseconds: Count = 80  # processor time for requests in one turn of the event loop; the rest are `busy`


COUNTS: Final = {field.name.replace("_", "-"): field.name for field in fields(Limits) if field.type == "Count"}
"""The names of the fields of `Limits`, by the names that operators use."""


def count_of(limits: Limits, name: str) -> int:
    return int(getattr(limits, COUNTS[name]))


def with_counts(limits: Limits, counts: Mapping[str, int]) -> Limits:
    return replace(limits, **{COUNTS[name]: count for name, count in counts.items()})


def options_of(kind: type) -> dict[str, Option]:
    """Return the options of a dataclass by field name. An option named "no-..." sets its field to False."""
    found = {}
    for setting in (each for each in fields(kind) if each.metadata):
        how = dict(setting.metadata)
        name = how.pop("name") or setting.name.replace("_", "-")
        if name.startswith("no-"):
            how["callback"] = lambda context, option, is_given: not is_given
        elif setting.default:
            how["default"] = how.pop("typed", setting.default)
        found[setting.name] = Option([f"--{name}"], show_default=True, **how)
    return found


LIMIT: Final = Option(
    ["--limit"],
    type=_parse_limit,
    metavar="NAME=NUMBER",
    multiple=True,
    help="Set a limit, such as rooms=500; 0 removes it. `tictactoe-server limits` lists all limits. May be repeated.",
)
"""The option that sets any limit in `COUNTS`."""

SECTIONS: Final[Mapping[str, str]] = {
    "Network": "host port tls-cert tls-key announce-as no-announce",
    "Behind a proxy": "origin trusted-proxy base-path trust-header",
    "Data": "data keep-history keep-players keep-room keep-game",
    "Players and games": "for chat lobby hold",
    "Page": "page title greeting imprint accent logo",
    "Log and limits": "log-format log-level limit",
}
"""The sections of the help, and the names of the general options in each section."""
