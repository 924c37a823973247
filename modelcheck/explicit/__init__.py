"""The explicit engine: the fault-layered search over packed states, at native speed."""
