"""The room screen: drawing, keys and clicks, and leaving."""
