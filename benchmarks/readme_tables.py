"""Write the measured parts of README and docs: ``python -m benchmarks.readme_tables``.

Between `<!-- NAME -->` and `<!-- end -->` are the numbers of the shipped seed's model card
(``docs/measured/model_card/seed-*.json``), of the bundled policies, of `benchmarks/ladder.py` and
of the laboratory, in whichever page names them. Measures nothing itself; `tests/test_readme.py`
compares.
"""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.model_card import MASS
from benchmarks.shared.measuring import CERTIFIED, SCORE, Wording
from core import outputs
from core.data.world.facts import BY_HEART_FROM, MANY_ANSWERS_EXPOSURES, RARELY_BELOW, Band, facts
from core.language_models.backends.embedded import FOLDER
from core.reports.laboratory.catalogue import QUESTIONS
from core.studies.calibration.calibration import Target, calibrate, read
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.groups import by_group
from core.studies.inspection import estimators
from core.studies.inspection.certificates import EMBEDDED, SMOLLM2, default_policies, default_policy
from core.studies.laboratory.bundled import results_of
from core.uncertainty.scores import SCORES

MEASURED = Path("docs/measured/model_card")
BANDS = {
    Band.BY_HEART: f"{BY_HEART_FROM} or more",
    Band.HALF_KNOWN: f"{RARELY_BELOW} to {BY_HEART_FROM - 1}",
    Band.RARELY: f"1 to {RARELY_BELOW - 1}",
    Band.NEVER_SEEN: "0",
    Band.MANY_ANSWERS: f"{MANY_ANSWERS_EXPOSURES}",
}
RANKED = (*(name for name in SCORES if name != CERTIFIED), CERTIFIED, MASS)

Card = dict[str, Any]


def card() -> Card:
    """Return what was measured of the weights that are in the house."""
    seed = json.loads((FOLDER / "config.json").read_text())["seed"]
    found: Card = json.loads((MEASURED / f"seed-{seed}.json").read_text())
    return found


def world(measured: Card) -> str:
    """Say what the model and its world are."""
    single = [f for f in facts() if f.band is not Band.MANY_ANSWERS]
    run = measured["training"]
    return (
        f"{run['parameters']:,} parameters, {run['documents']:,} documents, "
        f"{run['minutes']:.0f} minutes of training on two busy cores; {len(single):,} single-label "
        f"facts in {len({f.relation for f in single})} relations and {len(facts()) - len(single)} "
        "questions with many right answers."
    )


