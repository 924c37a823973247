"""Why a run goes wrong, and the smallest run that goes wrong in the same way."""
