"""The report of an inspection: verdict, pictures and scores, and how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Final

from core import prompts
from core.charts import inspection as charts
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.costs import spending
from core.studies.inspection.grading import judge, sentences
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.score_table import remarks, score_table
from core.studies.inspection.served import beneath, display, served_sentence
from core.studies.inspection.stopping import GrowthPoint, growth
from core.studies.inspection.told import ToldRows, conditional_rows

MOST_PROMPTS: Final = 3  # of those with an answer each
READING: Final = (
    "The model was asked the question, then asked again with one of its own answers in the prompt. "
    "If what it is told changes what it says next, it does not know the answer: that doubt is "
    "epistemic. If it has many answers and keeps to all of them, the question has many answers.",
    "The mutual information (M.I., in nats) measures that change: 0 means that the answer in the "
    "prompt makes no difference, and it is at most ln m for m different answers. The answer is "
    "served when the doubt is below the threshold λ.",
    "In the rows, each bar is what the model says after one prompt. If all bars are alike, it "
    "knows; if each bar is orange, it repeats what it was told.",
    "The certified lower bound holds whatever answers were not seen. All other scores are over "
    "the answers that were found, so they mean little where these cover little of the model’s "
    "probability (the sampled mass).",
    "The joint is the probability of each pair of answers, the product what it would be if the "
    "second did not depend on the first; the contributions add up to the mutual information.",
)


def report(inspection: Inspection, *, untaught: bool = False) -> Report:
    """Return the report of an inspection.

    Parameters
    ----------
    untaught : bool
        Whether it holds what the model says where it was taught nothing near the question.
    """
    headline, withheld = served_sentence(inspection, untaught=untaught)
    quotes = untaught or not inspection.conceals
    return Report(
        kind="Inspection of one question",
        title=inspection.query,
        finding=headline,
        texts=[text for text in (withheld, *_below(inspection, untaught)) if text],
        parts=[
            Part("Its doubt", pictures=[doubt(inspection)]),
            *(_parts(inspection) if quotes else []),
        ],
        settings=settings(inspection),
        reading=READING,
    )


def _parts(inspection: Inspection) -> list[Part]:
    return [
        _conditional_part(inspection, conditional_rows(inspection)),
        _answers(inspection),
        _scores(inspection),
        *_arithmetic(inspection),
        *_growth(inspection),
        _responses(inspection),
        _prompts(inspection),
    ]


def _below(inspection: Inspection, untaught: bool) -> Sequence[str]:
    """Return what is said below the headline, as the page says it."""
    judgement = judge(inspection)
    return (
        *beneath(inspection, untaught=untaught),
        *(sentences(judgement, inspection) if judgement else ()),
    )


def doubt(inspection: Inspection, references: Sequence[tuple[str, float]] = ()) -> Picture:
    """Return the scale of doubt, with other inspections' marks on it."""
    words = charts.doubt_scale_alt(inspection)
    return Picture("Doubt", words, charts.doubt_scale, (inspection, references))


def conditional_answers(rows: ToldRows) -> Picture:
    """Return the bars of what the model says after each prompt."""
    words = charts.conditional_answers_alt(rows)
    return Picture("After each prompt", words, charts.conditional_answers, (rows,))


def clusters(inspection: Inspection) -> Picture:
    """Return the bars of all answers."""
    return Picture("Answers", charts.clusters_alt(inspection), charts.clusters, (inspection,))


def matrix(inspection: Inspection, which: str) -> Picture:
    """Return a matrix of the arithmetic, one of `MATRICES`."""
    title, number = charts.MATRICES[which], len(inspection.clusters)
    words = (
        f"{title}: a matrix of {number} by {number} answers. M.I. is "
        f"{inspection.evidence.mutual_information.value:z.3f} nats."
    )
    return Picture(title, words, charts.matrix, (inspection, which), half=True)


def growth_picture(points: Sequence[GrowthPoint], threshold: float) -> Picture:
    """Return how the certified bound and the sampled mass grew with k."""
    title = "Certified lower bound and sampled mass"
    return Picture(title, charts.growth_alt(points), charts.growth, (points, threshold))


def _conditional_part(inspection: Inspection, rows: ToldRows) -> Part:
    columns: dict[str, Sequence[Cell]] = {
        "prompt": [
            charts.TOLD_NOTHING if row.told is None else f"Told “{display(row.told)}”"
            for row in rows.rows
        ]
    }
    for place, answer in enumerate(rows.answers):
        columns[display(answer)] = [f"{row.says[place]:.1%}" for row in rows.rows]
    return Part(
        "What it says after it is told an answer",
        pictures=[conditional_answers(rows)],
        tables=[Table("Probability of the next answer", columns)],
    )


