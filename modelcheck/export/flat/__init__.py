"""What Promela and Murphi have in common: a check over flat variables, numbers and truth values."""
