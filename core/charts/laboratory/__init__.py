"""Charts of the laboratory, a module for each experiment."""
