"""The conversation with a server: its address, the socket, requests and their answers, coming back."""
