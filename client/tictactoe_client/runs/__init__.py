"""How a run goes to its end: the signals that stop it, what failed in words, and the exit code."""
