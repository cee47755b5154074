"""What repeating an answer does to a model (the paper's Section 3)."""
