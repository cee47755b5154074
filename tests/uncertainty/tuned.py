"""Hyperparameters given one by one, as tests like to write them."""

from dataclasses import fields

from core.uncertainty.evidence import Hyperparameters


def tuned(options):
    """Return options for a builder of evidence, with those that are hyperparameters together."""
    names = {field.name for field in fields(Hyperparameters)}
    own = {name: value for name, value in options.items() if name in names}
    others = {name: value for name, value in options.items() if name not in names}
    return {**others, "parameters": Hyperparameters(**own)}
