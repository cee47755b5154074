"""A Llama in NumPy."""
