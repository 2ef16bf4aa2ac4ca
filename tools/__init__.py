"""Programs that are run by hand: they make documents and pictures, measure, and run long (docs/developing.md)."""
