"""The operator's orders, one class each: what is sent, typed and printed, and what it does where."""
