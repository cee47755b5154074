"""How the bundled policies decide."""

from core.studies.inspection.certificates import EMBEDDED, default_policy
from core.studies.inspection.verdict import DEFAULT, rule_of


def default_rule(model=EMBEDDED):
    """How the bundled policy of a model in the box decides."""
    return rule_of(default_policy(model), f"{DEFAULT} ")
