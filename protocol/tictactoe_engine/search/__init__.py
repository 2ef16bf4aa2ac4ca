"""Searches that find the value of a position and its best moves within a budget."""

from tictactoe_engine.search.analysis import analyse, best_cells
from tictactoe_engine.search.budget import MODEST, Budget
from tictactoe_engine.search.proof import Memory
from tictactoe_engine.search.table import Table, fits_table, solve
from tictactoe_engine.search.value import Analysis, Value

__all__ = ["MODEST", "Analysis", "Budget", "Memory", "Table", "Value", "analyse", "best_cells", "fits_table", "solve"]
