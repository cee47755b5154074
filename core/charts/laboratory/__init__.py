"""Charts of the laboratory, a module an experiment; each draws what `Outcome.drawn` holds."""
