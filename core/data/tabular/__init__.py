"""Tables of strangers coming in, each cell hostile until read; tables going out."""
