"""`python -m tictactoe_server` is the command `tictactoe-server`."""

from tictactoe_server.cli.main import main

if __name__ == "__main__":
    main()
