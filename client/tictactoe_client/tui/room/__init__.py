"""The room screen: its drawing, its keys and clicks, and leaving the room."""
