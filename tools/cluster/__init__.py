"""A trial cluster by one command."""
