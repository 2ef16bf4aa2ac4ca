"""JSON mode: one object a line, for scripts."""