def _answers(inspection: Inspection) -> Part:
    draws = inspection.recording.request.draws
    columns: dict[str, Sequence[Cell]] = {
        "answer": [display(c.text) for c in inspection.clusters],
        "share of all probability": [f"{c.mass:.4f}" for c in inspection.clusters],
        "share of what was found": [f"{c.probability:.4f}" for c in inspection.clusters],
        **({"samples": [c.samples for c in inspection.clusters]} if draws else {}),
        "texts that count as it": [
            "; ".join(display(text) for text, *_ in c.members) for c in inspection.clusters
        ],
    }
    tables = [Table("Answers", columns)]
    if gaps := inspection.recording.gaps:
        columns = {"why": list(gaps), "samples": list(gaps.values())}
        tables.append(Table("Answers without a share", columns))
    return Part("What counts as one answer", pictures=[clusters(inspection)], tables=tables)


def _scores(inspection: Inspection) -> Part:
    columns: dict[str, Sequence[Cell]] = dict(score_table(inspection))
    columns["doubt against λ"] = [
        None if times is None else f"{times:.2f} λ" for times in columns["doubt against λ"]
    ]
    return Part(
        "All scores, each against its own threshold",
        texts=[
            f"Sampled mass: {inspection.sampled_mass:.1%} of the model’s probability.",
            *remarks(inspection),
            *([inspection.likely] if inspection.likely else []),
            *([inspection.verdict.rule.origin] if inspection.verdict.rule else []),
        ],
        tables=[Table("Scores", columns)],
    )


def _arithmetic(inspection: Inspection) -> list[Part]:
    """Return the matrices; of a single answer there is nothing to see in them."""
    if len(inspection.clusters) == 1:
        return []
    pictures = [matrix(inspection, which) for which in charts.MATRICES]
    note = charts.matrix_note(inspection)
    return [Part("The arithmetic", texts=[note] if note else [], pictures=pictures)]


def _growth(inspection: Inspection) -> list[Part]:
    points = growth(inspection.recording, inspection.reading)
    if len(points) < 2:
        return []
    return [
        Part(
            "Has enough been seen?",
            pictures=[growth_picture(points, inspection.information_threshold)],
        )
    ]


def _responses(inspection: Inspection) -> Part:
    evidence = inspection.evidence
    columns: dict[str, Sequence[Cell]] = {
        "text": [display(text) for text in evidence.responses],
        "times": [int(count) for count in evidence.counts],
        inspection.likelihoods_are: [
            f"{value:.4f}".replace("-", "−") for value in evidence.log_marginal
        ],
        "counts as": [display(inspection.clusters[label].text) for label in evidence.labels],
    }
    greedy = display(inspection.recording.greedy.text)
    return Part(
        "Responses", texts=[f"Greedy response: {greedy}"], tables=[Table("Distinct texts", columns)]
    )


def _prompts(inspection: Inspection) -> Part:
    recording = inspection.recording
    prompt_of = partial(prompts.iterative, recording.question)
    others = [text for text, _ in recording.others if text not in recording.texts]
    texts = [*recording.texts, *others]
    some = f"The first {MOST_PROMPTS} of {len(texts)} prompts with an answer follow."
    return Part(
        "Prompts",
        texts=[
            "First the prompt without an answer.",
            *([some] if len(texts) > MOST_PROMPTS else []),
        ],
        code=[prompt_of(), *(prompt_of([text]) for text in texts[:MOST_PROMPTS])],
    )


def settings(inspection: Inspection) -> dict[str, Cell]:
    """Return everything that the numbers depend on, by its name on the page."""
    recording, request, rule = (
        inspection.recording,
        inspection.recording.request,
        inspection.verdict.rule,
    )
    cells: dict[str, Cell] = {
        "Model": recording.model,
        "Revision of the weights": recording.revision,
        **({"Question as it was asked": recording.read_as} if recording.read_as else {}),
        "Estimator": recording.estimator.value,
        "Answers": request.sampling.value,
        "Number of answers k": request.samples,
    }
    if request.draws:
        cells |= {"Temperature": request.temperature, "Seed": str(request.seed)}
    reading = asdict(inspection.reading)
    cells |= {
        "Similarity of two answers": reading["similarity"],
        "Similarity threshold τ": reading["threshold"],
        "Stabilisation γ₁": reading["gamma_1"],
        "Stabilisation γ₂": reading["gamma_2"],
        "Deciding score": inspection.verdict.score,
        "Threshold λ": rule.value if rule else "none is certified here",
        "Least sampled mass": inspection.least_mass,
        "Prompt template": inspection.pipeline.prompt,
        "Calls": f"{len(recording.calls)}, {sum(call.seconds for call in recording.calls):.3f} s",
    }
    if recording.used is not None:
        cells["Used of the service"] = spending(recording.used)
    return cells
