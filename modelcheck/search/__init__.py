"""The fault-layered search over the interpreter: the reference engine, and what every search shares."""
