"""Draws a room: the head, the board with a panel at its right (or an invitation), and the foot.

In a small window, the chat is dropped first, then the moves. Long texts are wrapped, or cut off between words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from time import monotonic
from typing import Final, Literal

from textual.geometry import Offset, Region

from tictactoe_client.board.board import BoardView, draw_board, mark_role
from tictactoe_client.board.glyphs import draw_words
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board, smallest_board
from tictactoe_client.input import record
from tictactoe_client.input.cells import resting_cell
from tictactoe_client.input.past import list_rounds
from tictactoe_client.online.address import reachable_address
from tictactoe_client.text.programs import invitation
from tictactoe_client.text.qr import render_code
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.foot import Foot, Hint, arrange_foot, draw_keys, fit_keys
from tictactoe_client.tui.picture import (
    Picture,
    Text,
    fold,
    measure,
    notice_size,
    place_stage,
    shorten,
    shorten_words,
    wrap,
)
from tictactoe_client.tui.program import Program
from tictactoe_client.tui.room.model import RoomModel, find_situations, list_hints, write_question
from tictactoe_engine import FREE, Rules, format_cell
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import AnalysisState, RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.emblems import list_signs
from tictactoe_words.openings import choices_at
from tictactoe_words.scene import Scene, Shown
from tictactoe_words.telling import describe_why_over, tell_choice
from tictactoe_words.wording import (
    capitalize,
    count,
    describe_manners,
    describe_players,
    describe_tally,
    explain_rules,
    format_duration,
    is_draw,
)
from tictactoe_words.worth import compare_played, describe_cell_worth, describe_position, format_value, list_worth

LEFT: Final = 2
MIN_WIDTH: Final = 24
"""The minimum width of the panel, and of a window."""
MAX_WIDTH: Final = 52
"""The maximum width of the panel, so that clocks stay near the players' names."""
_GAP: Final = 4
_HEAD_AND_FOOT: Final = 4
"""The lines around the board: the head, the banner, the status and the keys."""
NARROW: Final = 60
"""In a narrower window, a better drawing of the board takes precedence over the panel."""
_PANEL_WANTED: Final = 40
_LEAST_STAGE: Final = (80, 24)
_INVITATION_LEAST: Final = (36, 10)
_INVITATION_MOST: Final = (100, 28)
_MOST_WORTHS: Final = 5
_VALUE_ROLES: Final = {"win": "good", "loss": "bad"}
_NEARLY_TOO_LONG: Final = MAX_CHAT_LENGTH - 40
_FEWEST_MOVE_LINES: Final = 2
_URGENT_MS: Final = 10_000
_LOW: Final = 10
"""Up to this height, an invitation has no empty lines and does not explain the rules."""
_MOST_TALK: Final = 3

Line = Sequence[Text]
Row = tuple[int, range, str]
"""A row of the list of moves: the round's number, or 0 if the row continues a round; the plies of its moves; and
instead of moves, a sentence about a choice in the opening."""


@dataclass(frozen=True, slots=True)
class RoomLayout:
    """Where the parts of a room are drawn.

    Attributes:
        top: The first line of the board.
        panel: The first column of the panel, or None if it has no room.
        width, height: The size of the part of the window that is used.
    """

    grid: Grid
    top: int
    panel: int | None
    width: int
    height: int


@lru_cache(maxsize=16)
def lay_out_room(rules: Rules, style: BoardStyle, width: int, height: int) -> RoomLayout:
    """Return the layout of a room for a window of this size."""
    area, narrower = height - _HEAD_AND_FOOT, width - 2 * LEFT - _GAP - MIN_WIDTH
    beside, alone = fit_board(rules, style, narrower, area), fit_board(rules, style, width - 2 * LEFT, area)
    gains = beside != alone if width < NARROW else alone.is_whole and not beside.is_whole
    has_panel = not gains and beside.width <= narrower
    grid = beside if has_panel else alone
    panel = LEFT + grid.width + _GAP
    stage_width = min(width, max(_LEAST_STAGE[0], panel + (_PANEL_WANTED + 1 if has_panel else 0)))
    stage_height = min(height, max(_LEAST_STAGE[1], grid.height + _HEAD_AND_FOOT + 2))
    top = 2 if grid.height + 1 < stage_height - _HEAD_AND_FOOT else 1
    return RoomLayout(grid, top, panel if has_panel else None, stage_width, stage_height)


