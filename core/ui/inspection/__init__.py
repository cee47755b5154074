"""The parts of the page Inspection, from the question down to the files."""
