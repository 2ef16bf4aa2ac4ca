"""The operator's orders. The class of an order defines its command, its fields, its execution and its display."""
