"""The search whose states are on disk: sorted runs, merged and subtracted."""
