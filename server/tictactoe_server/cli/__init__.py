"""The commands of `tictactoe-server` beside serving itself: about its data, and to a server that runs."""
