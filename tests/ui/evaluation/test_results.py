"""What came of a run, on a page: every part is there, from rows that were written by hand."""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.data.tabular import uploads
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.studies.calibration.calibration import Target, calibrate
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.results import read_results
from core.studies.evaluation.row_table import scatter_points
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.saved_run import Run, labelled_csv
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.serialise import from_json
from core.studies.inspection.verdict import Decision
from core.ui import downloads
from core.ui.evaluation import results as page
from core.ui.evaluation.results import FIGURE_6, TABS
from core.ui.evaluation.scores import BETTER, CURVES, NUMBERS
from core.ui.storage import storage
from core.uncertainty.scores import SCORES
from tests.hostile import TEXTS
from tests.sessions import harmless, keys, of_key, pictures, press, said, settled, table, texts
from tests.studies.evaluation.worlds import World, questions, surveyed, task, written

SCORE, MIXED, ROWS, BESIDE, POLICY = TABS
INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    evaluate(surveyed(questions(60)), task(World()), folder / "one")
    evaluate(surveyed(questions(60)), task(World(), 4), folder / "other")
    return folder


def script(run, others):
    """Run in the page's own process: it imports what it needs."""
    from pathlib import Path

    import streamlit as st

    from core.studies.evaluation.saved_run import Run
    from core.ui.evaluation.results import results
    from core.ui.messages import say_later

    say_later()
    others = {title: Run(Path(folder)) for title, folder in others.items()}
    results(Run(Path(run)), others, st.container(), st.container())


def opened(run, others=(), tab=SCORE):
    st.cache_resource.clear()  # a database of its own
    arguments = str(run), {title: str(folder) for title, folder in dict(others).items()}
    return shows(AppTest.from_function(script, args=arguments, default_timeout=300), tab)


def shows(app, tab):
    app.session_state["results"] = tab
    for key in ("export", CURVES, BETTER, NUMBERS, FIGURE_6):
        app.session_state[key] = True
    return settled(app.run())


def download(app, label):
    return [b.proto.label for b in app.get("download_button")].count(label)


def test_every_score_has_its_measures_with_intervals_and_comparisons(runs, monkeypatch):
    monkeypatch.setattr(
        "core.abstention.resampled_measures.ENOUGH", 0
    )  # so that few rows show anything
    readings, read = [], page.read_results
    monkeypatch.setattr(
        page, "read_results", lambda *which, **more: readings.append(which) or read(*which, **more)
    )
    app = opened(runs / "one")
    found = table(app, "AUROC")
    assert found["symbol"].tolist() == [info.symbol for info in SCORES.values()]
    assert all(" to " in cell for cell in found["AUROC"])
    assert said(app, "paired bootstrap of 1,000 resamples of the questions, the same for every")
    assert said(app, "Of a wrong and a right answer, the wrong one is doubted more in ")
    dots, curves, compared = pictures(app)
    assert dots.startswith("pairs with the wrong answer doubted more, the largest first: ")
    assert curves.startswith("Precision by recall: Mutual information from ")
    assert compared.count("adjusted p") == len(SCORES) - 1
    assert download(app, "Scores (CSV)") == download(app, "Comparisons (CSV)") == 1
    assert download(app, "Report (HTML)") == 1 and download(app, "SVG") == 3
    app.selectbox(key="results_reference").set_value(ENTROPY)
    app.selectbox(key="results_measure").set_value("prr").run()
    (sentence,) = said(app, "Semantic entropy orders the questions ")
    assert "worse than Mutual information" in sentence
    assert "S.E. orders the questions worse than M.I.: PRR " in pictures(app)[2]
    assert "AUROC" not in pictures(app)[2]
    assert len(readings) == 1  # however often the page has run


