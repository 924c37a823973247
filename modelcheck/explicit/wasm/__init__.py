"""The kernel of a model as WebAssembly, with what tells of each step, for a page that explores it."""
