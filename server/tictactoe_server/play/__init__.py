"""The requests of players: saying hello, entering rooms, moving, chatting, the lobby, past games."""
