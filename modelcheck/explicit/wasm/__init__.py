"""The kernel of a model as WebAssembly, with a record of each step, for a page that explores it."""
