"""Benchmarks: each module measures one thing and prints its figures."""
