"""The laboratory: the paper's claims tried where the truth is known."""
