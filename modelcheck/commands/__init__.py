"""The commands of the command line, one module each, in a folder for each group: arguments → printed answers.

`registry.py` has the table of all.  Each module has `add_arguments(parser)` and `run(args, output)`, which
returns the exit code; it is loaded only for its own command.
"""
