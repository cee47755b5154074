"""Many questions to a model, each scored by every score, in a run that survives anything."""
