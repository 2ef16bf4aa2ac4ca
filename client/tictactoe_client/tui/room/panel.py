"""What stands beside the board: who plays, the clocks, how it ended, the moves and the talk.

What there is no room for goes: the talk first, then the moves. In its place a room that waits for others shows its
code, its link, and both as a picture for a telephone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tictactoe_client.board.board import mark_role
from tictactoe_client.board.glyphs import draw_words
from tictactoe_client.input import record
from tictactoe_client.input.past import list_rounds
from tictactoe_client.online.address import reachable_address
from tictactoe_client.text.programs import invitation
from tictactoe_client.text.qr import render_code
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.picture import Picture, Text, fold, measure, shorten, shorten_words, wrap
from tictactoe_client.tui.program import Program
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_engine import format_cell
from tictactoe_engine.opening import MORE
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.emblems import emblem_of
from tictactoe_protocol.happened import choices_at, is_draw
from tictactoe_protocol.lines import split_lines
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import describe_why_over
from tictactoe_protocol.wording import count, describe_players, describe_tally, format_duration, name_of

_FEWEST_MOVE_LINES: Final = 2
_LONGEST_LINE: Final = 6
_URGENT_MS: Final = 10_000
_LEVELS: Final = "▁▂▃▄▅▆▇█", "__..--^^"
"""What a graph is drawn with, from lost to won, in Unicode and in ASCII."""
_UNCERTAIN: Final = 0.15
_LOW: Final = 10
"""Of so many lines of an invitation none is left empty."""
_MOST_TALK: Final = 3
"""How many lines of talk an invitation has."""

Line = Sequence[Text]
"""The texts of a line, one after the other."""
Row = tuple[int, range, str]
"""The number of a round and those of its moves, without the first one in what goes on with it; or what was chosen."""


def fill_panel(
    model: RoomModel,
    state: RoomState,
    width: int,
    height: int,
    now: float,
    worth: Sequence[str] = (),
    *,
    ascii_only: bool,
) -> tuple[list[Line], list[str]]:
    """Return at most so many lines, and for each line of the talk among them what it is a part of.

    The `state` is the newest one, and `worth` says what moves are worth.
    """
    has_signs = not ascii_only
    lines = [_describe_player(mark, model, state, width, now, has_signs=has_signs) for mark in state.rules.marks]
    lines += [((line, "dim"),) for line in _list_facts(model, state, width)]
    lines.append((("─" * width, "dim"),))
    lines += _list_end(model, width, height - len(lines), ascii_only=ascii_only)
    graph = draw_graph(model, width, ascii_only=ascii_only) if height - len(lines) > _FEWEST_MOVE_LINES + 1 else ()
    lines = [*lines, *([graph] if graph else []), *(((shorten(line, width), ""),) for line in worth)][: max(0, height)]
    room, talk = max(0, height - len(lines)), break_talk(model, width)
    rounds = list_rounds(state.rules.marks, state.board, tuple(model.room.moves))
    rows = [(number, plies, "") for number, plies in enumerate(rounds, 1)]
    rows = _break_rows(rows, state) if state.chosen else rows
    for_talk = min(len(talk), max(0, room - min(len(rows), max(_FEWEST_MOVE_LINES, room // 2)) - 1))
    lines += _list_moves(rows, min(len(rows), room - (for_talk + 1 if for_talk else 0)), width, model, state)
    talk = cut_talk(model, talk, for_talk)
    lines += [(), *(((part, ""),) for _, part in talk)] if talk else []
    return lines, [line for line, _ in talk]


def break_talk(model: RoomModel, width: int) -> list[tuple[str, str]]:
    """Return the lines that the talk is broken into, each after what it is a part of."""
    return [(line, part) for line in model.talk for part in wrap(line, width)]


def cut_talk(model: RoomModel, talk: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return so many lines of the talk, the last ones; of what a record notes the first, with an ellipsis."""
    if model.record is None or most == len(talk):
        return talk[len(talk) - most :]
    return [*talk[: most - 1], *((line, f"{part[:-1]}…") for line, part in talk[most - 1 : most])] if most else []


def shows_talk(talk: Sequence[str], heard: Sequence[str], width: int) -> bool:
    """Tell whether the talk of a panel so wide has all that was heard in full."""
    return all(talk.count(line) >= len(wrap(line, width)) * heard.count(line) for line in heard)


