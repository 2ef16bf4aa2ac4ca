"""Long runs, and what their players, their ledger and their witness are."""
