"""What a calibration says, for page, report and command."""
