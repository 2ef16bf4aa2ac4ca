"""Making the book of connect-four: a solver in C, and what asks it and writes the book."""
