"""What answers: each back end is one file or folder, named in `registry`."""
