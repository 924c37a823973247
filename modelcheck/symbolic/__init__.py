"""The symbolic engines: a solver instead of a search."""
