"""The report of an evaluation: what every score is worth, and one threshold for two kinds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any, Final

import numpy as np

from core.abstention.intervals import ConfidenceBand, Interval
from core.abstention.policy import NOTHING
from core.charts import evaluation as charts
from core.charts.paper_figures import MIXTURE_TITLES, PAPERS
from core.codec import count_of
from core.reports.evaluation import mixtures, words
from core.reports.paper_figures import mixture, precision_recall
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.evaluation.mixing import kinds, mix, sources
from core.studies.evaluation.results import CONFIDENCE, RunMeasures
from core.studies.evaluation.row_table import QuestionPoints
from core.studies.evaluation.rows import RIGHT_BY
from core.studies.evaluation.run import reading_in
from core.studies.evaluation.score_comparison import (
    LARGER_IS_BETTER,
    ScoreComparison,
    auroc_of,
    compare,
    lead,
    ranking,
)
from core.uncertainty.scores import SCORES

READING: Final = (
    "A model was asked questions whose right answers are known. Every score says how much to doubt "
    "each answer. A good one doubts the wrong answers more than the right ones.",
    "AUROC is the probability that a wrong answer is doubted more than a right one: 1 is perfect, "
    "one half is chance. AURC is the share of wrong answers among those given, AUGRC that among "
    "all questions, on average over all shares answered: less is better. PRR is 0 for a random "
    "score and 1 for a perfect one.",
    "Precision by recall, the paper’s Figure 5: how many of the given answers are right, as more "
    "and more questions are answered, the least doubtful first.",
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
        finding=" ".join(words.answer(measured)) or f"Rows that count here: {len(results):,}.",
        texts=[
            *filter(None, [mixtures.finding(results)]),
            *results.run.extent,
            *results.run.notes,
            *results.dropped,
            *words.labels(results),
            *words.missing_scores(results),
            *words.right_half(results),
            *words.curve_ends(results),
        ],
        parts=[*_reading(manifest), _scores(measured), *_mixture(measured)],
        settings=_settings(measured, manifest),
        reading=READING,
    )


def _reading(manifest: Mapping[str, Any]) -> list[Part]:
    lines = reading_in(manifest)
    return [Part("What was read", lines)] if lines else []


def aurocs(measured: RunMeasures) -> Picture:
    """Return the AUROC of every score, and how far each is behind the one to use.

    The largest comes first; the score to use is blue, a ring is one that may be as good: its
    interval of the difference, on the same questions, reaches 0. Where there is none to use, the
    intervals are of the AUROCs, beside chance. They hold for all scores together. Those of
    `words.exclusions` are not there.
    """
    best, names = lead(measured), ranking(measured)
    assert best is not None, "there is an AUROC"
    use = best.score if best.others and best.beats_chance else ""
    behind = {each.other: each.difference for each in best.others if use}
    rows = []
    for name in names:
        of = auroc_of(measured, name, names)
        ends = f"{of.lower:.0%} to {of.upper:.0%}" * (not use and math.isfinite(of.lower))
        at = behind.get(name, Interval(0.0, math.nan, math.nan)) if use else of
        value, lower, upper = ((100 if use else 1) * each for each in astuple(at))
        numbers = value, lower, upper, f"{of.value:.0%}", ends
        looks = not use or name not in best.rivals, name == use
        rows.append(charts.Estimate(SCORES[name].title, SCORES[name].sign, *numbers, *looks))
    each = (
        f"{row.name} ({row.sign}) {row.number}{f' ({row.note})' * bool(row.note)}"
        f"{words.RING * (not row.is_shown)}"
        for row in rows
    )
    alt = f"{charts.WRONG_FIRST}, the largest first: {'; '.join(each)}. Chance: 50%."
    lines = [f"lines: joint {CONFIDENCE:.0%} intervals"] * bool(measured.number)
    key = [f"points behind {SCORES[use].title}", *words.KEY] if use else [f"{charts.WRONG_FIRST} →"]
    axis = "\n".join([*key, *lines])
    line = (0.0, "", "of pairs", "") if use else (0.5, "chance", "", "")
    return Picture(
        "Which doubt finds the wrong answers",
        " ".join([alt, *(f"{each.capitalize()}." for each in (*key[: bool(use)], *lines))]),
        charts.estimates,
        (rows, line, axis, ".0f" if use else ".0%"),
    )


def differences(every: Sequence[ScoreComparison]) -> Picture:
    """Return by how much one score exceeds every other that it can be compared with."""
    some = [each for each in every if not math.isnan(each.difference.value)]
    measure = every[0].measure
    some = sorted(some, key=lambda each: each.values[1], reverse=LARGER_IS_BETTER[measure])
    rows = []
    for each in some:
        info, of = SCORES[each.other], each.difference
        row = (info.title, info.sign, of.value, of.lower, of.upper, words.difference(each))
        rows.append(charts.Estimate(*row, is_shown=each.is_significant))
    alt = " ".join(map(words.comparison, some))
    axis = f"{measure.upper()} of {charts.symbol_of(every[0].score)} minus the other’s"
    content = rows, (0.0, "alike", "", "○ not shown to differ"), axis, ".2f"
    return Picture("Differences", alt, charts.estimates, content)


def scatter(points: QuestionPoints) -> Picture:
    """Return the questions by their entropy and their mutual information, with the medians."""
    title = "Semantic entropy against mutual information"
    medians = [
        f"{count_of(int(here.sum()), f'{name} answer')} with a median S.E. of "
        f"{np.median(points.entropy[here]):.2f} and a median M.I. of "
        f"{np.median(points.information[here]):.2f} nats"
        for name, here in (("right", points.right), ("wrong", ~points.right))
        if here.any()
    ]
    return Picture(title, f"{title}: {'; '.join(medians)}.", charts.scatter, (points,))


def _scores(measured: RunMeasures) -> Part:
    bands: dict[str, ConfidenceBand] = {
        name: measured.bands[name] for name in PAPERS if name in measured.results.scores
    }
    pictures = [aurocs(measured), precision_recall(bands)] if ranking(measured) else []
    reference = next(iter(measured.results.scores), None)
    others = compare(measured, reference) if measured.number and reference else ()
    columns: dict[str, Sequence[Cell]] = dict(words.score_columns(measured))
    return Part(
        "What every score is worth",
        [
            words.intervals(measured),
            *words.exclusions(measured.results),
            *map(words.comparison, others),
        ],
        pictures,
        [Table("Every score", columns)],
    )


def _mixture(measured: RunMeasures) -> list[Part]:
    results = measured.results
    by_kind = kinds(sources(results))
    mixed = mix(results, by_kind.single, by_kind.many)
    if not mixed.mixtures:
        return []
    pictures = [mixture(mixed.mixtures, measure) for measure in MIXTURE_TITLES]
    return [
        Part(
            "One threshold for two kinds",
            [mixtures.two_kinds(by_kind), *mixtures.mixtures(mixed)],
            pictures,
        )
    ]


def _settings(measured: RunMeasures, manifest: Any) -> dict[str, Cell]:
    results, pipeline = measured.results, measured.results.run.pipeline
    gammas = pipeline.gamma_1, pipeline.gamma_2
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
        "Tokens of an answer, at most": pipeline.answer_tokens,
        "Seed": str(manifest["seed"]),
        "Estimator": pipeline.estimator,
        "Similarity, and τ": f"{pipeline.similarity}, {pipeline.tau:g}",
        **({"γ₁, γ₂": ", ".join(f"{gamma:g}" for gamma in gammas)} if any(gammas) else {}),
        "Least sampled mass": pipeline.least_mass,
        **({"In front of each prompt": pipeline.front} if pipeline.front != NOTHING else {}),
        **({"System prompt": str(system)} if (system := manifest.get("system")) else {}),
        "Begun, ended": f"{manifest['begun']}, {manifest['ended'] or 'not yet'}",
        "Asked with": ", ".join(f"{name} {at}" for name, at in manifest["versions"].items()),
    }
