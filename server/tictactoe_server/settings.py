"""Everything an operator can choose, and the limits that a server keeps to, each in one value with its defaults."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final, Literal, get_args
from urllib.parse import SplitResult, urlsplit

import click
from click import BadParameter, Choice, FloatRange, IntRange, Option

from tictactoe_engine import PRESETS
from tictactoe_protocol.codes import DEFAULT_PORT

Count = int
"""A number that something is counted against; 0 is no limit."""

LogFormat = Literal["text", "json"]
ChatKind = Literal["off", "sentences", "on"]
"""What people may say: nothing, the sentences that there are, or what they like."""

_PURPOSES: Final[Mapping[str | None, Mapping[str, Any]]] = {
    None: {"chat": "on", "lobby": "names"},
    "school": {"chat": "sentences", "lobby": "marks", "keep_players_days": 180},
}
"""What `--for` says where an option of its own says nothing."""

LADDERS: Final = ("gomoku-standard", "four-pie", "connect-four", "four")
"""The rules by which people may play rated games where nothing else is said."""

_LOG_LEVELS: Final = ("debug", "info", "warning", "error")

_MAX_DIGITS: Final = 9
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,9})([smhdw]?)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return the seconds of a length of time, which may have a unit; raises `BadParameter`.

    >>> parse_duration("90"), parse_duration("30m"), parse_duration("4w")
    (90.0, 1800.0, 2419200.0)
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise BadParameter(f"{text!r} is no length of time: write 90, 30m, 12h, 7d or 4w.")
    return float(int(found[1]) * _UNITS[found[2]])


def _parse_period(text: str) -> float:
    seconds = parse_duration(text)
    if not 60 <= seconds <= 366 * 86_400:
        raise BadParameter(f"{text!r} is no period from a minute to a year, as in 6h or 1d.")
    return seconds


def _parse_limit(text: str) -> tuple[str, int]:
    """Return the name and the number of ``NAME=NUMBER``."""
    name, _, number = text.partition("=")
    if name not in COUNTS:
        near = difflib.get_close_matches(name, COUNTS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COUNTS)}."
        raise BadParameter(f"There is no limit {name!r}: {hint}")
    if not number.isascii() or not number.isdigit() or len(number) > _MAX_DIGITS:
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


def _parse_ladders(text: str) -> tuple[str, ...]:
    names = () if text == "off" else tuple(text.split(","))
    for name in names:
        if name not in PRESETS:
            raise BadParameter(f"There are no rules {name!r}: there are {', '.join(PRESETS)}.")
        if len(PRESETS[name].marks) != 2:
            raise BadParameter(f"{name} has {len(PRESETS[name].marks)} players, and only games of two are rated.")
    return names


def _split_url(text: str) -> SplitResult | None:
    """Return the parts of a URL with a host, and with a port that can be one; None for anything else."""
    try:
        parts = urlsplit(text)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _parse_origin(text: str) -> str:
    """Return what a browser calls the place that a page is from, as in https://play.example."""
    origin = text.rstrip("/")
    parts = _split_url(origin)
    if parts is None or parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
        raise BadParameter(f"{text!r} is no origin, such as https://play.example.")
    return origin


def _parse_address(text: str) -> tuple[str, int]:
    """Return the parts of HOST:PORT; a host that is an IPv6 address stands in brackets."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise BadParameter(f"{text!r} is no HOST:PORT, as in 127.0.0.1:9100.")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _parse_url(text: str) -> str | None:
    """Return a URL with the scheme of a WebSocket and without a slash at its end; None for an empty one."""
    if not text:
        return None
    scheme, _, rest = text.partition("://")
    kind = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}.get(scheme.lower())
    parts = _split_url(text)
    if kind is None or parts is None or parts.query or parts.fragment or parts.username:
        raise BadParameter(f'"{text}" is no URL as in ws://10.0.0.11:8765 or wss://play.example/s1.')
    return f"{kind}://{rest.rstrip('/')}"


def _option(
    default: Any, help: str, type: Any = None, metavar: str | None = None, *, name: str = "", **how: Any
) -> Any:
    """Return a field that an option fills; this has the field's name unless it has one of its own."""
    return field(default=default, metadata={"help": help, "type": type, "metavar": metavar, "name": name, **how})