def list_players(model: RoomModel, state: RoomState, width: int, now: float) -> Line:
    """Return who plays, whose move it is and the clocks in one line of about this width."""
    parts: list[Text] = []
    share = max(3, width // len(state.rules.marks) - 2)
    for mark in state.rules.marks:
        who, name, (clock, role) = _look_at(mark, model, state, now)
        arrow = "▶" if state.turn == mark else ""
        space = share - len(arrow) - len(clock) - 3
        text = " ".join(part for part in (shorten(name, space) if space > 1 else "", clock) if part)
        parts += [(f"{'  ' if parts else ''}{arrow}", "title"), who, (f" {text}", "" if role == "dim" else role)]
    return parts


def _look_at(mark: str, model: RoomModel, state: RoomState, now: float) -> tuple[Text, str, Text]:
    """Return a mark in its role, the name of who plays it, and what their clock shows."""
    seat, left, runs = state.seats.get(mark), model.remaining_ms(mark, now), state.turn == mark
    role = "dim" if not runs else "bad" if left is not None and left < _URGENT_MS else "title"
    own = model.roles.get(mark, "")
    who = mark, own.replace("mark", "strong") if runs else own
    name = seat.name if seat else say("panel free")
    return who, name, ("" if left is None else format_duration(left), role)


def _describe_player(mark: str, model: RoomModel, state: RoomState, width: int, now: float, *, has_signs: bool) -> Line:
    """Return who plays a mark, with the sign that is their own, and what there is to note of them."""
    who, name, (clock, role) = _look_at(mark, model, state, now)
    seat, notes, runs = state.seats.get(mark), [], state.turn == mark
    if seat is not None:
        is_away = not (seat.online or seat.left or seat.out or mark == model.seat)
        facts = {"you": mark == model.seat, "left": seat.left, "out": seat.out and not seat.left, "away": is_away}
        notes = [say(f"panel {fact}") for fact, is_so in facts.items() if is_so]
    note, right = "".join(f" {note}" for note in notes), f"▶ {clock}".rstrip() if runs else clock
    sign, colour = emblem_of(seat.player) if has_signs and seat and not seat.is_server_bot else ("", 0)
    sign = f" {sign}" if sign else ""
    name = shorten(name, max(4, width - 7 - len(sign) - len(note) - len(clock)))
    space = max(0, width - 3 - measure(name) - len(sign) - len(note) - len(right))
    named = (name, "title" if runs else ""), (note, "dim"), (sign, f"mark{colour}")
    return who, ("  ", ""), *named, (" " * space, ""), (right, role)


def _list_facts(model: RoomModel, state: RoomState, width: int) -> list[str]:
    """Return what is said below the players: the score of the evening, or what a record says of its game."""
    if model.record is not None:
        facts = ", ".join(_local_time(fact) for fact in record.list_facts(model.record))
        return [line for text in (facts, record.describe_end(model.record)) if text for line in wrap(text, width)]
    has_tally = state.game > 1 or any(state.score.values())
    return [shorten(say("panel game", n=state.game, tally=describe_tally(state)), width)] if has_tally else []


def _local_time(fact: str) -> str:
    """Return a moment as this machine's clock would show it; a mere date, and whatever is no date, as it is."""
    try:
        return datetime.fromisoformat(fact).astimezone().strftime("%Y-%m-%d %H:%M") if "T" in fact else fact
    except (ValueError, OverflowError):
        return fact


def sum_up_end(model: RoomModel) -> tuple[str, str]:
    """Return in one or two words how the game ended, to be written large, and their role; no words before the end."""
    state, own = model.room.state, model.seat
    if state.result is None:
        return "", ""
    winner = state.result.winner
    if winner is None:
        return say("big draw" if is_draw(state.result) else "big over"), "warn"
    if own is not None and (winner == own or len(state.seats) == 2):
        return (say("big win"), "good") if winner == own else (say("big loss"), "bad")
    return say("big wins", who=winner), mark_role(winner, model.rules, strong=True)


def describe_end(model: RoomModel) -> tuple[str, str]:
    """Return how the game ended and that line's role: ``YOU WIN   <X> A1 <X> B2 <X> C3   (5 moves, 0:12)``."""
    state, rules, role = model.room.state, model.rules, sum_up_end(model)[1]
    if state.result is None:
        return "", ""
    winner = state.result.winner
    if winner is None:
        head = say("end draw" if is_draw(state.result) else "end no result")
    elif role in ("good", "bad"):
        head = say("end win" if role == "good" else "end loss")
    else:
        head, role = say("end wins", name=name_of(state, winner).upper()), "good" if model.seat is None else "bad"
    length = count(state.ply, "move")
    if model.started_at is not None and model.ended_at is not None:
        length += f", {format_duration(round((model.ended_at - model.started_at) * 1000))}"
    runs = split_lines(state.result.line, rules)
    if len(runs) == 1 and len(runs[0]) <= _LONGEST_LINE:
        why = " ".join(f"<{state.board[cell]}> {format_cell(cell, rules)}" for cell in runs[0])
    else:
        why = describe_why_over(model.ending or state, model.room.viewer)
    return f"{head}   {why}   ({length})", role


def _list_end(model: RoomModel, width: int, height: int, *, ascii_only: bool) -> list[Line]:
    """Return the lines of the end, with an empty one below; none before, or without room for them."""
    if model.kind != "over" or model.is_back:
        return []
    words, role = sum_up_end(model)
    large = draw_words(words.split(), width, ascii_only=ascii_only)
    told = fold(model.turning_point, width, 3) if model.turning_point else []
    ways = ([*large, *([""] if told else []), *told], large, told)
    found = next((lines for lines in ways if lines and len(lines) + _FEWEST_MOVE_LINES < height), None)
    return [] if found is None else [*(((line, role),) for line in found), ()]


def draw_graph(model: RoomModel, width: int, *, ascii_only: bool) -> Line:
    """Return who stood better after each move, as far as it is known: high where the first mark did, in its colour.

    Nothing while the game runs, with more than two players, or as long as nothing is known.
    """
    judge, rules = model.actions.judge, model.rules
    rates = judge.rates() if judge is not None and len(rules.marks) == 2 else []
    if all(rate is None for rate in rates):
        return ()
    label, levels = say("panel graph"), _LEVELS[ascii_only]
    room = width - measure(label) - 1
    many = min(room, len(rates))
    parts: list[Text] = [(f"{label} ", "dim")]
    for place in range(many):
        ply = place * (len(rates) - 1) // max(1, many - 1)
        rate = rates[ply]
        sign = " " if rate is None else levels[round((rate + 1) / 2 * (len(levels) - 1))]
        role = "dim" if rate is None or abs(rate) <= _UNCERTAIN else model.roles[rules.marks[rate < 0]]
        is_here = ply == model.actions.timeline.here and (model.is_back or model.record)
        parts.append((sign, "chosen" if is_here else role))
    return parts


def _break_rows(rows: list[Row], state: RoomState) -> list[Row]:
    """Return the rounds, broken where something was chosen in the opening, with what that was."""
    found: list[Row] = []
    for number, plies, _ in rows:
        start = plies.start
        for ply in plies:
            for choice in choices_at(state, ply):
                id = "record chose more" if choice.take == MORE else "record chose"
                told = say(id, name=name_of(state, choice.mark), take=choice.take)
                found += [(number, range(start, ply + 1), ""), (0, range(0), told)]
                number, start = 0, ply + 1
        found += [(number, range(start, plies.stop), "")] if start < plies.stop else []
    return found


def _list_moves(rows: list[Row], most: int, width: int, model: RoomModel, state: RoomState) -> list[Line]:
    """Return so many rows around the moment that is looked at, which is marked where it is not the newest."""
    timeline, moves = model.actions.timeline, model.room.moves
    here, marks_here = timeline.here, timeline.is_back or model.record is not None
    column = 4 + max(len(model.names[-1]), 2)
    current = next((place for place, row in enumerate(rows) if here in row[1]), 0 if here == 0 else len(rows))
    start, digits = max(0, min(current - most // 2, len(rows) - most)), len(str(rows[-1][0])) if rows else 1
    judge = model.actions.judge
    found = judge.found if judge is not None and model.review.is_on else ()
    lines: list[Line] = []
    for number, plies, told in rows[start : start + most]:
        sign = "" if not marks_here else ">" if here in plies else " "
        parts = [(f"{sign}{number:>{digits}}. " if number else " " * (len(sign) + digits + 2), "dim")]
        if told:
            parts.append((shorten(told, width - len(parts[0][0])), "dim"))
        elif not number:
            parts.append((" " * column, ""))
        for ply in plies:
            mark, cell = state.board[moves[ply - 1]], model.names[moves[ply - 1]]
            role = "dim" if ply > here else "title" if marks_here and ply == here else model.roles[mark]
            text, role = (f"{mark} {cell}?", "bad") if ply in found else (f"{mark} {cell}", role)
            parts.append((text.ljust(column), role))
        lines.append(parts)
    return lines


def link_for_others(program: Program, model: RoomModel) -> str:
    """Return the link to the room by an address that others can reach."""
    return reachable_address(program.session.cluster.given.first).link_to(model.room.code)


def draw_code(picture: Picture, link: str) -> int:
    """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
    lines = render_code(link)
    x = picture.width - len(lines[0]) - 1
    if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
        return picture.width - 1
    for number, line in enumerate(lines, 2):
        picture.put(x, number, line, "qr")
    return x - 1


def fill_invitation(
    model: RoomModel, state: RoomState, width: int, height: int, link: str
) -> tuple[list[Line], list[str]]:
    """Return at most so many lines on how others get here, and for each line of the talk what it is a part of."""
    company, clock = describe_players(state, model.room.viewer), describe_clock_in_words(state.time_control)
    if model.seat is None:
        company = say("invitation watcher", players=company)
    elif sum(held is not None for held in state.seats.values()) == 1:
        company = say("invitation own", mark=model.seat)
    facts = company, say(f"invitation {state.visibility}", clock=f"{clock[:1].upper()}{clock[1:]}")
    lines: list[Line] = [((shorten_words(fact, width), "dim"),) for fact in facts]
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
