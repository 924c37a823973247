"""How long until the first loss, where faults and repairs have rates: a check as a Markov chain."""
