"""What the questions are: the embedded world's tables and how to read them."""
