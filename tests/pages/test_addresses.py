"""Addresses that anybody may have written: never a traceback, and a sentence where one is wrong."""

import ast
from pathlib import Path
from typing import Any

import pytest

from core.reports.laboratory.catalogue import EXPERIMENTS
from core.ui import addresses
from tests.sessions import said, session

ROOT = Path(__file__).parents[2]
OWN, WORLD, MECHANISM = ({"tab": tab} for tab in ("Your question", "Embedded world", "Mechanism"))
BOUND: dict[str, list[list[Any]]] = {
    "inspection": [
        [
            *("k", "temperature", "seed", "gamma_1", "gamma_2", "similarity", "tau", "sampling"),
            "answer_tokens",
        ]
    ],
    "amplification": [
        ["tab"],
        [OWN, "most", "scale"],
        [WORLD, "each", "draw"],
        [MECHANISM, "in_span", "copies", "dimension", "heads_at"],
    ],
    "calibration": [["method", "wrong", "sure"]],
    "evaluation": [["run", "results"]],
    "laboratory": [
        [{"experiment": name}, *(f"{name}_{field.name}" for field in experiment.fields)]
        for name, experiment in EXPERIMENTS.items()
    ],
    "questions": [["words", "subject", "band"]],
    "history": [["history_words", "history_kind", "saved"]],
}
TYPED = {"inspection": ["q", "model"], "amplification": ["query", "answer", "repeated", "kept"]}

HALF_A_SURROGATE = b"\xed\xa0\xbd"  # as an address spells it


@pytest.mark.parametrize(
    ("page", "keys"), [(page, keys) for page, groups in BOUND.items() for keys in groups]
)
def test_no_address_makes_a_page_fail(page, keys):
    tab = next((key for key in keys if isinstance(key, dict)), {})
    names = [key for key in keys if isinstance(key, str)]
    app = session(
        page, **{k: ("1e999", HALF_A_SURROGATE)[i % 2] for i, k in enumerate(names)}, **tab
    )
    wrong = {sentence.split()[3] for sentence in said(app, "The address gives ")}
    assert wrong == numbers() & {*names}


def numbers():
    """The numbers that are on these pages as they open: what does not apply is not asked for."""
    of_experiments = {
        f"{name}_{field.name}"
        for name, experiment in EXPERIMENTS.items()
        for field in experiment.fields
        if field.kind is not str and not field.options and field.applies(experiment.usual)
    }
    return {*addresses.LABELS} | of_experiments


@pytest.mark.parametrize("page", TYPED)
def test_no_typed_text_makes_a_page_fail(page):
    for value in ("\x00", HALF_A_SURROGATE):
        session(page, **dict.fromkeys(TYPED[page], value))


def test_every_name_in_an_address_is_tried_here():
    groups = [group for groups in BOUND.values() for group in groups] + [*TYPED.values()]
    assert keys_in_addresses() <= {key for group in groups for key in group if isinstance(key, str)}


def keys_in_addresses() -> set[str]:
    """Return the keys of all widgets that stand in the address."""
    found = set(addresses.LABELS)
    for path in [*(ROOT / "core/ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                named = {k.arg: k.value for k in node.keywords}
                key = named.get("key")
                if "bind" in named and isinstance(key, ast.Constant):
                    found.add(str(key.value))
    return found
