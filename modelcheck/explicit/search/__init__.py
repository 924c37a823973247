"""The search in rounds on all cores: its states, its counts, its runs, and how it is resumed from disk."""
