"""What things cost: each module is a program that measures one of them and prints its figures."""
