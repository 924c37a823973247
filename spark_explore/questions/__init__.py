"""Questions as DataFrames: equal ones are asked once, by one job."""
