"""The Gomocup protocol: run an engine as a guest player, or serve the built-in engine to a Gomocup manager."""
