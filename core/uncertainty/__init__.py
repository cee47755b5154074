"""The mathematics of "To Believe or Not to Believe Your LLM" (arXiv 2406.02543).

Pure NumPy and SciPy: nothing here asks a model, opens a file or draws. All logarithms are
natural, all entropies and informations in nats. `mutual_information` has the paper's estimators
(Algorithms 1 to 3), `scores` every function of what was recorded, the `evidence`.
"""
