"""The report of an evaluation: what every score is worth, and one threshold for two kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.abstention.intervals import ConfidenceBand
from core.abstention.metrics import MEASURES
from core.abstention.mixtures import Mixture
from core.charts import evaluation as charts
from core.codec import count_of
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.evaluation.comparison import compare, percent, with_interval
from core.studies.evaluation.mixing import finding, kinds, mix, sources
from core.studies.evaluation.results import RunMeasures
from core.studies.evaluation.rows import RIGHT_BY
from core.uncertainty.scores import SCORES

READING: Final = (
    "A model was asked questions whose right answers are known. Every score says how much to doubt "
    "each answer. A good one doubts the wrong answers more than the right ones.",
    "AUROC is the probability that a wrong answer is doubted more than a right one: 1 is perfect, "
    "one half is a coin. AURC and AUGRC weigh what is wrong among the answered, over all shares "
    "answered: less is better. PRR is how far a score comes from chance, 0, to perfection, 1.",
    "Precision by recall, the paper’s Figure 5: the more questions are answered, the least "
    "doubtful first, the smaller the share that is right.",
    "Figure 6: one threshold for questions with one right answer and with many. A threshold on "
    "entropy gives up where there are many; mutual information need not.",
)


def report(measured: RunMeasures) -> Report:
    """Return the report of the rows of a run that count, at least one."""
    results = measured.results
    manifest, pipeline = results.run.manifest, results.run.pipeline
    questions = manifest["questions"]
    return Report(
        kind="Evaluation of a model",
        title=f"{pipeline.model} on {questions['name']}",
        finding=finding(results) or f"{count_of(len(results), 'row')} count here.",
        texts=[*results.dropped, *results.gaps],
        parts=[_scores(measured), *_mixture(measured)],
        settings=_settings(measured, manifest),
        reading=READING,
    )


def score_columns(measured: RunMeasures) -> dict[str, list[str]]:
    """Return what every score is worth, by heading."""
    return {
        "score": [info.title for info in SCORES.values()],
        "symbol": [info.symbol for info in SCORES.values()],
        "right": [percent(measured.results.right(name)) for name in SCORES],
        **{
            measure.upper(): [with_interval(measured.interval(name, measure)) for name in SCORES]
            for measure in MEASURES
        },
    }


def precision_recall(bands: Mapping[str, ConfidenceBand]) -> Picture:
    """Return the paper's Figure 5 of some scores."""
    words = charts.precision_recall_alt(bands)
    return Picture("Precision by recall", words, charts.precision_recall, (bands,))


def mixture(mixtures: Sequence[Mixture], measure: str) -> Picture:
    """Return a half of the paper's Figure 6."""
    words, title = charts.mixture_bars_alt(mixtures, measure), charts.MIXTURE_TITLES[measure]
    return Picture(title, words, charts.mixture_bars, (mixtures, measure), half=True)


def scatter(points: charts.Points) -> Picture:
    """Return the questions by their entropy and their mutual information."""
    title = "Semantic entropy against mutual information"
    return Picture(title, charts.scatter_alt(points), charts.scatter, (points,))


def _scores(measured: RunMeasures) -> Part:
    bands: dict[str, ConfidenceBand] = {
        name: measured.bands[name] for name in charts.PAPERS if name in measured.results.scores
    }
    pictures = [precision_recall(bands)] if bands else []
    reference = next(iter(measured.results.scores), None)
    others = compare(measured, reference) if measured.number and reference else ()
    columns: dict[str, Sequence[Cell]] = dict(score_columns(measured))
    return Part(
        "What every score is worth",
        [measured.sentence, *(each.sentence for each in others)],
        pictures,
        [Table("Every score", columns)],
    )


def _mixture(measured: RunMeasures) -> list[Part]:
    results = measured.results
    by_kind = kinds(sources(results))
    mixed = mix(results, by_kind.single, by_kind.many)
    if not mixed.found:
        return []
    pictures = [mixture(mixed.found, measure) for measure in charts.MIXTURE_TITLES]
    return [Part("One threshold for two kinds", [by_kind.how, *mixed.sentences], pictures)]


def _settings(measured: RunMeasures, manifest: Any) -> dict[str, Cell]:
    results, pipeline = measured.results, measured.results.run.pipeline
    return {
        "Model": pipeline.model,
        "Revision of the weights": pipeline.revision,
        "Form": str(manifest["form"]),
        "Questions": f"{manifest['questions']['name']}, SHA-256 {manifest['questions']['sha256']}",
        "Rows that count": len(results),
        "An answer is right by": RIGHT_BY[results.match],
        "Answers to a question, k": pipeline.samples,
        "Temperature": pipeline.temperature,
        "Sampling": pipeline.sampling,
        "Seed": str(manifest["seed"]),
        "Estimator": pipeline.estimator,
        "Similarity, and τ": f"{pipeline.similarity}, {pipeline.tau:g}",
        "Least sampled mass": pipeline.least_mass,
        "Begun, ended": f"{manifest['begun']}, {manifest['ended'] or 'not yet'}",
        "Asked with": ", ".join(f"{name} {at}" for name, at in manifest["versions"].items()),
    }
