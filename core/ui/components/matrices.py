"""Clusters, the joint, the product, and what each pair contributes, side by side."""

from typing import Final

import numpy as np

from core.charts.matrices import MATRICES, contribution_reach, shown, tables_of
from core.reports.inspection.words import likelihoods
from core.studies.inspection.conditional_rows import chance
from core.studies.inspection.inspection import Inspection
from core.ui.components.registration import register

mount = register("matrices")

WORDS: Final = {
    "which": "Matrix",
    "told": "told",
    "pair": "Told",
    "then": "then says",
    "sum": "sum",
    "shared": "joint and product",
    "clusters": "Clusters",
    "joint": "Joint",
    "product": "Product",
    "contribution": "Contribution",
    "formula": "joint · ln((joint + γ₁) / (product + γ₂))",
    "nats": "nats",
    "prompt": "The exact prompt of this row",
    "texts": "Under this prompt, the texts in this column",
}

# What the colours of the contributions end at.
LARGEST: Final = "(the largest; root scale)"
FLOOR: Final = "(a quarter of what M.I. may be; root scale)"


def matrices(inspection: Inspection, most: int, *, small: bool = False, key: str) -> None:
    """Draw the `most` likeliest clusters; rows are answers in the prompt, columns come next.

    Small cells may be smaller than a finger, so that many fit.
    """
    m = min(len(inspection.clusters), most)
    tables = tables_of(inspection, m)
    reach = contribution_reach(inspection, m)
    largest = float(max(tables["joint"].max(), tables["product"].max()))
    cells = [[inspection.cell(i, j) for j in range(m)] for i in range(m)]
    content = {
        "names": [shown(cluster.text) for cluster in inspection.clusters[:m]],
        "shares": [round(cluster.probability, 4) for cluster in inspection.clusters[:m]],
        "shares_in_words": [
            chance(cluster.probability, inspection.evidence.row_masses is None)
            for cluster in inspection.clusters[:m]
        ],
        "small": small,
        "matrices": [
            {"key": name, "title": MATRICES[name], "cells": np.round(values, 7).tolist()}
            for name, values in tables.items()
        ],
        # The first two share one scale, or they would look alike however different they are.
        "reach": {"joint": largest, "product": largest, "contribution": reach},
        "scale": LARGEST if reach <= abs(tables["contribution"]).max() else FLOOR,
        "prompts": [row[0].prompt for row in cells],
        "texts": [[shown(text) for text, _ in cell.log_likelihoods] for cell in cells[0]],
        "likelihoods": [
            [
                [round(value, 4) if np.isfinite(value) else None for _, value in c.log_likelihoods]
                for c in row
            ]
            for row in cells
        ],
        "likelihoods_are": likelihoods(inspection),
        "words": WORDS,
    }
    mount(data=content, key=key)
