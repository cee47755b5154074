"""The laboratory: an experiment chosen, its settings, what it found, and what to take along."""
