"""The Atom feed of the games that await a player's move (RFC 4287). It changes only when the games change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

from tictactoe_protocol.pushes import RoomState
from tictactoe_server.features.days.service import DayGame
from tictactoe_server.http.texts import board_of
from tictactoe_words.wording import describe_players, describe_rules


def render_feed(
    title: str,
    address: str,
    origin: str,
    changed_at: int,
    games: Iterable[tuple[DayGame, RoomState]],
    *,
    pictures: bool,
) -> bytes:
    """Return a feed with an entry for each game.

    Args:
        address: The address of the feed.
        origin: The prefix of links to this server.
        changed_at: When the games last changed (ms since 1970).
        pictures: Whether the server has pictures of public rooms.
    """
    feed = Element("feed", {"xmlns": "http://www.w3.org/2005/Atom"})
    _add_head(feed, address.rpartition("/")[2], title, changed_at)
    SubElement(SubElement(feed, "author"), "name").text = title
    SubElement(feed, "link", rel="self", href=address)
    for game, state in games:
        entry = SubElement(feed, "entry")
        _add_head(entry, f"{game.room} {game.since}", f"{game.room}: {describe_rules(game.rules)}", game.began)
        SubElement(entry, "link", rel="alternate", href=f"{origin}/{game.room}")
        if pictures and state.visibility == "public":
            SubElement(entry, "link", rel="enclosure", type="image/png", href=f"{origin}/preview/{game.room}.png")
        board, players = "\n".join(board_of(state, is_coloured=False)), describe_players(state, "")
        SubElement(entry, "content", type="html").text = f"<pre>{escape(board)}</pre><p>{escape(players)}</p>"
    return bytes(tostring(feed, "utf-8", xml_declaration=True))


def _add_head(element: Element, name: str, title: str, updated: int) -> None:
    SubElement(element, "id").text = uuid5(NAMESPACE_URL, name).urn
    SubElement(element, "title").text = title
    SubElement(element, "updated").text = datetime.fromtimestamp(updated // 1000, UTC).isoformat()
