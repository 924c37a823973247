"""Programs for those who develop modelcheck, which no wheel has."""
