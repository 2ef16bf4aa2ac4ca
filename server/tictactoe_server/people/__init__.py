"""Players over time: their accounts and names, and how much each of them may do."""
