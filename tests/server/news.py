"""What a client knows from the first state of a room and the `news` of all later ones."""

from typing import Any


def facts_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a state that `news` tells."""
    offers = state["offers"]
    return {
        "game": state["game"] if state["status"] != "waiting" else 0,
        "moves": state["moves"],
        "stones": {cell: state["board"][cell] for cell in state["moves"]},
        "chosen": state.get("chosen", []),
        "seats": {
            mark: seat and [seat["name"], seat["online"], seat.get("left", False)]
            for mark, seat in state["seats"].items()
        },
        "out": sorted(mark for mark, seat in state["seats"].items() if seat and seat.get("out")),
        "swapped": None,
        "offers": {kind: offers[kind] for kind in ("draw", "undo")} | {"rematch": sorted(offers["rematch"])},
        "result": state["result"],
    }


def replay(facts: dict[str, Any], news: list[dict[str, Any]]) -> None:
    """Change the facts as the events say."""
    for event in news:
        seats, offers, mark = facts["seats"], facts["offers"], event.get("mark")
        match event["type"]:
            case "began":
                if facts["game"]:
                    _begin_again(facts)
                facts["game"] = event["game"]
            case "moved":
                facts["moves"].append(event["cell"])
                facts["stones"][event["cell"]] = mark
            case "taken back":
                facts["moves"] = facts["moves"][: -len(event["cells"])]
                facts["stones"] = {cell: facts["stones"][cell] for cell in facts["moves"]}
                offers["undo"] = None
            case "chose":
                facts["chosen"].append(event["take"])
                if event["take"] not in ("more", mark):
                    facts["seats"] = dict(zip(seats, [*seats.values()][::-1], strict=True))
                    facts["swapped"] = True
                    offers["draw"] = offers["draw"] and next(other for other in seats if other != offers["draw"])
            case "out":
                facts["out"].append(mark)
            case "offered" if event["kind"] == "rematch":
                offers["rematch"] = sorted({*offers["rematch"], mark})
            case "lapsed" if event["kind"] == "rematch":
                offers["rematch"].remove(mark)
            case "offered":
                offers[event["kind"]] = mark
            case "declined" | "withdrawn" | "lapsed":
                offers[event["kind"]] = None
            case "joined":
                seats[mark] = [event["name"], True, False]
            case "renamed":
                assert seats[mark][0] == event["before"]
                seats[mark][0] = event["name"]
            case "back" | "dropped":
                seats[mark][1] = event["type"] == "back"
            case "left":
                seats[mark] = [event["name"], False, True] if facts["game"] else None
            case "ended":
                facts["result"] = event["result"]
                facts["offers"] = {"draw": None, "undo": None, "rematch": []}
                while len(seats) - len(facts["out"]) < 2:
                    facts["out"].pop()
            case unknown:
                raise AssertionError(unknown)


def _begin_again(facts: dict[str, Any]) -> None:
    """Begin the next game. Each player gets the next mark, unless a game was aborted or an opening swapped them."""
    seats = facts["seats"]
    if facts["result"]["reason"] != "aborted" and not facts["swapped"]:
        *others, last = seats.values()
        facts["seats"] = dict(zip(seats, (last, *others), strict=True))
    facts |= {"moves": [], "stones": {}, "chosen": [], "out": [], "swapped": None, "result": None}
    facts["offers"] = {"draw": None, "undo": None, "rematch": []}
