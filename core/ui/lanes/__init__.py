"""The lanes and the challenge of the home page, drawn in the browser by a component of our own."""
