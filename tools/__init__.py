"""Programs run by hand: generators of documents and pictures, benchmarks, and long runs (docs/developing.md)."""
