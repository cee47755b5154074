"""Datasets of questions with their right answers, each read into the same shape."""
