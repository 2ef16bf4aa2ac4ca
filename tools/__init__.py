"""Programs run by hand: generators, benchmarks and long runs (CONTRIBUTING.md)."""
