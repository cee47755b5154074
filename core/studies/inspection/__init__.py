"""One question to a model, and everything behind the verdict on its answer."""
