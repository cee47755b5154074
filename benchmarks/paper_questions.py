"""The paper's Figures 1 to 3 on the models in the box: what repeating an answer does.

    python -m benchmarks.paper_questions [--out docs/paper-questions.svg]

Repeats an answer up to 100 times in the prompt of each of the paper's twelve questions, as the
page Amplification does, and draws what becomes of the other answer: SmolLM2 solid, the embedded
model dashed. Prints when either model turns, and both probabilities before any repetition.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

import altair as alt

from core import outputs
from core.charts import export
from core.charts.amplification.curves import initial, small
from core.charts.theme import LIGHT, Chart, theme
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.amplification.curve import DEFAULT_REPETITIONS, Amplification, amplify
from core.studies.amplification.gallery import PAPER, Published

WIDTH, HEIGHT = 190, 110  # pixels
LINE = 36  # characters


def asked(model: LanguageModel) -> dict[Published, Amplification]:
    """Return a curve for each of the twelve questions."""
    every = [published for group in PAPER.values() for published in group]
    return {one: amplify(one.case, model, DEFAULT_REPETITIONS) for one in every}


def picture(real: dict[Published, Amplification], ours: dict[Published, Amplification]) -> bytes:
    """Return the twelve curves in the paper's three groups, as an SVG."""
    rows = []
    for title, group in PAPER.items():
        drawn = [_part(one, real[one], ours[one]) for one in group]
        heading = alt.TitleParams(title, anchor="start", fontSize=15)
        rows.append(alt.hconcat(*drawn).properties(title=heading))
    return export.to_svg(theme(alt.vconcat(*rows), LIGHT))


def _part(one: Published, real: Amplification, ours: Amplification) -> Chart:
    chart = small(real, ours, LIGHT).properties(width=WIDTH, height=HEIGHT, title=_title(one))
    chart.config = alt.Undefined  # the whole picture has one
    return chart


def _title(one: Published) -> alt.TitleParams:
    case = one.case
    lines = [*textwrap.wrap(case.query, LINE), ""][:2]  # of all as many, so that they align
    answers = textwrap.wrap(f"{case.answer}, repeated: {case.repeated}", LINE + 4)
    return alt.TitleParams(
        lines, subtitle=[*answers, ""][:2], fontSize=11, subtitleFontSize=10, lineHeight=13
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where to write the picture")
    options = parser.parse_args()
    real, ours = asked(in_its_form(open_model("smollm2"))[0]), asked(open_model("embedded"))
    print("| question | answer, repeated | in the paper | SmolLM2 | turns | embedded | turns |")
    print("| --- | --- | --- | --- | --: | --- | --: |")
    for group in PAPER.values():
        for one in group:
            cells = [f"{one.answer}, {one.repeated}"]
            for found in (real[one], ours[one]):
                first = found.points[0]
                values = (first.log_likelihood_answer, first.log_likelihood_repeated)
                at = found.crossing
                cells += [", ".join(map(initial, values)), "never" if at is None else str(at)]
            case = one.case
            print(f"| {case.query} | {case.answer}, {case.repeated} | {' | '.join(cells)} |")
    if options.out:
        outputs.write(options.out, picture(real, ours))


if __name__ == "__main__":
    main()
