"""The commands that read a run: show, diff, shrink, graph, play."""
