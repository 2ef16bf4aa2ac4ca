"""Standard input and output as lines, whatever they are connected to."""
