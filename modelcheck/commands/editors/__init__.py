"""`modelcheck lsp`: what editors ask while somebody writes, over the Language Server Protocol."""
