"""The same search on many workers, and sweeps of many searches: see README.md."""