@lru_cache(maxsize=16)
def needed_for_room(rules: Rules) -> tuple[int, int]:
    """Return the width and height of the smallest window that can show the board."""
    width, height = smallest_board(rules)
    return max(MIN_WIDTH, 2 * LEFT + width), height + _HEAD_AND_FOOT


def fill_panel(
    model: RoomModel, scene: Scene, width: int, height: int, worth: Sequence[str] = (), *, ascii_only: bool
) -> tuple[list[Line], list[str]]:
    """Return the lines of the panel, and the whole chat message of each visible chat line.

    Args:
        worth: Lines about the values of moves.
    """
    state = model.room.state
    signs = list_signs(["" if ascii_only else player.player for player in scene.players])
    lines = [_draw_player(player, model.rules, width, sign) for player, sign in zip(scene.players, signs, strict=True)]
    lines += [((line, "dim"),) for line in _list_facts(model, width)]
    lines.append((("─" * width, "dim"),))
    lines += _list_end(model, scene, width, height - len(lines), ascii_only=ascii_only)
    lines = [*lines, *(((shorten(line, width), ""),) for line in worth)][: max(0, height)]
    room, talk = max(0, height - len(lines)), break_talk(model, width)
    rounds = list_rounds(state.rules.marks, state.board, state.moves)
    rows = [(number, plies, "") for number, plies in enumerate(rounds, 1)]
    rows = _break_rows(rows, state, model.room.viewer) if state.chosen else rows
    for_talk = min(len(talk), max(0, room - min(len(rows), max(_FEWEST_MOVE_LINES, room // 2)) - 1))
    lines += _list_moves(rows, min(len(rows), room - (for_talk + 1 if for_talk else 0)), width, model)
    talk = cut_talk(model, talk, for_talk)
    lines += [(), *(((part, ""),) for _, part in talk)] if talk else []
    return lines, [line for line, _ in talk]


def break_talk(model: RoomModel, width: int) -> list[tuple[str, str]]:
    """Return the wrapped lines of the chat, as pairs of message and line."""
    return [(line, part) for line in model.talk for part in wrap(line, width)]


def cut_talk(model: RoomModel, talk: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return at most `most` lines: the last lines of the chat, or in a record the first lines of the comments."""
    if model.record is None or most == len(talk):
        return talk[len(talk) - most :]
    return [*talk[: most - 1], *((line, f"{part[:-1]}…") for line, part in talk[most - 1 : most])] if most else []


def shows_talk(talk: Sequence[str], heard: Sequence[str], width: int) -> bool:
    """Return True if all lines of the messages `heard` are among those shown.

    Args:
        talk: The message of each visible chat line.
    """
    return all(talk.count(line) >= len(wrap(line, width)) * heard.count(line) for line in heard)


def list_players(players: Sequence[Shown], rules: Rules, width: int) -> Line:
    """Return a line of about this width with the players, their clocks, and an arrow for the turn."""
    parts: list[Text] = []
    share = max(3, width // len(players) - 2)
    for player in players:
        who, (clock, role) = _draw_mark(player, rules), _draw_clock(player)
        arrow = "▶" if player.moves else ""
        space = share - len(arrow) - len(clock) - 3
        text = " ".join(part for part in (shorten(player.name, space) if space > 1 else "", clock) if part)
        parts += [(f"{'  ' if parts else ''}{arrow}", "title"), who, (f" {text}", "" if role == "dim" else role)]
    return parts


def _draw_mark(player: Shown, rules: Rules) -> Text:
    return player.mark, mark_role(player.mark, rules, strong=player.moves)


def _draw_clock(player: Shown) -> Text:
    if player.clock_ms is None:
        return "", "title" if player.moves else "dim"
    role = "dim" if not player.moves else "bad" if player.clock_ms < _URGENT_MS else "title"
    return format_duration(player.clock_ms), role


def _draw_player(player: Shown, rules: Rules, width: int, sign: str) -> Line:
    clock, role = _draw_clock(player)
    right = f"▶ {clock}".rstrip() if player.moves else clock
    name = say("player you", name=player.name) if player.is_own else player.name
    note = f" ({player.note})" if player.note else ""
    taken = measure(right) + (2 if sign else 0)
    if measure(name) + len(note) + taken > width - 4:
        note = ""
    name = shorten(name, max(4, width - 4 - len(note) - taken))
    space = max(0, width - 3 - measure(name) - len(note) - taken)
    mark, name_role = _draw_mark(player, rules), "title" if player.moves else ""
    signed = ((f" {sign}", mark_role(player.mark, rules)),) if sign else ()
    return mark, ("  ", ""), (name, name_role), (note, "dim"), *signed, (" " * space, ""), (right, role)


def _list_facts(model: RoomModel, width: int) -> list[str]:
    state = model.room.state
    if model.record is not None:
        facts = ", ".join(_local_time(fact) for fact in record.list_facts(model.record))
        return [line for text in (facts, record.describe_end(state)) if text for line in wrap(text, width)]
    if state.game == 1 and not any(state.score.values()):
        return []
    tally = describe_tally(state)
    numbered = say("game", n=state.game, players=tally)
    return [numbered if measure(numbered) <= width else shorten(tally, width)]


def _local_time(fact: str) -> str:
    """Convert a text that is a time to this machine's time zone; return any other text unchanged."""
    try:
        return datetime.fromisoformat(fact).astimezone().strftime("%Y-%m-%d %H:%M") if "T" in fact else fact
    except (ValueError, OverflowError):
        return fact


def describe_end(model: RoomModel, scene: Scene, width: int) -> Text:
    """Return how the game ended, such as ``You win! Row 1 is X X X. (5 moves, 0:12)``, and the style of the text.

    The parenthesis is left out if the text does not fit on one line.
    """
    if scene.end is None:
        return "", ""
    length, seconds = count(model.room.state.ply, "move"), model.seconds
    length += "" if seconds is None else f", {format_duration(round(seconds * 1000))}"
    roles = {"win": "good", "lose": "bad"}
    why = describe_why_over(model.ending or model.room.state, model.room.viewer)
    result = f"{scene.end.verdict} {why}"
    whole = f"{result} ({length})"
    return whole if measure(whole) <= width else result, roles.get(scene.end.kind, "warn")


def _list_end(model: RoomModel, scene: Scene, width: int, height: int, *, ascii_only: bool) -> list[Line]:
    result, end = model.room.state.result, scene.end
    if model.kind != "over" or model.actions.timeline.is_back or result is None or end is None:
        return []
    if result.winner is None:
        words, role = say("big draw" if is_draw(result) else "big over"), "warn"
    elif end.kind == "win" or (end.kind and len(model.rules.marks) == 2):
        words, role = (say("big win"), "good") if end.kind == "win" else (say("big loss"), "bad")
    else:
        words, role = say("big wins", who=result.winner), mark_role(result.winner, model.rules, strong=True)
    large = draw_words(words.split(), width, ascii_only=ascii_only)
    decided = fold(model.turning_point, width, 3) if model.turning_point else []
    ways = ([*large, *([""] if decided else []), *decided], large, decided)
    found = next((lines for lines in ways if lines and len(lines) + _FEWEST_MOVE_LINES < height), None)
    return [] if found is None else [*(((line, role),) for line in found), ()]


def _break_rows(rows: list[Row], state: RoomState, viewer: str) -> list[Row]:
    found: list[Row] = []
    for number, plies, _ in rows:
        start = plies.start
        for ply in plies:
            for choice in choices_at(state, ply):
                found += [(number, range(start, ply + 1), ""), (0, range(0), tell_choice(choice, state, viewer))]
                number, start = 0, ply + 1
        found += [(number, range(start, plies.stop), "")] if start < plies.stop else []
    return found


def _list_moves(rows: list[Row], most: int, width: int, model: RoomModel) -> list[Line]:
    timeline, state, rules = model.actions.timeline, model.room.state, model.rules
    here, marks_here, names = timeline.here, timeline.is_back or model.record is not None, _name_cells(rules)
    column = 4 + max(len(names[-1]), 2)
    current = next((place for place, row in enumerate(rows) if here in row[1]), 0 if here == 0 else len(rows))
    start, digits = max(0, min(current - most // 2, len(rows) - most)), len(str(rows[-1][0])) if rows else 1
    judge = model.actions.judge if model.review.is_on else None
    found = judge.found if judge is not None else ()
    roles = {mark: mark_role(mark, rules) for mark in rules.marks} if rows else {}
    lines: list[Line] = []
    for number, plies, sentence in rows[start : start + most]:
        sign = "" if not marks_here else ">" if here in plies else " "
        parts = [(f"{sign}{number:>{digits}}. " if number else " " * (len(sign) + digits + 2), "dim")]
        if sentence:
            parts.append((shorten(sentence, width - len(parts[0][0])), "dim"))
        elif not number:
            parts.append((" " * column, ""))
        for ply in plies:
            played = state.moves[ply - 1]
            mark, cell = state.board[played], names[played]
            role = "dim" if ply > here else "title" if marks_here and ply == here else roles[mark]
            text, role = (f"{mark} {cell}?", "bad") if ply in found else (f"{mark} {cell}", role)
            parts.append((text.ljust(column), role))
        lines.append(parts)
    return lines


@lru_cache(maxsize=4)
def _name_cells(rules: Rules) -> tuple[str, ...]:
    return tuple(format_cell(cell, rules) for cell in range(rules.size))


def draw_code(picture: Picture, link: str) -> int:
    """Draw the QR code of the link at the right if it fits; return the column that ends the space for text."""
    lines = render_code(link)
    x = picture.width - len(lines[0]) - 1
    if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
        return picture.width - 1
    for number, line in enumerate(lines, 2):
        picture.put(x, number, line, "qr")
    return x - 1


def fill_invitation(model: RoomModel, width: int, height: int, link: str) -> tuple[list[Line], list[str]]:
    """Return at most `height` lines of the invitation, and the whole chat message of each visible chat line."""
    state = model.room.state
    company, clock = describe_players(state, model.room.viewer), describe_clock_in_words(state.time_control)
    if model.room.seat is None:
        company = say("invitation watcher", players=company)
    elif sum(held is not None for held in state.seats.values()) == 1:
        company = say("invitation own", mark=model.room.seat)
    facts = company, say(f"invitation {state.visibility}", clock=capitalize(clock))
    lines: list[Line] = [((shorten_words(fact, width), "dim"),) for fact in facts]
    lines += [
        ((line, "dim"),) for sentence in explain_rules(state.rules) for line in wrap(sentence, width) if height > _LOW
    ]
    lines += [()] if height > _LOW else []
    titles = (
        ("invitation code", model.room.code, "title"),
        ("invitation link", link, ""),
        ("invitation or", invitation(link), ""),
    )
    for title, text, role in titles:
        for number, line in enumerate(wrap(text, width - 7)):
            lines.append(((f"{'' if number else say(title):<7}", "dim"), (line, role)))
    del lines[max(0, height) :]
    talk = break_talk(model, width)
    talk = cut_talk(model, talk, max(0, min(_MOST_TALK, len(talk), height - len(lines) - 1)))
    return [*lines, *([()] if talk else []), *(((part, "dim"),) for _, part in talk)], [line for line, _ in talk]


def paint_values(picture: Picture, x: int, y: int, view: BoardView, grid: Grid, analysis: AnalysisState) -> None:
    """Write the values of moves over the free cells of a drawn board."""
    for cell, value in analysis.cells.items():
        if not grid.shows(cell) or view.board[cell] != FREE:
            continue
        is_best, (across, down) = cell in analysis.best, grid.middle_of(cell)
        text = format_value(value, grid.wide, is_best=is_best, is_chosen=cell == view.cursor and grid.tall == 1)
        role = _VALUE_ROLES.get(value.kind, "key" if is_best else "dim" if value.kind == "unknown" else "")
        picture.put(x + across - len(text) // 2, y + down, text, role)


class RoomView(Canvas):
    """The widget that draws a room, or a notice if the window is too small (then `is_small` is True)."""

    def __init__(self, program: Program, model: RoomModel) -> None:
        super().__init__(model.line)
        self.program = program
        self.model = model
        self.is_small = False
        self._grid: Grid | None = None
        self._layout: RoomLayout | None = None
        self._stage = Region()
        self._back_at = range(0)
        self._hinted_at: object = None
        self._hints: Sequence[Hint] = ()
        self._opened_at = monotonic()

    @property
    def link(self) -> str:
        """The link to the room, with an address that others can reach."""
        return reachable_address(self.program.session.cluster.given.first).link_to(self.model.room.code)

    def needed_size(self) -> tuple[int, int]:
        return _INVITATION_LEAST if self.model.kind == "waiting" else needed_for_room(self.model.rules)

    def place(self, width: int, height: int) -> Region:
        """Compute the layout for a window of this size, and return the region of the window to draw in."""
        model, rules, settings = self.model, self.model.rules, self.program.settings
        if model.kind == "waiting":
            self._layout = None
            return place_stage(_INVITATION_MOST, (width, height))
        keys, extra = settings.keys if model.room.plays else None, int(model.review.is_on)
        style = BoardStyle(ascii=settings.ascii, keys=keys, stars=not extra)
        layout = lay_out_room(rules, style, width, height - extra)
        lacking = self._count_urgent_lines(layout.width - 2) - (layout.height - 1 - layout.top - layout.grid.height)
        if lacking > 0:  # a smaller board leaves more lines for the foot
            extra += max(0, min(lacking, height - extra - needed_for_room(rules)[1]))
            layout = lay_out_room(rules, style, width, height - extra)
        self._layout = layout
        return place_stage((layout.width, layout.height + extra), (width, height))

    def _count_urgent_lines(self, width: int) -> int:
        """Return the number of lines that the open question and the result of the game need."""
        model, scene = self.model, self.model.scene(monotonic())
        question = write_question(model, scene, self.program.keymap, is_brief=model.is_to_choose)
        is_over = model.kind == "over" and not model.actions.timeline.is_back
        texts = [*([question[0]] if question else []), describe_end(model, scene, width)[0] if is_over else ""]
        return sum(len(wrap(text, width)) for text in texts)

    def is_way_back(self, at: Offset) -> bool:
        return not self.is_small and at.y == self._stage.y and at.x - self._stage.x in self._back_at

    def find_cell(self, at: Offset) -> int | None:
        grid, layout = self._grid, self._layout
        if grid is None or layout is None or self.is_small:
            return None
        return grid.find_cell(at.x - self._stage.x - LEFT, at.y - self._stage.y - layout.top)

    def scroll(self, rows: int, columns: int) -> int | None:
        """Scroll the board and return the cell in the middle of the view; return None if the whole board is visible."""
        if self._grid is None or self._grid.is_whole:
            return None
        self._grid = self._grid.scroll(self._grid.middle + rows * self._grid.rules.columns + columns, None)
        return self._grid.middle

    def draw(self) -> None:
        size, needed = self.program.size, self.needed_size()
        picture = Picture(*size)
        self.is_small = size[0] < needed[0] or size[1] < needed[1]
        if self.is_small:
            question = self.model.actions.confirming and write_question(
                self.model, self.model.scene(monotonic()), self.program.keymap
            )
            for y, line in enumerate(notice_size(needed, size, question[0] if question else "")):
                picture.put(0, y, line)
        else:
            self._stage = self.place(*size)
            stage = Picture(self._stage.width, self._stage.height, ascii_only=self.program.settings.ascii)
            self.draw_room(stage, self.program.describe_status(plays=self.model.room.plays))
            picture.paste(*self._stage.offset, stage.rows)
        self.show(picture)

    def draw_room(self, picture: Picture, status: Text | None) -> None:
        """Draw the room. Unread messages appear in the foot if the panel does not show all of them."""
        model, layout = self.model, self._layout
        self._back_at = range(0)
        now, last, news = monotonic(), picture.height - 1, model.news
        scene = model.scene(now)
        if layout is None:
            link, x, y, rows = self.link, 3, 2, 3
            has_code = model.shows_code and self.program.settings.colour and not picture.ascii_only
            width = (draw_code(picture, link) if has_code else picture.width - 1) - x
            fill = partial(fill_invitation, model, width, link=link)
        else:
            worth = self._draw_board(picture, layout)
            x, y, rows = layout.panel or 0, layout.top, last - layout.top - layout.grid.height
            width = min(MAX_WIDTH, picture.width - x - 1) if layout.panel is not None else 0
            fill = partial(fill_panel, model, scene, width, worth=worth, ascii_only=picture.ascii_only)
        heard = news.unread if model.record is None else model.talk
        for unseen in ([], heard):
            foot = self._arrange_foot(scene, status, now, picture.width - 2, rows, unseen)
            lines, talk = fill(height=last - foot.height - y) if width else ([], [])
            if is_seen := shows_talk(talk, heard, width):
                break
        news.in_sight = len(news.unread) if is_seen else foot.notes
        for number, parts in enumerate(lines, y):
            picture.put_parts(x, number, *parts, until=x + width)
        if layout is not None and layout.panel is None:
            players = list_players(scene.players, model.rules, picture.width - 1)
            picture.put_parts(1, layout.top - 1, *players, until=picture.width - 1)
        if layout is None or layout.panel is not None or layout.top > 1:
            self._draw_head(picture, scene)
        foot.draw(picture)
        draw_keys(picture, self._list_hints(picture.width - 2))

    def _list_hints(self, width: int) -> Sequence[Hint]:
        """Return the hints for the line of keys; they are cached until something that they depend on changes."""
        model, is_first = self.model, len(self.program.screens) == 1
        situations = find_situations(model)
        choices = None if situations[0] == "playing" else model.choices
        typed = model.typed and (model.typed, model.may_send)
        asks = self.program.has_challenged
        shown = (asks, model.line.value, model.shows_code)
        at = (situations, choices, typed, *shown, is_first, width, self.program.settings)
        if at != self._hinted_at:
            hints = list_hints(model, self.program.keymap, self.program.settings, is_first=is_first, asks=asks)
            out = self.program.keymap.show("back")
            lasting = (say("key help"), *(label for keys, label in hints if keys == out))
            self._hinted_at, self._hints = at, fit_keys(hints, width, lasting)
        return self._hints

    def _draw_head(self, picture: Picture, scene: Scene) -> None:
        model, session, state = self.model, self.program.session, self.model.room.state
        is_record, here = model.record is not None, model.actions.timeline.here
        watches = not is_record and model.room.seat is None
        label = say("head replay") if is_record else say("head watching") if watches else ""
        watching = say("count watcher", n=state.watchers) if state.watchers and watches else ""
        back = f"[◂ {say('key back')}]" if here and watches else ""
        right = say("head latency", ms=session.latency_ms) if session.phase == "online" else f"{say('page offline')} ●"
        if is_record or model.actions.timeline.is_back or (watches and state.status != "waiting"):
            moments = [say("head move", n=here, total=state.ply), *([back] if back else [])]
            right = "   ".join([watching, *moments] if watching and picture.width >= NARROW else moments)
        elif watching:
            right = watching
        room = picture.width - measure(right) - 4 - (measure(label) + 2 if label else 0)
        head = scene.head
        code = "" if is_record or len(model.room.local_players) > 1 else state.room
        ways = (
            (" · ".join([head, *describe_manners(state)]), code),
            (head, code),
            (head, ""),
            (head.partition(" · ")[0], ""),
        )
        fitting = (way for way in ways if measure("  ".join(way)) <= room)
        head, code = next(fitting, (shorten(head.partition(" · ")[0], room) if room > 0 else "", ""))
        x = 1
        for text, role in ((label, "warn"), (head, "title"), (code, "dim")):
            x = picture.put_parts(x, 0, (text, role)) + 2 if text else x
        if back and right.endswith(back):
            self._back_at = range(picture.width - 1 - measure(back), picture.width - 1)
        picture.put_right(0, right, "dim" if session.phase == "online" or is_record else "bad")

    def _draw_board(self, picture: Picture, layout: RoomLayout) -> list[str]:
        """Draw the board with the values of moves; if the cells are too small, return lines about the values."""
        model, state, cursor, shows_values = self.model, self.model.shown, self.model.cursor, self.model.review.is_on
        if cursor is not None and state.rules.gravity and model.room.plays:
            cursor = resting_cell(state, cursor)
        view = BoardView.of(state, cursor if model.room.plays or shows_values else None)
        if not model.actions.timeline.is_back:
            view = replace(view, pending=model.pending)
            if model.falling:
                view = replace(view, board=model.falling[0], last=None, line=frozenset())
        grid = self._grid = layout.grid.scroll(cursor if cursor is not None else state.last, self._grid)
        is_grey = self.program.session.phase != "online" and model.record is None
        picture.paste(LEFT, layout.top, draw_board(view, grid), "dim" if is_grey else None)
        analysis = model.review.analysis
        if analysis is None:
            return []
        paint_values(picture, LEFT, layout.top, view, grid, analysis)
        return [] if grid.style.scale and analysis.cells else list_worth(analysis, view.rules, _MOST_WORTHS)

    def _arrange_foot(
        self, scene: Scene, status: Text | None, now: float, width: int, rows: int, heard: Sequence[str]
    ) -> Foot:
        """Return the foot. Messages may replace the text about the turn, but not typed text or the result."""
        model, line = self.model, self.model.line
        turn = self._describe_turn(scene, now, width)
        notes = [status] if status else [turn] if model.record is not None else []
        notes += [(model.news.back, "good")] if model.news.back else []
        before = len(notes)
        notes += [(message, "title") for message in heard]
        shows_worth = model.review.is_on
        worth = fold(self._describe_worth(), width, max(1, rows - 2)) if shows_worth else []
        beside, marked = ("", ""), None
        keeps: Literal["", "above", "below"] = ""
        if line.mode:
            length = len(line.value.strip())
            if line.mode == "chat" and length >= _NEARLY_TOO_LONG:
                beside = f"{length}/{MAX_CHAT_LENGTH}", "bad" if length > MAX_CHAT_LENGTH else "dim"
            typed, at, caret = line.lay_out(width - 1 - (measure(beside[0]) + 2 if beside[0] else 0))
            text, marked, keeps = (typed, "title"), (at, caret), "above"
        elif model.kind == "over" and not model.actions.timeline.is_back:
            text, keeps = describe_end(model, scene, width), "below"
        else:
            before -= 1 if notes else 0
            text, *notes = notes or [turn]
            if model.typed or (model.room.plays and not model.is_to_choose):
                typed = say("scene typed" if model.record is None else "room go to", text=model.typed)
                beside = typed, "title" if model.typed else "dim"
        foot = arrange_foot(
            *(self._describe_banner(scene, width, rows - len(worth)), text, width, rows - len(worth)),
            beside=beside,
            may_drop=not (model.typed or line.mode),
            notes=notes,
            keeps=keeps,
        )
        banner = (*(foot.banner or (("", ""),)), *((line, "title") for line in worth)) if worth else foot.banner
        return replace(foot, banner=banner, notes=max(0, foot.notes - before), marked=marked)

    def _describe_banner(self, scene: Scene, width: int, rows: int) -> Text | None:
        model, keymap = self.model, self.program.keymap
        if model.record is not None:
            return None
        if not model.actions.confirming or not model.actions.is_online:
            holds_seat = model.room.plays or model.kind == "waiting"
            if lost := self.program.describe_connection(width, holds_seat=holds_seat):
                return lost
            if self.program.ways_in.waits_for:
                return f"{self.program.ways_in.waits_for}…   {keymap.show('back')} {say('key to home')}", "warn"
            if scene.banner:
                return scene.banner, "warn"
        for is_brief in (False, True):
            question = write_question(model, scene, keymap, is_brief=is_brief)
            if question is None or not model.is_to_choose or len(fold(question[0], width, rows)) < rows:
                break
        return question

    def _describe_worth(self) -> str:
        model, analysis, state = self.model, self.model.review.analysis, self.model.shown
        if analysis is None:
            if model.review.is_waiting:
                return say("worth comes")
            return "" if state.result is None else say("worth goes back", key=self.program.keymap.show("left"))
        parts = [describe_position(analysis, model.rules)]
        if model.cursor is not None:
            parts.append(f"{describe_cell_worth(model.cursor, analysis, model.rules)}.")
        elif len(line := model.review.better.get(state.ply, ())) > 1:
            parts.append(say("worth better", cells=", ".join(format_cell(cell, model.rules) for cell in line)))
        return "   ".join(parts)

    def _describe_turn(self, scene: Scene, now: float, width: int) -> Text:
        model, timeline, compared = self.model, self.model.actions.timeline, ""
        if timeline.played_next is not None and (analysis := model.review.analysis) is not None:
            compared = compare_played(timeline.played_next, analysis, model.rules)
        if model.record is not None:
            return (compared, "warn") if compared else (model.actions.describe_moment(model.room.state)[0], "title")
        if timeline.is_back:
            fresh = f"({count(timeline.unseen, 'new move')})" if timeline.unseen else ""
            text = "   ".join(filter(None, (scene.turn.text, compared, fresh)))
            is_long = compared and measure(text) > width - 2
            return (f"{compared}   {fresh}".rstrip() if is_long else text), "warn"
        if model.kind == "waiting":
            return f"{scene.turn.text} {format_duration(round((now - self._opened_at) * 1000))}", ""
        text = "   ".join(filter(None, (scene.turn.text, scene.due)))
        return text, "title" if scene.turn.kind == "mine" or model.pending is not None else ""
