"""The sentences shown to people: pure functions of states, shared by all interfaces of the client."""
