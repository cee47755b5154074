"""What an inspection came to: on the page, in reports, on the command line."""
