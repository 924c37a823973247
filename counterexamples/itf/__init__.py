"""The Informal Trace Format, out and in."""
