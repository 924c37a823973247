"""Proofs for one scope, however long the runs: by induction, and by clauses that are found on the way."""
