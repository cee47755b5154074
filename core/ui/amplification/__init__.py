"""The parts of the page Amplification: the form, the curves, the gallery, the mechanism."""
