"""The stores of rooms, players and finished games. Every write is a compare-and-set, so no write is lost unnoticed."""
