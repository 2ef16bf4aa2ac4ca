"""A cluster to try things on, by one command."""
