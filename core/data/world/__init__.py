"""The embedded model's world: facts whose truth we know, and whether an answer is right."""
