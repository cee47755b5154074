"""Layers around a back end: `stack` says which, and in what order."""
