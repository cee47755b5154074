"""What the page opens on: every experiment with its usual settings, computed beforehand.

`python -m benchmarks.laboratory --write` computes it anew. What other weights of a model said is
not used.
"""

import json
from pathlib import Path
from typing import Final

from core.language_models.language_model import LanguageModel
from core.once import once
from core.studies.laboratory.experiment import Experiment, Finding, from_dict
from core.studies.laboratory.settings import Values

FOLDER: Final = Path(__file__).parent


def file_of(experiment: Experiment, model: str) -> Path:
    """Return where a result is; `model` is empty for the embedded one, or where none is asked."""
    return FOLDER / f"{experiment.name}{f'-{model}' if model else ''}.json"


@once
def results_of(name: str) -> tuple[Finding, ...]:
    """Return the results of an experiment that come with the program."""
    paths = (FOLDER / f"{name}.json", *sorted(FOLDER.glob(f"{name}-*.json")))
    return tuple(
        from_dict(json.loads(path.read_text(encoding="utf-8"))) for path in paths if path.exists()
    )


def find(experiment: Experiment, values: Values, model: LanguageModel | None) -> Finding | None:
    """Return the bundled result with these values, of these weights; None where there is none."""
    identity = (model.name, model.revision) if model else ("", "")
    for finding in results_of(experiment.name):
        if (finding.model, finding.revision) == identity and finding.values == values:
            return finding
    return None


def others(experiment: Experiment, model: LanguageModel | None) -> tuple[Finding, ...]:
    """Return what is bundled of other models than the one that is asked."""
    name = model.name if model else ""
    return tuple(result for result in results_of(experiment.name) if result.model not in ("", name))
