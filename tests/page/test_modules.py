import json
from pathlib import Path
from random import Random

from tests.engine.random_games import decide
from tests.node import evaluate, run_node
from tests.protocol.test_room_codes import PASTED
from tictactoe_engine import PRESETS, Position, Rules, format_cell
from tictactoe_protocol.codec import encode
from tictactoe_protocol.room_codes import parse_room_code
from tictactoe_protocol.terms import RulesState
from tictactoe_server.http.assets import FOLDER
from tictactoe_words.catalogue import FOLDER as CATALOGUES
from tictactoe_words.emblems import SIGNS, emblem_of, list_signs

PROGRAM = Path(__file__).with_name("modules.mjs")
RULES = """
const [folder, text] = process.argv.slice(1);
const { landingCell, nameCell, parseCell, splitLines } = await import(`${folder}/rules.js`);
const tell = ([rules, board, line]) => {
    const cells = [...board].map((_, cell) => cell);
    const landing = [...new Set(cells.map((cell) => landingCell(rules, board, cell)))].filter((cell) => cell >= 0);
    const names = cells.map((cell) => nameCell(cell, rules));
    return [names, names.map((name) => parseCell(name, rules)), landing.sort((a, b) => a - b), splitLines(rules, line)];
};
console.log(JSON.stringify(JSON.parse(text).map(tell)));
"""

EMBLEMS = """
const [folder, text] = process.argv.slice(1);
const { emblemOf, listSigns } = await import(`${folder}/shapes.js`);
const players = JSON.parse(text);
console.log(JSON.stringify([players.map(emblemOf), listSigns(players.slice(0, 9))]));
"""

CUTS = """
const [folder, text] = process.argv.slice(1);
const { cutPasted } = await import(`${folder}/words.js`);
console.log(JSON.stringify(JSON.parse(text).map(cutPasted)));
"""


def test_the_modules_pass_their_javascript_tests() -> None:
    run_node(str(PROGRAM), FOLDER.as_uri(), str(CATALOGUES))


def test_the_page_knows_cells_landings_and_lines_as_the_engine_does() -> None:
    cases, told = [], []
    for seed, rules in enumerate([*PRESETS.values(), Rules(rows=3, columns=28, line=3)]):
        random, position = Random(seed), Position.start(rules)
        while position.outcome is None and position.ply < 30:
            position = decide(position, seed)
            position = position.play(random.choice(position.legal_cells))
        line = sorted(position.outcome.line) if position.outcome is not None else []
        cells = range(rules.rows * rules.columns)
        cases.append([json.loads(encode(RulesState.of(rules))), position.board, line])
        open_cells = sorted(position.legal_cells) if position.outcome is None else None
        told.append([[format_cell(cell, rules) for cell in cells], list(cells), open_cells, line])
    answers = evaluate(RULES, FOLDER.as_uri(), json.dumps(cases))
    for (names, parsed, landing, lines), expected in zip(answers, told, strict=True):
        found = [
            names,
            parsed,
            landing if expected[2] is not None else None,
            sorted({cell for run in lines for cell in run}),
        ]
        assert found == expected


def test_the_sign_of_a_player_is_the_same_on_the_page_and_in_the_terminal() -> None:
    players = [f"p-{Random(seed).getrandbits(64):x}" for seed in range(100)]
    found, signs = evaluate(EMBLEMS, FOLDER.as_uri(), json.dumps(players))
    assert found == [[*emblem_of(player)] for player in players]
    assert signs == list_signs(players[:9]) == list_signs(players[8::-1])[::-1]
    in_order = sorted(zip(players, signs, strict=False))
    assert {sign for _, sign in in_order[:7]} == {*SIGNS}
    assert all(sign == emblem_of(player)[0] for player, sign in in_order[7:])
    assert {emblem_of(player)[0] for player in players} == {*SIGNS}


def test_pasted_text_is_cut_to_what_the_server_accepts_and_keeps_the_code() -> None:
    long = "https://tictactoe.example.org/games/"
    pasted = [
        *PASTED,
        f"Join me for a game of tic-tac-toe: {long}K7M4PQ",
        f"{long}k7m4pq?fbclid={'IwAR2' * 20}",
        f"{long}e/K7M4PQ/cards.",
        f"Spiel mit! {'https://' + 'sub.' * 20}example/K7M4PQ",
        "tictactoe-client join K7M4PQ --server http://127.0.0.1:9301 --name ana --plain",
        "Ｋ７Ｍ４ＰＱ",
        "Hello there, are you free for a game this evening? The code is k7m-4pq",
    ]
    cut = evaluate(CUTS, FOLDER.as_uri(), json.dumps(pasted))
    assert [(parse_room_code(text), len(text) <= 64) for text in cut] == [("K7M4PQ", True)] * len(pasted)
    assert evaluate(CUTS, FOLDER.as_uri(), '[" ", "wall", "ladder", "e"]') == ["", "WALL", "LADDER", "E"]
