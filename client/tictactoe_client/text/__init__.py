"""The sentences shown to people: pure functions of states, shared by every interface of the client."""
