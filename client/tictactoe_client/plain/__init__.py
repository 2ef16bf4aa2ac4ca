"""Plain mode: output is only ever appended, never redrawn."""
