"""The commands, their shared options, and the end of a run."""
