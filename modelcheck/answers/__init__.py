"""What a check found, as people and programs see it: cards, pages, JSON, progress."""
