"""The parts of the page Calibration, in the order of the thought: data, target, result, use."""
