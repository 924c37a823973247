"""`modelcheck serve lsp`: what editors ask while a text is edited, over the Language Server Protocol."""
