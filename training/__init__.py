"""How the shipped model was made. Needs PyTorch (``requirements/local.txt``)."""
