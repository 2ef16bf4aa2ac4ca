"""Programs that make what lies in docs/ and is not written by hand."""
