"""The book of connect-four: a solver in C, and the programs that use it."""
