"""What programs and the pages of others may read over HTTP: public rooms, their games, and events, as JSON."""
