"""What grows with what: each part measures the server at several sizes and prints the exponent of the curve."""
