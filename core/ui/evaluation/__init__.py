"""Evaluation: many questions to a model, in a run that can be left and found again."""
