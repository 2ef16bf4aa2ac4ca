"""What people are told: pure functions from states to sentences, shared by every face of the client."""
