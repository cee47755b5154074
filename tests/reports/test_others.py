"""The reports of calibrations, curves and experiments have the numbers of these results."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from core.charts.laboratory.catalogue import PICTURES
from core.reports.amplification import document
from core.reports.amplification.words import in_words
from core.reports.calibration import document as calibration
from core.reports.calibration.words import by_headline
from core.reports.evaluation.document import report as evaluation_report
from core.reports.evaluation.mixtures import finding
from core.reports.evaluation.words import answer
from core.reports.laboratory import document as laboratory
from core.reports.laboratory.catalogue import EXPERIMENTS
from core.reports.laboratory.rulings import sentences
from core.reports.text import curve_ends
from core.studies.amplification.curve import Case, amplify
from core.studies.amplification.serialise import to_table
from core.studies.calibration import calibration as study
from core.studies.calibration.calibration import Target, calibrate, move_threshold
from core.studies.calibration.price_list import TARGETS, price_list
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.results import measure_run, read_results
from core.studies.evaluation.saved_run import Run
from core.studies.laboratory.bundled import results_of
from tests.fakes import Counted, Turning
from tests.hostile import SCRIPT, TEXTS
from tests.reports.reading import read
from tests.studies.calibration.test_groups import rows

FIRST = "mutual_information"
GROUPS = ("here", 300, 3), ("there", 300, 3)


def calibrated(data, **target):
    return calibrate(data, Target(**{"score": "s0"} | target))


def test_a_row_without_a_doubt_is_withheld_at_any_limit():
    """Whether too little was seen of it, or something else forbids to serve its answer."""
    file = Path(study.__file__).with_name("smollm2_world.csv")
    data = study.read(file.read_bytes(), file.name)
    made = calibrate(data, Target(error=0.5, score="weighted_doubt"))
    unseen = int(np.isnan(made.doubts).sum())
    assert unseen > 0
    perhaps, withheld, untold = by_headline(made, None)
    wrong = int((~made.correct & np.isnan(made.doubts)).sum())
    assert (untold.number, untold.counted) == (
        *(unseen, f"{wrong / unseen:.1%}: {wrong:,}/{unseen:,}"),
    )
    assert perhaps.number + withheld.number + unseen == made.policy.labels


def test_a_calibration_says_its_promise_its_price_and_its_groups():
    made = calibrated(rows(*GROUPS))
    prices, policy = price_list(made.data, made.target), made.policy
    found = read(calibration.report(made, prices=prices))
    plain = calibration.report(made)  # a price list is another look
    assert "Price list" not in [table.title for part in plain.parts for table in part.tables]
    assert found.texts[3] == policy.sentence
    assert [text for text in found.texts if "this answers 606 (100.0%), 6 of them wrong" in text]
    prices = found.tables["Price list"][1:]
    assert [row[0] for row in prices] == [f"{100 * target:.0f}%" for target in TARGETS]
    assert prices[0][1:] == ["no promise", "–"]  # at a seventh of δ
    assert prices[-1][1:] == ["100.0%", "s0 < ∞"]
    assert found.tables["Groups"][1:] == [["here", "303", "303", "3"], ["there", "303", "303", "3"]]
    assert found.settings["Target error α"] == "5%" and found.settings["Score"] == "s0"
    assert float(found.settings["Threshold λ, of the doubt"]) == policy.threshold
    assert len(found.pictures) == 3


def test_a_look_without_a_promise_is_counted_and_has_no_confidence():
    data = rows(*GROUPS)
    first = calibrate(data, Target(score="s0"), looks=())
    later = calibrate(data, Target(score="s0", method="empirical"), looks=first.looks)
    found, sure = read(calibration.report(later)), read(calibration.report(first))
    assert [of.settings["Look at these labels"] for of in (sure, found)] == ["1", "2"]
    assert "Confidence 1 − δ" in sure.settings.keys() - found.settings.keys()
    about, texts = {*calibration.OF_PROMISE}, {*found.texts}
    assert about < {*sure.texts} and not about & texts
    assert any(text.startswith("Looks before it: s0: at most 5%") for text in texts)


def test_a_calibration_says_why_its_curves_end():
    data = rows(*GROUPS)
    data.doubts["s0"][:303] = np.nan
    (text,) = [t for t in read(calibration.report(calibrated(data))).texts if "curves end" in t]
    assert text.startswith("Of 303 of 606 questions no score has a value")
    assert text.endswith("a recall of 50% at most.")
    (text,) = curve_ends({"s": np.append(np.zeros(399), np.nan)}, "too little was seen")
    assert text.endswith("a recall of 99.75% at most.")


def test_a_calibration_without_a_promise_says_why_and_a_moved_threshold_promises_nothing():
    made = calibrated(rows(("all", 5, 5)))
    by_hand = move_threshold(made, 1.0)
    found = read(calibration.report(made, by_hand))
    assert found.texts[3] == made.outcome.reason and "Groups" not in found.tables
    assert [
        text for text in found.texts if text.startswith("λ by hand.") and by_hand.sentence in text
    ]


def test_hostile_headings_and_groups_stay_text():
    text, data = " ".join(TEXTS), rows(*((text, 300, 3) for text in TEXTS))
    named = {"doubts": {text: data.doubts["s0"]}, "correct": {text: data.correct["s0"]}}
    data = replace(data, name=text, surer={text: False}, **named)
    found = read(calibration.report(calibrated(data, score=text)))
    assert found.settings["Score"] == found.settings["File"] == text
    assert {row[0] for row in found.tables["Groups"][1:]} == {*TEXTS}


@pytest.mark.parametrize("model", [Turning(), Counted(lambda told: ["one", "two"])])
def test_curves_have_every_point(model):
    made = amplify(Case(SCRIPT, "one", "two"), model, (0, 1, 5, 20))
    found = read(document.report([made, made]))
    table = found.tables["Every point of curve 1"]
    assert table == found.tables["Every point of curve 2"]
    assert table[0] == list(to_table([made]))[3:] and len(table) == 5
    assert table == read(document.report([made])).tables["Every point"]
    assert found.texts[2:5] == [SCRIPT, *in_words(made)]
    shares = [float(row[table[0].index("P(answer to test) of the two")]) for row in table[1:]]
    assert shares == pytest.approx([p.normalised_probability for p in made.points], rel=1e-3)
    assert found.settings["Repetitions"] == "0, 1, 5, 20"


@pytest.mark.parametrize("name", ["estimator", "missing_mass", "deciding"])  # one of each kind
def test_experiments_say_what_they_show_and_how_to_see_it_again(name):
    made = results_of(name)[0]
    found = read(laboratory.report(made))
    assert found.texts[2:6] == [EXPERIMENTS[name].title, *sentences(made)]
    assert EXPERIMENTS[name].command(made.values) in found.texts
    rows_shown = min(500, len(next(iter(made.columns.values()))))
    assert len(found.tables["The table behind it"]) == 1 + rows_shown
    drawn = [each for each in PICTURES[name] if each.there(made.drawn)]
    captions = [each.caption.replace("**", "") for each in drawn if each.caption]
    assert captions and set(captions) <= set(found.texts)
    assert found.pictures and not [text for text in found.texts if "**" in text]
    fields = EXPERIMENTS[name].fields
    applying = {field.label for field in fields if field.applies(made.values)}
    assert found.settings.keys() & {field.label for field in fields} == applying
    assert (len(applying) < len(fields)) == (name != "estimator")  # what nobody asked is no setting


def test_an_evaluation_says_what_every_score_is_worth_and_what_it_was_asked():
    run = Run(folders()["embedded_world"])
    made = measure_run(read_results(run), 100)
    found = read(evaluation_report(made))
    table = found.tables["Every score"]
    assert table[1][:3] == ["Mutual information", "M.I.", f"{made.results.right(FIRST):.1%}"]
    by_f1 = made.results.correct_by("f1")[FIRST].mean()
    assert table[0][3:5] == ["right by F1", "AUROC"] and table[1][3] == f"{by_f1:.1%}"
    assert table[1][4].startswith(f"{made.interval(FIRST, 'auroc').value:.3f} (")
    of = " ".join(answer(made))
    assert of.endswith("Weighted doubt is left out: some of these questions chose its weights.")
    assert {of, finding(made.results)} <= set(found.texts)
    assert found.settings["Rows that count"] == str(run.finished_questions)
    assert run.manifest["questions"]["sha256"] in found.settings["Questions"]
    assert len(found.pictures) == 4


def test_a_report_says_which_questions_of_a_run_were_not_asked(tmp_path):
    folder = shutil.copytree(folders()["embedded_world"], tmp_path / "run")
    file = folder / "rows-00000.parquet"
    parquet.write_table(parquet.read_table(file).slice(0, 120), file)
    seen = read(evaluation_report(measure_run(read_results(Run(folder)), 0)))
    (sentence,) = Run(folder).extent
    assert "120 of 300 questions" in sentence and sentence in seen.texts


def test_a_report_says_what_stood_in_front_of_all_questions_and_what_the_model_notes(tmp_path):
    folder = shutil.copytree(folders()["embedded_world"], tmp_path / "run")
    manifest = json.loads((folder / "run.json").read_text())
    manifest["pipeline"] |= {"front": "system 0123", "gamma_2": 0.5}
    text = json.dumps(manifest | {"system": SCRIPT, "notes": [TEXTS[0]]})
    (folder / "run.json").write_text(text)
    plain, seen = (
        read(evaluation_report(measure_run(read_results(Run(each)), 0)))
        for each in (folders()["embedded_world"], folder)
    )
    more = {name: seen.settings[name] for name in seen.settings.keys() - plain.settings.keys()}
    assert TEXTS[0] in seen.texts
    assert more == {
        "γ₁, γ₂": "0, 0.5",
        "In front of each prompt": "system 0123",
        "System prompt": SCRIPT,
    }


def test_rows_of_one_kind_have_no_threshold_for_two():
    one = read_results(Run(folders()["embedded_world"]), sources=["world never seen"])
    made = measure_run(one, 0)
    found = read(evaluation_report(made))
    assert len(found.pictures) == 2 and " ".join(answer(made)) in found.texts
