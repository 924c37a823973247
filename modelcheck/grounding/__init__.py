"""A check over flat variables, numbers and truth values: what Promela, Murphi and solvers have in common."""
