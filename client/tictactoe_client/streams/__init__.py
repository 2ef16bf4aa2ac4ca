"""Reads lines from standard input and writes lines to standard output, for terminals, pipes and files."""
