"""The sub-commands of the command line, one module each, loaded only when asked for.

Each has `add_arguments(parser)` and `run(args, output)`, which returns the exit code.
"""
