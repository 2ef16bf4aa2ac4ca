"""Options and examples of `tictactoe-client brain` and `tictactoe-client cup`."""

from __future__ import annotations

from typing import Final

from tictactoe_client.cli.commands import make_command
from tictactoe_client.cli.options import CLOCK, FILE, LEVELS, RULES, Count, Named, Placed, Words

brain: Final = make_command(
    "brain",
    "tictactoe_lab.brain.command.use_engine",
    ("./pbrain-mine", "./pbrain-mine --room K7M4PQ --memory 512", "--clock 5+3 -- ./mine --threads 2", "--serve"),
    Placed(["command"], metavar="[COMMAND]...", nargs=-1),
    Named(["--room"], metavar="CODE|LINK"),
    RULES,
    CLOCK,
    Named(["--memory"], type=Count(1), metavar="N"),
    Named(["--serve"], is_flag=True),
    Named(["--level"], type=Words(LEVELS), default="perfect"),
)
cup: Final = make_command(
    "cup",
    "tictactoe_lab.cup.command.play_cup",
    (
        "--bot medium --bot hard --rules connect-four",
        "--rules gomoku-standard --bot hard --brain ./pbrain-mine --move-seconds 0.5 --concurrency 2",
        "--brain new=./pbrain-new --brain old=./pbrain-old --sprt 0,10",
    ),
    RULES,
    Named(["--bot", "bots"], multiple=True, type=Words(LEVELS)),
    Named(["--brain", "brains"], multiple=True, metavar="COMMAND"),
    Named(["--rounds"], type=Count(1), metavar="N"),
    Named(["--move-seconds"], type=Count(0.01, 3600, float), metavar="N"),
    Named(["--nodes"], type=Count(1), metavar="N"),
    Named(["--sprt"], metavar="ELO0,ELO1"),
    Named(["--concurrency"], type=Count(1, 256), metavar="N", default=1),
    Named(["--out"], metavar="FILE", type=FILE),
    Named(["--openings"], type=Count(0, 32), metavar="N"),
    Named(["--seed"], type=Count(0), metavar="N", default=1),
    needs_server=False,
)