def test_rows_that_count_are_chosen(runs):
    app = opened(runs / "one")
    assert said(app, "60 questions, 10 drawn answers to each. Right means: the same as")
    assert len(pictures(app)) == 3
    of_key(app.multiselect, "results_sources_").set_value(["many"])
    settled(app.selectbox(key="results_match").set_value("exact").run())
    assert said(app, "Left out 45 rows of other sources.")
    assert len(said(app, "Every answer of M.I., S.E., ")) == 1
    assert table(app, "AUROC")["AUROC"].tolist() == ["–"] * len(SCORES)
    assert pictures(app) == []  # a sentence and a button, and no empty picture
    assert press(app, "another_run").session_state["new_run"]
    settled(app.selectbox(key="results_served").set_value(ENTROPY).run())
    assert said(app, "Right means: word for word an accepted answer. Judged: S.E.’s answer.")
    settled(app.multiselect(key="results_only").set_value(["short", "diverse"]).run())
    assert said(app, "Dropped ")


def test_one_threshold_for_two_kinds(runs):
    app = opened(runs / "one", tab=MIXED)
    assert said(app, "“many”: the median question has two right answers or more")
    assert said(app, "Each half has 7 of either kind (the paper has 500)")
    _, recall, error = pictures(app)
    assert recall.startswith("Share answered (recall), by entropy")
    assert "Mutual information, promised" in recall
    assert error.startswith("Wrong among the answered, by entropy")
    settled(app.number_input(key="wrong").set_value(30).run())
    assert len(said(app, "At a target loss of 30%")) == 2
    settled(of_key(app.multiselect, "results_many_").set_value([]).run())
    assert said(app, "Figure 6 takes at least two of either kind") and len(pictures(app)) == 1


def test_no_figure_is_drawn_where_hardly_anything_is_answered():
    app = opened(FOLDER / "smollm2_real_questions", tab=MIXED)
    assert said(app, "none of these scores answers 1% of the questions")
    assert len(pictures(app)) == 1
    assert said(app, "M.I. answers fewer than 1%")


def test_a_point_of_the_scatter_opens_its_questions(runs, monkeypatch):
    app = opened(runs / "one", tab=MIXED)
    assert pictures(app)[0].startswith("Semantic entropy against mutual information: ")
    assert said(app, "Choose a point to see its questions.")
    found = read_results(Run(runs / "one"))
    drawn = scatter_points(found, 100)
    point = {"entropy": drawn.entropy[7], "information": drawn.information[7]}
    monkeypatch.setattr(page, "selection", lambda state: [point])
    app.run()
    assert said(app, "At this point: ")
    assert found.queries[drawn.rows[7]] in table(app, "question")["question"].tolist()


def test_what_a_browser_says_of_a_point_is_checked(runs):
    drawn = scatter_points(read_results(Run(runs / "one")), 100)
    here = {"entropy": float(drawn.entropy[3]), "information": float(drawn.information[3])}
    assert drawn.rows[3] in page.at_points(drawn, [here])
    for strange in (
        {},
        "x",
        None,
        {"entropy": "x", "information": 1},
        {"entropy": 9e99, "information": 0},
    ):
        assert len(page.at_points(drawn, [strange])) == 0
    state = SimpleNamespace(selection={"chosen": [here]})
    assert page.selection(state) == [here]
    assert page.selection(None) == page.selection(SimpleNamespace(selection={})) == []


def test_rows_are_searched_and_one_opens_as_an_inspection(runs, monkeypatch):
    shown = []
    monkeypatch.setattr("core.ui.frame.show", lambda kind, id: shown.append((kind, id)))
    app = opened(runs / "one", tab=ROWS)
    assert len(table(app, "question")) == 60
    assert download(app, "All rows (CSV)") == download(app, "All rows (Parquet)") == 1
    app.text_input(key="results_words").set_value("number 17?").run()
    assert table(app, "question")["question"].tolist() == ["What is question number 17?"]
    press(app, "results_open_row")
    press(app, "results_open_row")
    (kind, first), (_, second) = shown
    assert kind == "inspection" and first == second  # saved once
    app.session_state["policy_in_use"] = default_policy()
    press(app, "results_open_row")
    ruled = from_json(storage().results.open(shown.pop()[1]).payload)
    assert ruled.policy == default_policy() and ruled.decision is Decision.UNDECIDED
    app.text_input(key="results_words").set_value("nowhere").run()
    assert said(app, "No row has all of these words.")


