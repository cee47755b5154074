"""The paper's Figures 1 to 3 on the models in the box: what repeating an answer does.

    python -m benchmarks.paper_questions [--out docs/paper-questions.svg]
    python -m benchmarks.paper_questions --record MODEL.gguf --title TITLE [--computed WORDS]

Repeats an answer up to 100 times in the prompt of each of the paper's twelve questions, as the
page Amplification does, and draws what becomes of the other answer: SmolLM2 solid, the embedded
model dashed, a recorded one dotted. Prints when each turns, and both probabilities before any
repetition. The second records the model in a file, which takes minutes a question, and goes on
where it was stopped: these curves come with the program.
"""

import argparse
import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import altair as alt

from benchmarks.recorded_model import absolute, file_and, opened
from core import outputs
from core.charts import export
from core.charts.amplification.curves import Line, initial, small
from core.charts.theme import LIGHT, Chart, theme
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.amplification.bundled import RECORDED, recording, text_of_curves
from core.studies.amplification.curve import DEFAULT_REPETITIONS, Amplification, Case, amplify
from core.studies.amplification.gallery import PAPER

WIDTH, HEIGHT = 190, 110  # pixels
LINE = 36  # characters


CASES = [published.case for group in PAPER.values() for published in group]
Curves = Mapping[Case, Amplification]


def asked(model: LanguageModel) -> Curves:
    """Return a curve for each of the twelve questions."""
    return {case: amplify(case, model, DEFAULT_REPETITIONS) for case in CASES}


def record(weights: Path, named: dict[str, str]) -> None:
    """Write the curves of the model in a file, one after the other."""
    model, before = opened(weights), recording()
    same = before is not None and before.provenance.revision == model.revision
    curves = dict(before.curves) if before and same else {}
    head = file_and(weights, named) | {
        **{"model": model.name, "revision": model.revision},
        **{"form": str(model.form), "date": datetime.now(UTC).date().isoformat()},
    }
    for case in CASES:
        if case not in curves:
            curves[case] = amplify(case, model, DEFAULT_REPETITIONS)
            outputs.write(RECORDED, text_of_curves(head, curves.values()))
            print(case.query, curves[case].crossing, flush=True)


def picture(real: Curves, beside: Mapping[Line, Curves]) -> bytes:
    """Return the twelve curves in the paper's three groups, as an SVG."""
    rows = []
    for title, group in PAPER.items():
        drawn = [_part(one.case, real, beside) for one in group]
        heading = alt.TitleParams(title, anchor="start", fontSize=15)
        rows.append(alt.hconcat(*drawn).properties(title=heading))
    return export.to_svg(theme(alt.vconcat(*rows), LIGHT))


def _part(case: Case, real: Curves, beside: Mapping[Line, Curves]) -> Chart:
    others = {line: curves[case] for line, curves in beside.items()}
    chart = small(real[case], others, LIGHT)
    chart = chart.properties(width=WIDTH, height=HEIGHT, title=_title(case))
    chart.config = alt.Undefined  # the whole picture has one
    return chart


def _title(case: Case) -> alt.TitleParams:
    lines = [*textwrap.wrap(case.query, LINE), ""][:2]  # of all as many, so that they align
    answers = textwrap.wrap(f"{case.answer}, repeated: {case.repeated}", LINE + 4)
    return alt.TitleParams(
        lines, subtitle=[*answers, ""][:2], fontSize=11, subtitleFontSize=10, lineHeight=13
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where to write the picture")
    parser.add_argument("--record", type=absolute, help="the file of a model")
    parser.add_argument("--title", help="what people call it")
    parser.add_argument("--licence", default="Apache-2.0", help="of its weights")
    parser.add_argument("--computed", default="", help="as in: float32, PyTorch on a GPU")
    options = parser.parse_args()
    if options.record:
        named = {name: getattr(options, name) for name in ("title", "licence", "computed")}
        record(options.record, named)
        return
    real = asked(in_its_form(open_model("smollm2"))[0])
    beside: dict[Line, Curves] = {"dashed": asked(open_model("embedded"))}
    models = {"SmolLM2": real, "embedded": beside["dashed"]}
    if larger := recording():
        beside["dotted"] = models[larger.provenance.title] = larger.curves
    print(f"| question | answer, repeated | in the paper | {' | turns | '.join(models)} | turns |")
    print(f"| --- | --- | --- |{' --- | --: |' * len(models)}")
    for one in (one for group in PAPER.values() for one in group):
        cells = [f"{one.answer}, {one.repeated}"]
        for curve in (curves[one.case] for curves in models.values()):
            first, at = curve.points[0], curve.crossing
            values = (first.log_likelihood_answer, first.log_likelihood_repeated)
            cells += [", ".join(map(initial, values)), "never" if at is None else str(at)]
        case = one.case
        print(f"| {case.query} | {case.answer}, {case.repeated} | {' | '.join(cells)} |")
    if options.out:
        outputs.write(options.out, picture(real, beside))


if __name__ == "__main__":
    main()
