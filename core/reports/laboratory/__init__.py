"""The experiments of the laboratory, each described once for page, command and shipped results."""
