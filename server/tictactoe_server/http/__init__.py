"""Plain HTTP: the page for browsers, its files, and text for terminals."""
