"""What several machines do when one of them fails: the soak's faults, one of each kind, in one cluster."""
