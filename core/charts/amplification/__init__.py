"""Charts of curves, and of the mechanism behind them."""
