"""Programs run by hand: generators, benchmarks and long runs (docs/how-to/test-and-measure.md)."""
