"""What a run of evaluation came to: on the page, in reports, on the command line."""
