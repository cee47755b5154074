"""Any causal language model that transformers can run."""
