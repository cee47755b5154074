"""Models in a GGUF file, the format of llama.cpp, served by our own runtime."""
