"""From labelled scores to a policy that keeps its promise, or a plain no."""
