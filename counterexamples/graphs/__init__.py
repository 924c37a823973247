"""States and the steps between them → a graph, as a picture or for graph tools."""