def _seconds(default: float, help: str, least: float, most: float | None, name: str) -> Any:
    return _option(default, help, FloatRange(least, most), "SECONDS", name=name)


def _file(help: str) -> Any:
    return _option(None, help, click.Path(path_type=Path), "FILE")


def _list(help: str, parse: Callable[[str], Any], metavar: str, name: str) -> Any:
    return _option((), f"{help}; may be given more than once.", parse, metavar, name=name, multiple=True)


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server runs: the options say what each field is; None is what they call the default, or without it.

    `data` is the folder that keeps rooms and games, None to keep nothing.
    """

    host: str | None = _option(None, "Address to listen on. [default: all, IPv4 and IPv6]", metavar="ADDRESS")
    port: int = _option(DEFAULT_PORT, "Port to listen on; 0 picks a free one.", IntRange(0, 65535))
    tls_cert: Path | None = _file(
        "Speak TLS (wss://) with this certificate, in PEM, its chain included; a renewed file is taken up by itself."
    )
    tls_key: Path | None = _file("The key of --tls-cert, in PEM and without a pass phrase.")
    log_format: LogFormat = _option("text", "How log lines on stderr look.", Choice(get_args(LogFormat)))
    log_level: str = _option("info", "The least important lines to log.", Choice(_LOG_LEVELS, case_sensitive=False))
    hold_seconds: float = _seconds(
        60.0, "How long a dropped player's seat is kept before the opponent may claim the game.", 0, 86_400, "hold"
    )
    bot_pause_seconds: float = _seconds(
        0.6, "How long bots wait before they move, as a person would; 0 for machines.", 0, 60, "bot-pause"
    )
    bot_deadline_seconds: float = _seconds(1.0, "How long a bot may think about a move.", 0.05, 60, "bot-deadline")
    bot_workers: int | None = _option(
        None,
        "Processes in which bots think. [default: one less than the cores, at least 1]",
        IntRange(1, 256),
        "NUMBER",
    )
    data: Path | None = None
    origins: tuple[str, ...] = _list(
        "Web pages of this origin may connect, too, as in https://play.example", _parse_origin, "ORIGIN", "origin"
    )
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = _list(
        "Believe peers of this network for whom they speak", _parse_network, "CIDR", "trusted-proxy"
    )
    trust_header: str | None = _option(
        None,
        "The header in which a --trusted-proxy names whom it has signed on, as in Remote-User: that is their name, "
        "and nobody else may claim it.",
        _parse_header,
        "HEADER",
    )
    announce_as: str | None = _option(
        None,
        "The name under which players on this network find the server. [default: this machine's name]",
        metavar="NAME",
    )
    announces: bool = _option(True, "Let nobody find the server without its address.", name="no-announce", is_flag=True)
    keep_history_days: float | None = _option(
        None, "How long finished games are kept. [default: for good]", FloatRange(0), "DAYS", name="keep-history"
    )
    backup_to: Path | None = _option(
        None,
        "Copy the data into this folder, once in a while, and read each copy back.",
        click.Path(path_type=Path),
        "DIR",
    )
    backup_every_seconds: float = _option(
        86_400.0, "How often, as in 6h or 1d.", _parse_period, "TIME", name="backup-every", typed="1d"
    )
    backup_keep: int = _option(14, "How many copies are kept, the newest.", IntRange(1, 10_000), "NUMBER")
    metrics: tuple[str, int] | None = _option(
        None, "Show figures for Prometheus on this address.", _parse_address, "HOST:PORT"
    )
    store: str | None = _option(
        None,
        "Keep everything in these NATS servers, for several servers at once, as in nats://a,b,c; --data then keeps a "
        "copy of the finished games alone.",
        metavar="URLS",
    )
    store_credentials: Path | None = _file(
        "Who this server is to --store: a user's credentials, or the seed of an nkey."
    )
    store_ca: Path | None = _file("Certificates to trust for --store instead of the system's, in PEM.")
    store_unsafe: bool = _option(
        False, "Use --store even where it may lose moves that it has acknowledged, and say so.", is_flag=True
    )
    advertise: str | None = _option(
        None,
        "With --store: where players reach this very server, as in ws://10.0.0.11:8765 or wss://play.example/s1. "
        "Needed unless --host is one address.",
        _parse_url,
        "URL",
    )
    page: bool = _option(
        True,
        "Whether browsers are shown the page on the same port, and others rooms and games as text. Where the extra"
        " `previews` is installed (pip install 'tictactoe-rooms[previews]'), links have a picture.",
        name="page/--no-page",
    )
    title: str | None = _option(None, "What this server is called, on the page and in terminals.", metavar="TEXT")
    greeting: Path | None = _file("A text that the first page begins with, in UTF-8, 2,000 characters at most.")
    imprint: str | None = _option(
        None, "Where it says who runs this server, linked on every page: http, https or mailto.", metavar="URL"
    )
    accent: str | None = _option(
        None, "The page's colour for links and buttons, which has to be readable, as in #1f5f8b.", metavar="COLOUR"
    )
    logo: Path | None = _file("An image beside the title: PNG, SVG or WebP, 100 KB at most.")
    demo: bool = _option(
        True,
        "Whether computers play a game for who looks at the first page while nobody plays, with what is left of the "
        "processor.",
        name="demo/--no-demo",
    )
    for_: Literal["school"] | None = _option(
        None,
        "What the server is for: a school has --chat sentences, --lobby marks and --keep-players 180, unless these say "
        "otherwise.",
        Choice(("school",)),
        name="for",
    )
    chat: ChatKind | None = _option(
        None, "What people may say: nothing, eight sentences, or anything. [default: on]", Choice(get_args(ChatKind))
    )
    lobby: Literal["names", "marks"] | None = _option(
        None,
        "Whether people have names of their own and lists show them; with marks the server names them, or who runs an "
        "event. [default: names]",
        Choice(("names", "marks")),
    )
    ladders: tuple[str, ...] = _option(
        LADDERS,
        "For which rules people may play rated games, as in connect-four,four; off for none. Where --lobby is marks"
        f" there are none. [default: {','.join(LADDERS)}]",
        _parse_ladders,
        "off|NAMES",
        typed=",".join(LADDERS),
    )
    keep_players_days: int | None = _option(
        None,
        "Forget players for good who were not here for so long.",
        IntRange(1, 36_500),
        "DAYS",
        name="keep-players",
    )

    def __post_init__(self) -> None:
        for name, usual in _PURPOSES[self.for_].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)

    @property
    def hides_names(self) -> bool:
        """Whether people have no names of their own, and whoever is not in a room or event reads marks."""
        return self.lobby == "marks"

    @property
    def rated_rules(self) -> tuple[str, ...]:
        """By which rules people may play rated games: by none where they have no names of their own."""
        return () if self.hides_names else self.ladders


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much a server puts up with. The defaults are for play; tests choose what they need not wait for.

    Each `Count` is a row of the table of limits that an operator may choose. Its name says what is counted, how and by
    which key: THING-per-WINDOW-per-KEY is a rate, of which THING-at-once-per-KEY may come at once; without a window it
    is how many there may be at a time. Whatever counts against one is made by that name, see `transport.rate_limit`.
    What those hear who meet one stands in docs/protocol/limits.md.
    """

    hello_seconds: float = 5.0  # for a connection to say hello; a fifth of that later it is gone in any case
    ping_seconds: float = 4.8  # between asking a peer whether it is there; three such times of silence, and it is gone
    close_seconds: float = 2.0  # for a peer to answer that the connection is closed
    outbox_bytes: int = 256 * 1024
    """What may wait for a peer that does not read; past it only the newest state of each room is kept, and as much
    again of everything else."""

    catch_up_seconds: float = 5.0  # for a peer to read so much that less waits, before it is cut off
    deserted_seconds: float = _seconds(
        600.0,
        "How long a room that no player is connected to is kept while it waits or its game is over.",
        1,
        None,
        "keep-room",
    )
    deserted_game_seconds: float = _seconds(
        3600.0, "How long a running game is kept that all have left without a word.", 1, None, "keep-game"
    )
    unwatched_seconds: float = 60.0  # for which a game of bots among themselves is kept that nobody watches
    start_seconds: float = 30.0  # for a first move in a game with a clock, or the time for a move if that is longer
    flood_seconds: float = 10.0  # for which a connection may want to say more than it may before it is closed
    certificate_seconds: float = 60.0  # between looking whether the files of the certificate have changed
    # Messages: those that are more wait (core.session, core.pressure).
    messages_per_second: Count = 100  # messages that a player, or a connection before its hello, may send
    messages_at_once: Count = 300  # messages that may come at once, before that rate counts
    messages_per_second_per_address: Count = 1_000  # messages that may come from one address
    messages_at_once_per_address: Count = 3_000  # of these at once, before that rate counts
    messages_for_a_bad_one: Count = 10  # messages of its address as which one counts that cannot be read
    bad_messages_per_ten_seconds: Count = 300  # messages of a connection that cannot be read, before it is closed
    # Connections and plain HTTP: those that are more are turned away (transport.admission).
    connections: Count = 20_000  # connections; never more than the system's descriptors allow
    connections_per_address: Count = 1_000  # connections from one address
    connections_per_minute_per_address: Count = 3_000  # new ones from one address in a minute, but those of plain HTTP
    connections_at_once_per_address: Count = 1_000  # how many of these may come at once, before that rate counts
    # Rooms, seats and what else is asked for: refused (`people`, `core`, `services`).
    rooms: Count = 20_000  # rooms
    rooms_per_player: Count = 20  # rooms that one player has opened
    rooms_per_address: Count = 400  # rooms that were opened from one address
    bot_games_per_player: Count = 5  # running games with bots that one player has opened
    creates_per_minute_per_player: Count = 20  # rooms that a player may open in a minute
    creates_per_minute_per_address: Count = 200  # rooms that may be opened from one address in a minute
    misses_per_minute_per_player: Count = 10  # requests of a player for rooms that are not there or not theirs
    misses_per_minute_per_address: Count = 100  # the same from one address
    misses_at_once_per_address: Count = 300  # how many of these may come at once from one address
    requests_per_minute_per_address: Count = 20_000  # requests of plain HTTP from one address, in a minute
    answer_megabytes_per_minute_per_address: Count = 100  # answered to one address under /api/, /e/ and /replay/
    new_players_per_minute_per_address: Count = 120  # players that are made from one address in a minute
    new_players_at_once_per_address: Count = 400  # how many of these may come at once from one address
    seats_per_player: Count = 20  # seats of unfinished games with others that one player holds
    seats_per_address: Count = 1_000  # seats of such games that were taken from one address
    unbegun_seats_per_address: Count = 40  # of these in public rooms that others opened, until the players have moved
    kept_megabytes_per_hour_per_player: Count = (
        10  # of finished games that are kept for good for one player, in an hour
    )
    kept_megabytes_per_hour_per_address: Count = 100  # the same for all who play from one address
    watchers_per_room: Count = 500  # connections that watch one room, and streams of it
    streams_per_address: Count = 100  # streams of rooms and events that are read from one address
    offers_per_ten_seconds_per_player: Count = 5  # offers of a draw, requests for a move back or a game after an abort
    turn_milliseconds: Count = 80  # of the processor for requests in a turn of the event loop; the next are `busy`


