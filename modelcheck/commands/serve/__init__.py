"""The commands that answer other programs: editors and agents."""
