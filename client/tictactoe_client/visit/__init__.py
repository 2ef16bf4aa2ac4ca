"""A person's visit to a server: joining, staying and leaving, as coroutines that all user interfaces share."""