COUNTS: Final = {field.name.replace("_", "-"): field.name for field in fields(Limits) if field.type == "Count"}
"""The fields of the limits that an operator may choose, by their names."""


def count_of(limits: Limits, name: str) -> int:
    """Return one of `COUNTS`."""
    return int(getattr(limits, COUNTS[name]))


def with_counts(limits: Limits, counts: Mapping[str, int]) -> Limits:
    """Return the limits with some of `COUNTS` in place of what they say."""
    return replace(limits, **{COUNTS[name]: count for name, count in counts.items()})


_LIMIT: Final = _list("How many of something there may be, 0 for no limit", _parse_limit, "NAME=NUMBER", "limit")


def _list_options() -> Iterator[tuple[str, Option]]:
    """Yield each option by its field, in the order of the help; what says "no-" is a switch, its field the opposite."""
    own, limits = ([(one.name, one) for one in fields(kind) if one.metadata] for kind in (Settings, Limits))
    place = [filled for filled, _ in own].index("origins")
    for filled, one in (*own[:place], *limits, ("limit", _LIMIT), *own[place:]):
        how = dict(one.metadata)
        name = how.pop("name") or filled.replace("_", "-")
        if name.startswith("no-"):
            how["callback"] = lambda context, option, is_given: not is_given
        elif one.default:
            how["default"] = how.pop("typed", one.default)
        yield filled, Option([f"--{name}"], show_default=True, show_envvar=True, **how)


OPTIONS: Final = dict(_list_options())
"""The options of the command line by the fields of `Settings` and `Limits` that they fill; `limit` is for all `COUNTS`.
"""
