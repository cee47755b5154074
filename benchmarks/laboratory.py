"""What the laboratory opens on: ``python -m benchmarks.laboratory [--write] [NAME …]``.

Runs every experiment, or those named, with its usual settings, prints its sentence and how long it
took, and with ``--write`` saves what the page ships. Run it again whenever the weights have
changed: results of other weights are not shown.
"""

import argparse
import time

from core import outputs
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.reports.laboratory.catalogue import EXPERIMENTS
from core.studies.laboratory.bundled import file_of
from core.studies.laboratory.experiment import EMBEDDED, AskedModel, Experiment, to_json


def _run(experiment: Experiment, name: str, *, write: bool) -> None:
    model: LanguageModel | None = None
    if name:
        model = in_its_form(open_model(name))[0]
    began = time.perf_counter()
    finding = experiment.run(experiment.also.get(name, {}), model)
    print(f"{experiment.name} {name}: {time.perf_counter() - began:.1f} s. {finding.sentence}\n")
    if write:
        file = file_of(experiment, "" if name == EMBEDDED else name)
        outputs.write(file, to_json(finding))
        print(f"{file.name}: {file.stat().st_size:,} bytes\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="save what the page ships")
    parser.add_argument("--model", help="only with this model")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these experiments")
    options = parser.parse_args()
    for name in options.names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        models = [""] if experiment.asks is AskedModel.NOTHING else [EMBEDDED, *experiment.also]
        for model in models:
            if options.model in (None, model):
                _run(experiment, model, write=options.write)


if __name__ == "__main__":
    main()
