"""Spark itself: a session on this machine or on a cluster, with our code on every worker."""
