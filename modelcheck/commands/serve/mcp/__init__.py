"""`modelcheck serve mcp`: what agents may ask, over the Model Context Protocol."""
