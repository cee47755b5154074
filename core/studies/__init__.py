"""What a person asks for, end to end: a study asks the model, computes, and returns.

Studies know nothing of screens and save nothing. Progress and cancelling are one small
protocol, in `progress.py`, that pages and the command line both meet. Whoever is given a model may
raise its `ModelError`, and whoever is given a `Progress` what that raises: docstrings say only when
else.
"""
