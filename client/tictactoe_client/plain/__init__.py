"""Plain mode: a transcript that only ever grows."""
