"""The connection to a server: addresses, the socket, requests and answers, reconnecting."""
