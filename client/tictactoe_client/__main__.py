"""`python -m tictactoe_client` is the command `tictactoe-client`."""

from tictactoe_client.cli.main import main

if __name__ == "__main__":
    main()
