"""A person's visit to a server: joining, staying and leaving, as coroutines that every face runs and none repeats."""