def test_two_runs_beside_each_other(runs):
    app = opened(runs / "one", {"the *other*": runs / "other"}, tab=BESIDE)
    assert said(app, "What differs: k = 4 there, 10 here.")
    assert said(app, "60 questions in both; 0 only in this run")
    assert said(app, "Neither run is shown to answer more rightly: ")
    both = table(app, "here minus there")
    assert download(app, "Scores (CSV)") == download(app, "Questions (CSV)") == 1
    assert len(both) == len(SCORES) and all(cell.startswith("p = ") for cell in both["McNemar"])
    assert len(table(app, "answer, the other")) == 60
    assert said(app, "M.I.’s answer is right in ") and said(app, "M.I. here")
    app.pills(key="results_change").set_value(app.pills(key="results_change").options[1]).run()
    assert not app.exception
    assert said(opened(runs / "one", tab=BESIDE), "There is no other run yet.")


def test_the_two_runs_that_share_most_are_offered_where_this_one_shares_little(runs, tmp_path):
    evaluate(surveyed(questions(3)), task(World()), tmp_path / "few")
    app = opened(tmp_path / "few", {name: runs / name for name in ("one", "other")}, tab=BESIDE)
    assert said(app, "shares at most 3 questions with another. one and other share 60 questions,")
    assert said(app, "Too few questions are in both to compare the scores.")
    assert not {"results_sides", "results_sides_intervals"} & {*keys(app)}
    press(app, "results_most_alike")
    assert app.query_params["run"] == "one"  # which the page shows from then on


def test_without_a_policy_the_page_says_where_one_comes_from(runs):
    assert said(opened(runs / "one", tab=POLICY), "No policy is in use.")


def test_a_policy_decides_on_the_rows(runs):
    upload = uploads.parse(labelled_csv(Run(runs / "one"))[0], "run.csv")
    data = labelled_rows(upload, suggest(upload))
    policy = calibrate(data, Target(0.3, 0.8, "ltt", INFORMATION)).policy
    app = opened(runs / "one", {"other": runs / "other"})
    app.session_state["policy_in_use"] = policy
    shows(app, POLICY)
    assert said(app, policy.sentence) and said(app, "The policy answers ")
    assert said(app, "This describes these rows and is no test: it promises nothing.")
    assert download(app, "Decisions (CSV)") == download(app, "PNG") == 1
    assert pictures(app)[0].startswith("one: ")
    app = opened(runs / "other")
    app.session_state["policy_in_use"] = policy
    assert said(shows(app, POLICY), "k = 10 there, 4 here.")


def test_texts_of_strangers_are_never_markup(tmp_path):
    rows = [
        {
            **{INFORMATION: 0.1 * i, ENTROPY: 0.2, f"{INFORMATION}_correct": bool(i % 2)},
            **{"query": text, f"{INFORMATION}_answer": text, "source": text},
            "answers": [[text]],
        }
        for i, text in enumerate(TEXTS)
    ]
    run = written(tmp_path / "run", *rows).folder
    for tab in TABS:
        assert harmless(opened(run, {TEXTS[0]: run}, tab)), tab


@pytest.mark.parametrize("rows", [[{"error": "It broke."}], [{INFORMATION: 0.5}]])
def test_little_to_show_is_said(tmp_path, rows):
    run = written(tmp_path / "run", *rows).folder
    for tab in TABS:
        app = opened(run, tab=tab)
        assert not app.exception and texts(app), tab


def test_many_rows_are_resampled_when_somebody_asks(runs, monkeypatch):
    monkeypatch.setattr("core.studies.evaluation.results.A_SECOND", 1)
    app = opened(runs / "one")
    assert "results_intervals" in keys(app) and " to " not in table(app, "AUROC")["AUROC"][0]
    assert said(app, "No intervals yet: resampling 60 rows takes a while.")
    press(app, "results_intervals")
    assert " to " in table(app, "AUROC")["AUROC"][0] and "results_intervals" not in keys(app)


def test_a_damaged_run_is_a_sentence(runs, tmp_path):
    run = written(tmp_path / "run", {INFORMATION: 0.5}).folder
    (run / "rows-00000.parquet").write_bytes(b"no table")
    assert said(opened(run), "is damaged, or another")


def test_a_table_is_taken_along_as_parquet():
    assert downloads.TYPES["parquet"] == "application/vnd.apache.parquet"
