"""What a run of a model looks like, and whether it is real; import from the module that owns a name."""
