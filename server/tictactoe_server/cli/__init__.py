"""The command line: the options, the server process, and the subcommands."""
