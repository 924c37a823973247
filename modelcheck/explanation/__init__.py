"""Why a run goes wrong: what is false, which steps it takes, from when on nothing helps."""