def bands(measured: Card) -> str:
    """Return the main table, a row for every band."""
    lines = [
        "| band (times shown) | questions | right | M.I. | certified | S.E. | sampled mass |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for band, times in BANDS.items():
        found = measured["wordings"][Wording.TRAINING.value]["bands"][band.value]
        right = " / ".join(
            f"{measured['wordings'][w.value]['bands'][band.value]['greedy_accuracy']:.2f}"
            for w in Wording
        )
        lines.append(
            f"| {band.value} ({times}) | {found['questions']} | {right} | {found[SCORE]:.3f} | "
            f"{found[CERTIFIED]:.3f} | {found['semantic_entropy']:.2f} | {found[MASS]:.2f} |"
        )
    return "\n".join(lines)


def repetition(measured: Card) -> str:
    """Return what is left of the right answer by how often another was repeated, by band."""
    told = measured["repetition"]
    lines = [
        f"| band | {' | '.join(f'{t} ×' for t in told['times'])} |",
        f"| --- |{' --: |' * len(told['times'])}",
    ]
    for band in BANDS:
        shares = " | ".join(f"{share:.3f}" for share in told["medians"][band.value])
        lines.append(f"| {band.value} | {shares} |")
    return "\n".join(lines)


def rankings(measured: Card) -> str:
    """Return how well each score ranks wrong answers."""
    training = measured["wordings"][Wording.TRAINING.value]
    ranked = [name for name in RANKED if name in training["single-label"]]
    titles = [SCORES[name].symbol if name in SCORES else "sampled mass" for name in ranked]
    lines = [f"| | {' | '.join(titles)} |", f"| --- |{' --: |' * len(ranked)}"]
    alone = training["bands"]["single-label"]["questions"]
    questions = {
        "single-label": f"{alone:,} single-label questions",
        "mixture": "250 of them and 250 many-answer ones with S.E. above 0.7",
    }
    for part, words in questions.items():
        values = [training[part][name]["auroc"] for name in ranked]
        cells = [
            (f"**{v:.3f}**" if v == max(values) else f"{v:.3f}").replace("0.", ".") for v in values
        ]
        wrong = training[part][SCORE]["wrong"]
        lines.append(f"| {words}, {wrong:.0%} wrong | {' | '.join(cells)} |")
    return "\n".join(lines)


def policies(measured: Card) -> str:
    """Return what every bundled policy of the embedded model answers for the same promise."""
    return _policies(EMBEDDED)


def real(measured: Card) -> str:
    """Return what those of SmolLM2 answer."""
    return _policies(SMOLLM2)


def _policies(model: str) -> str:
    lines = ["| score | λ | answered | of these wrong |", "| --- | --: | --: | --: |"]
    for name, policy in default_policies(model).items():
        cells = "– | not certifiable | –"
        if policy is not None:
            cells = (
                f"{policy.threshold:.3f} | {policy.answered / policy.labels:.1%} | "
                f"{policy.errors / policy.answered:.1%}"
            )
        lines.append(f"| {SCORES[name].title} | {cells} |")
    return "\n".join(lines)


def groups(measured: Card) -> str:
    """Return what the first look at the bundled example shows of each band."""
    data = read(EXAMPLE.read_bytes(), EXAMPLE.name)
    found = by_group(calibrate(data, Target(score=SCORE, looks=1)))
    lines = ["| band | questions | answered | of these wrong | promised |"]
    lines.append("| --- | --: | --: | --: | --- |")
    lines += [
        f"| {group.name} | {group.queries} | {group.answered} | {group.errors} | "
        f"{'yes' if group.promised else 'no'} |"
        for group in found.groups
    ]
    return "\n".join(lines)


def default(measured: Card) -> str:
    """Say what decides by default."""
    ours, smollm2 = default_policy(), default_policy(SMOLLM2)
    by_rule = " A rule, not people, made the labels." if ours and ours.agreement else ""
    assert ours.pipeline is not None
    return (
        f"By default λ = {ours.threshold:.3f} nats, and answers must cover "
        f"{ours.pipeline.least_mass:.0%} of the probability. {ours.promise}{by_rule} "
        f"Of SmolLM2’s answers, up to {smollm2.target_error:.0%} may be wrong."
    )


def ladder(measured: Card) -> str:
    """Return what every estimator is worth and costs, as the page Inspection shows it."""
    found = estimators.measures()
    lines = [
        f"| | {' | '.join(estimators.TITLES.values())} |",
        f"| --- |{' --: |' * len(estimators.TITLES)}",
    ]
    lines += [f"| {name} | {' | '.join(row)} |" for name, row in estimators.table(found).items()]
    return "\n".join(
        [
            f"{found.questions} questions, half with one right answer and half with many; "
            f"{found.wrong:.0%} are answered wrongly.",
            "",
            *lines,
        ]
    )


def laboratory(measured: Card) -> str:
    """Return what every experiment of the laboratory shows as it is shipped, and its command."""
    lines: list[str] = []
    for question, group in QUESTIONS.items():
        lines += [f"### {question}", ""]
        for experiment in group:
            lines += [f"**{experiment.title}** ({experiment.paper}). {experiment.about}", ""]
            for found in results_of(experiment.name):
                command = experiment.command(found.values)
                if found.values != experiment.usual:  # those of another model are
                    command = experiment.command(found.values, found.model)
                lines += [f"> {found.sentence}", "", f"`{command}`", ""]
    return "\n".join(lines).rstrip()


PARTS = {
    f.__name__: f
    for f in (
        *(world, bands, repetition, rankings, policies, real, groups, default, ladder),
        laboratory,
    )
}


def pages() -> list[Path]:
    """Return the pages that may have measured parts."""
    return [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]


def filled(text: str) -> str:
    """Return a page with its measured parts brought up to date."""
    measured = card()

    def part(match: re.Match[str]) -> str:
        made = PARTS[match["name"]](measured)
        return f"<!-- {match['name']} -->\n{made}\n<!-- end -->"

    return re.sub(r"<!-- (?P<name>[a-z]+) -->\n.*?<!-- end -->", part, text, flags=re.DOTALL)


def main() -> None:
    for path in pages():
        outputs.write(path, filled(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
