"""What curves of amplification say: on the page, in reports, on the command line."""
