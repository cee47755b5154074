"""The page "Calibration" without a browser: each part is wired to what computes it.

How files are read is tested below tests/data, and what is promised below tests/abstention and
tests/studies/calibration.
"""

import re
import threading
from dataclasses import replace
from functools import partial
from string import ascii_lowercase

import pytest
import streamlit as st
from scipy import stats
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.abstention.codebook import EVERY_ROW
from core.abstention.policy import BELIEVED, promise_in_words, to_json
from core.codec import at_most
from core.data.tabular import isolation, uploads
from core.data.tabular.label_meanings import Meaning
from core.data.world.grading import matches
from core.reports.calibration import words
from core.reports.inspection.words import STAMPS, UNPROMISED
from core.store import labelled_files
from core.store.errors import StoreError
from core.store.labels import UNKNOWN_LOOK, Labels, Looks
from core.store.results import SavedResults
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics, holdout, result
from core.studies.calibration.calibration import BEST, Target, calibrate
from core.studies.calibration.delta_spending import from_json
from core.studies.calibration.delta_spending import to_json as to_text
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.first_calibration import errors_of_belief
from core.studies.calibration.rows_by_doubt import RowSelection
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import default_policies, default_policy
from core.studies.inspection.inspection import cannot_decide, run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.verdict import SCORE, Headline
from core.ui.calibration import data, judging
from core.ui.calibration.data import NO_COLUMN, ONE_EACH
from core.ui.calibration.grading import COLUMN
from core.ui.evaluation.runs import runs
from core.ui.policy_badge import NO_FIT
from core.ui.runs.job import JOB
from core.ui.storage import Storage, storage
from core.uncertainty.scores import SCORES
from tests.hostile import IMAGE
from tests.patience import LONG
from tests.sessions import (
    badges,
    disk_full,
    go,
    harmless,
    keys,
    metrics,
    move,
    of_key,
    pictures,
    policy_badges,
    press,
    run_named,
    said,
    session,
    settled,
    table,
    texts,
    threshold,
    until,
)
from tests.studies.calibration.test_judging import Judge
from tests.studies.evaluation.worlds import questions

RIGHT, WRONG = 150, 49  # of a file, from the smallest doubt to the largest
ROWS = RIGHT + WRONG + 1  # the last one is right: a score without a mistake is asked about
GUARANTEED, UNCERTIFIED = "Promised", "Cannot be promised"
OVERALL = "Promised overall, not in each group"  # where a group breaks it
PROBLEM, NO_GUARANTEE = "Problem", "No promise"
ASKED = "Your answer is needed"
OPENING = [
    "Example: 1,994 questions",
    OVERALL,
    "In use by default",
]  # the badges of the page that nobody has brought anything to
READ_APART = isolation.parse_isolated


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    """Read files in this process: a process for each takes a second, and one test does so.

    The comparison takes few resamples, each of which costs as much as a page.
    """
    monkeypatch.setattr(isolation, "parse_isolated", lambda *file, **_: uploads.parse(*file))
    monkeypatch.setattr(diagnostics, "compare", partial(diagnostics.compare, resamples=50))


@pytest.fixture
def app(fresh):
    return session("calibration")


@pytest.fixture
def example(app):
    """The example as a file that somebody brought."""
    return upload(app, EXAMPLE.read_bytes(), EXAMPLE.name)


def upload(page, content, name="labels.csv", key="labelled_file"):
    """Upload a file and wait for what is computed beside the page."""
    return settled(page.file_uploader(key=key).set_value((name, content, "text/plain")).run())


def is_wrong(row, first=RIGHT):
    return first <= row < ROWS - 1


def written(*, scores=None, labels=("1", "0"), heading="question,doubt,correct", more=""):
    """A hundred and fifty right answers, then wrong ones of larger doubt, and a last right one."""
    scores = [f"{row / 100:.2f}" for row in range(ROWS)] if scores is None else scores
    rows = (
        f"question {row},{score},{labels[is_wrong(row)]}{more}" for row, score in enumerate(scores)
    )
    return "\n".join([heading, *rows]).encode()


def two_scores(more=lambda row: ""):
    """`doubt` is one; `sure` a confidence, whose own answers are all right but the last ten."""
    rows = (
        f"question {row},{row / 100},{1 - row / 200},{int(not is_wrong(row))},"
        f"{int(not is_wrong(row, ROWS - 10))}" + more(row)
        for row in range(ROWS)
    )
    return "\n".join(["question,doubt,sure,doubt_correct,sure_correct" + more(-1), *rows]).encode()


def certified(right, wrong, error=0.05, confidence=0.95):  # of the first look at 90%
    """How many are answered if all the wrong ones have the largest doubts: the exact walk."""
    errors = 0
    while errors < wrong:
        tail = stats.binom.cdf(errors + 1, right + errors + 1, error)
        if tail > 1 - confidence:
            break
        errors += 1
    return right + errors


def share(number, of=ROWS):
    return f"{number / of:.1%}"


def of(wrong, number):
    return f"{share(wrong, number)}: {wrong:,}/{number:,}"


def by_headline(page):
    """What is counted under each word of Inspection."""
    shown = [
        re.sub(r"(?<!,)( [\d.]+%)?( \([\d.]+%\))?$", "", text) for text in texts(page)
    ]  # without its share
    twins = {Headline.UNTAUGHT, Headline.UNDECIDED}  # whose words are those of others
    words = {each: STAMPS[each].label for each in Headline if each not in twins}
    return {each: shown[shown.index(word) + 1] for each, word in words.items() if word in shown}


COUNTS = re.compile(r"Answer when .+ [<>] (\S+)\. Of [\d,]+ labelled .+ \((\S+)\)(?:, (\S+) of)?")


def cards(page):
    """λ, the share answered and the wrong ones: of the result, and of a λ that was moved."""
    return [found.groups() for found in map(COUNTS.match, texts(page)) if found]


def answered(page):
    return metrics(page).get("Answers")


def has_no_result(page):
    return bool(said(page, "The result follows")) and not threshold(page) and not pictures(page)


def choose_scores(page, *doubts, surer=()):
    of_key(page.multiselect, "surer_").set_value(list(surer))
    return settled(of_key(page.multiselect, "doubtful_").set_value(list(doubts)).run())


def choose(page, key, value):
    return settled(of_key([*page.selectbox, *page.multiselect], key).set_value(value).run())


def score(page):
    """The box in which the score of the target is chosen."""
    (found,) = [s for s in page.selectbox if s.label == "Score"]
    return found


def set_target(page, **shares):
    for name, share in shares.items():
        key = {"alpha": "wrong", "confidence": "sure"}[name]
        page.number_input(key=key).set_value(round(100 * share, 7))
    return settled(page.run())


def look(page):
    """Which look at its labels the page says that this is."""
    (place,) = {at for text in texts(page) for at in re.findall(r"Look (\d+) at these", text)}
    return int(place)


def paid(page, right, wrong, error=0.05, parts=1):
    """How many are answered at the part of δ = 10% that this look may spend."""
    return certified(right, wrong, error, 1 - 0.1 / 2 ** look(page) / parts)


def elsewhere_and_back(page):
    go(page, "home").run()
    return settled(go(page, "calibration").run())


# --------------------------------------------------------------------------- opening it


def shows_example(page):
    """Whether the bundled example is shown, labelled as that, and nothing else."""
    return OPENING[0] in badges(page)


def test_opens_with_the_example_which_costs_nobody_a_look(app):
    assert app.title[0].value == "When should it answer?"
    assert shows_example(app)
    assert badges(app) == OPENING and look(app) == 1
    assert app.number_input(key="wrong").value == 5 and "file" not in app.query_params
    # Another target of the example is a later look at it, also after a reload: it opened with one.
    set_target(app, alpha=0.11)
    place = look(app)
    assert place > 1 and look(session("calibration", alpha="0.11")) == place
    assert not storage().looks.all()
    # The same questions in a file of one's own are of that file.
    lines = EXAMPLE.read_bytes().decode().splitlines()
    upload(app, "\n".join(lines[:1500]).encode(), "mine.csv")
    assert not shows_example(app) and look(app) == 1


def test_what_is_believed_is_drawn_and_said_while_its_policy_is_in_use(app):
    assert "believed" in threshold(app)["bins"][0] and said(app, worst := "4 under “Believe it”.")
    app.session_state["policy_in_use"] = replace(default_policy(), belief=None)
    assert "believed" not in threshold(app.run())["bins"][0] and not said(app, worst)


def test_the_bundled_example_is_the_default_policy_drawn_and_said_in_words(app):
    """At half of δ it is the policy that decides unless somebody brings another."""
    data = study.read(EXAMPLE.read_bytes(), EXAMPLE.name)
    calibration = calibrate(data, Target(score=SCORE), looks=())
    policy = calibration.policy
    assert f"{policy.labels:,} questions" in OPENING[0]
    assert badges(app) == OPENING and policy.of_error in texts(app)
    assert texts(app)[0] == policy.in_short
    assert policy.in_short == "Answered: ≤ 5% wrong (90% sure), for questions like these."
    is_guess, answers = data.sources == "never seen", data.doubts[SCORE] < policy.threshold
    errors, belief = (is_guess & answers & ~data.correct[SCORE]).sum(), default_policy().belief
    assert belief.errors and errors_of_belief("half known") == 0  # they are all of one group
    assert said(
        app,
        f"Not for “never seen” (facts that it was not taught): {errors} of its "
        f"{(is_guess & answers).sum()} answers are wrong, {belief.errors} under “Believe it”.",
    )
    assert (
        sum(each["believed"] for each in threshold(app)["bins"]) == belief.answered - belief.errors
    )
    perhaps, wrong = policy.answered - belief.answered, policy.errors - belief.errors
    errors = (~data.correct[SCORE]).sum() - policy.errors
    rest = policy.labels - policy.answered
    assert by_headline(app) == {  # what decides there believes some of the answers
        # In brackets the rows that set the limit, behind those that had no part in it.
        Headline.BELIEVE: f"{of(2, 427)} ({belief.errors}/{belief.answered})",
        Headline.PERHAPS: f"{of(27, 291)} ({wrong}/{perhaps})",
        Headline.ABSTAIN: f"{of(168, 262)} ({errors}/{rest})",
        Headline.TOO_LITTLE: "none (none)",
    }
    assert f"✓ Believe it {share(427, 980)}" in texts(app)
    rules = f"others below {policy.threshold:.3f}", f"from {policy.threshold:.3f} on"
    assert {"doubt ≤ 0.07–0.21", *rules} <= {*texts(app)}
    first, *_ = words.by_headline(calibration, replace(belief, threshold=0.1))
    assert first.rule == "doubt ≤ 0.07–0.10"  # a tenth of ln 2 is below that, of ln 8 is not
    assert threshold(app)["belief"] == pytest.approx(0.2079, abs=1e-4)  # a tenth of ln 8
    assert "to_inspection" in keys(app) and "use_policy" not in keys(app)
    assert policy.payment.strip() in texts(app)
    assert metrics(app) == {
        "Threshold": f"{policy.threshold:.3f}",
        "Answers": f"{share(718, 980)} ({policy.answered / policy.labels:.1%})",
        "Wrong on the rows": f"{share(29, 718)} ({policy.errors / policy.answered:.1%})",
        "Promised": "at most 5% wrong",
    }
    (described,) = said(app, "no promise")
    assert f"at most {at_most(policy.upper_bound)} wrong (Clopper–Pearson, 95%, as" in described
    assert not has_intervals(app)  # the page opens at once
    press(app, "compare")
    until(app, lambda: has_intervals(app))
    by_group, *alt = pictures(app)
    assert len(alt) == 4
    assert re.search(r"never seen: \d+ of \d+ answered wrong", by_group)
    assert said(app, "No promise holds by itself for “")
    assert (
        f"at the threshold {policy.answered / policy.labels:.0%} are answered"
        in threshold(app)["words"]["curve"]
    )
    assert all(f"{name} from" in alt[0] for name in ("Mutual information", "Semantic entropy"))
    assert alt[1].startswith("Share answered (recall), by") and alt[2].startswith(
        "Wrong among the answered, by "
    )
    assert alt[3].startswith("Histogram of Mutual information for")
    intervals = table(app, "95% interval")
    assert len(intervals) == len(SCORES) and intervals["score"][0] == "Mutual information"
    first, *others = intervals["95% interval of that"]
    assert first == "–" and all(re.fullmatch(r"[+-]0\.\d+ to [+-]0\.\d+", o) for o in others)
    assert "compare" not in keys(app)
    set_target(app, alpha=0.1)
    assert "compare" in keys(app) and not has_intervals(app)  # for this target nobody asked


# ------------------------------------------------------------------------ reading a file


def test_a_file_in_strange_clothes_is_read_in_another_process_and_calibrated(app, monkeypatch):
    """Its words stay words, its lines keep their numbers, and a question counts once."""
    monkeypatch.setattr(isolation, "parse_isolated", READ_APART)
    lines = written().decode().replace("question 2,", "question 0,").splitlines()
    lines = [line + (",answer" if not row else ",None") for row, line in enumerate(lines)]
    lines[5] = lines[5].replace("question 4", "007")
    upload(app, "\n".join(lines).replace(",", ";").encode("utf-16"), "mine.csv")
    assert said(app, f"mine.csv: {ROWS:,} rows, 4 columns (CSV)")
    assert said(app, "Note: The file was read as UTF-16.")
    preview = table(app, "correct")
    assert preview["question"].iloc[4] == "007" and set(preview["answer"]) == {"None"}
    assert list(preview.index[:2]) == [2, 3]  # lines of the file
    assert said(app, "Rows that repeat another row’s question: ")
    assert badges(app) == [GUARANTEED]
    assert metrics(app)["Threshold"] == "1.515"
    # P(Bin(153, 5 %) ≤ 3) is 4.9 %, P(Bin(154, 5 %) ≤ 4) is 11 %; one right answer is left out.
    assert certified(RIGHT, WRONG) == 153
    assert answered(app) == share(certified(RIGHT - 1, WRONG), ROWS - 1)


USELESS = {
    "The file is empty": b"",
    "The file seems to be a PNG picture": b"\x89PNG\r\n\x1a\n" + bytes(50),
}
UNUSABLE = {
    "“b” (its cells are text, such as “bar” in line 2). No column of this file contains "
    "numbers": b"a,b\nfoo,bar\n",
    "“b” (its cells are numbers, such as “2.5” in line 2). Choose at least one score column": (
        b"a,b\n1.5,2.5\n3.5,4.5\n"
    ),
}


def test_a_file_that_cannot_be_read_gets_a_sentence_and_leaves_the_last_good_one(app):
    for sentence, content in USELESS.items():
        upload(app, content, "mine.csv")
        assert badges(app) == [PROBLEM] and has_no_result(app)
        assert said(app, f"mine.csv: {sentence}")
    upload(app, written(), "good.csv")
    before = metrics(app)
    upload(app, b"", "bad.csv")
    for _ in range(2):
        assert badges(app) == [PROBLEM, GUARANTEED] and metrics(app) == before
        assert said(app, "bad.csv: The file is empty") and said(app, "good.csv: 200 rows")
        upload(app, b"", "bad.csv")
    app.file_uploader(key="labelled_file").clear().run()  # the person takes it away again
    assert badges(settled(app)) == [GUARANTEED] and not said(app, "bad.csv")
    assert said(app, "good.csv: 200 rows") and metrics(app) == before
    upload(app, b"", "bad.csv")
    elsewhere_and_back(app)
    assert said(app, "good.csv: 200 rows") and badges(app) == [PROBLEM, GUARANTEED]


def test_what_lacks_scores_or_labels_gets_a_sentence(app):
    for number, (sentence, content) in enumerate(UNUSABLE.items()):
        upload(app, content, f"{number}.csv")
        assert badges(app) == [PROBLEM] and said(app, sentence) and has_no_result(app)
    upload(app, list(UNUSABLE.values())[1], "again.csv")
    choose_scores(app, "a")
    choose(app, "query_", EVERY_ROW)
    choose(app, "correct_", "b")
    assert said(app, "No cell of “b” says whether an answer is right") and has_no_result(app)
    choose(app, "correct_", "a")
    assert said(app, "“a” is chosen both as a score and as") and has_no_result(app)


def test_whoever_leaves_the_page_stops_the_reading(app, monkeypatch):
    """Nobody waits for what nobody looks at; back on the page, it begins again."""
    left = []

    def leave(content, name, *, cancelled):
        assert not cancelled()
        get_script_run_ctx().script_requests.request_stop()
        try:
            cancelled()
        except BaseException as error:
            left.append(type(error).__name__)
            raise

    with monkeypatch.context() as patch:
        patch.setattr(isolation, "parse_isolated", leave)
        app.file_uploader(key="labelled_file").set_value(("x.csv", written(), "text/csv")).run()
    assert left == ["StopException"] and not said(app, "x.csv")
    assert said(settled(app.run()), "x.csv: 200 rows")


def test_long_cells_are_not_sent_to_the_browser(app):
    long = "long " * 19_000
    rows = [f'"{long}",{row},{row % 2}' for row in range(30)]
    upload(app, "\n".join(["question,doubt,correct", *rows]).encode(), "long.csv")
    shown = [str(cell) for f in app.dataframe for cell in f.value.to_numpy(object).ravel()]
    # The preview has all of them and the first cell again; the rows that count, one of each.
    assert sum(cell.startswith("long long") for cell in shown) == 32
    assert max(map(len, shown)) == 201
    assert said(app, "Shown: the first 200 characters of longer cells.")


def test_scores_at_the_ends_of_what_numbers_can_be(app):
    for number, (low, high) in enumerate(
        [("-1.7e308", "1.7e308"), ("0", "5e-324"), ("0.5", "inf"), ("1e-9", "2e-9")]
    ):
        upload(app, written(scores=[low] * RIGHT + [high] * (ROWS - RIGHT)), f"{number}.csv")
        assert badges(app) == [GUARANTEED] and answered(app) == share(RIGHT)
        if threshold(app)["places"]["movable"]:
            values = threshold(app)["places"]["values"]
            for end in (values[0], values[-1]):
                move(app, end)
        else:
            assert said(app, "to move λ by hand") or said(app, "All scores are equal")


def test_what_can_promise_nothing_says_why(app):
    upload(app, written(scores=["0.5"] * ROWS), "constant.csv")
    assert badges(app) == [UNCERTIFIED] and said(app, "All scores are equal")
    assert said(app, f"the {ROWS} surest answers") and not cards(app)
    for labels, sentence in ((("1", "1"), "is right."), (("0", "0"), "surest answer")):
        upload(app, written(labels=labels), f"{labels[0]}.csv")
        assert badges(app) == [UNCERTIFIED] and said(app, sentence) and not cards(app)
        intervals = table(app, "95% interval")
        assert list(intervals["95% interval"]) == ["–"]  # nothing can be told apart
    upload(app, b"question,doubt,correct\nWho?,0.5,1\n", "one.csv")
    assert said(app, "one.csv: 1 row, 3 columns (CSV)") and badges(app) == [UNCERTIFIED]
    assert said(app, "Too few labelled answers have a score: 1.")
    app.toggle(key="hold").set_value(True).run()
    upload(app, b"question,doubt,correct\nWho?,0.5,1\nWhat?,0.6,1\n", "two.csv")
    for method in ("crc", "empirical"):
        settled(app.selectbox(key="method").set_value(method).run())
        assert said(app, "Rows to try settings on: 1; held back: 1.")
        if "confirm" in keys(app):
            press(app, "confirm")


# ------------------------------------------------------------------------ what labels mean


def meanings(page):
    """The fields in which the person says what values mean, in the order of the page."""
    return [field for field in page.selectbox if field.key and field.key.startswith("meaning_")]


def means(page, *chosen):
    for field, meaning in zip(meanings(page), chosen, strict=True):
        field.set_value(meaning)
    return settled(page.run())


def asked(page):
    """Whether the page asks what labels mean, and promises nothing meanwhile."""
    return badges(page) == [ASKED] and has_no_result(page)


def test_labels_that_say_neither_are_asked_about_and_promise_nothing(app):
    lines = written().decode().splitlines()
    lines[4] = lines[4].removesuffix("1") + "maybe"
    lines[8] = lines[8].removesuffix("1")
    upload(app, "\n".join(lines).encode())
    assert asked(app) and [field.value for field in meanings(app)] == [None, None]
    assert said(app, "“maybe” (1 row) and empty (1 row). What does each of them mean?")
    assert asked(means(app, Meaning.OUT, None))
    means(app, Meaning.OUT, Meaning.OUT)
    assert said(app, "Line 5: “correct” is “maybe” (left out).")
    assert said(app, "As you said, 1 row in which “correct” is empty was left out.")
    assert answered(app) == share(certified(RIGHT - 2, WRONG), ROWS - 2)
    assert said(app, "2 rows without a label were left out, so this holds only for questions like")
    means(app, Meaning.WRONG, Meaning.OUT)
    assert said(app, "counted as wrong")
    elsewhere_and_back(app)
    assert [field.value for field in meanings(app)] == [Meaning.WRONG, Meaning.OUT]
    upload(app, "\n".join(lines).encode().replace(b"question 1,", b"question one,"), "other.csv")
    assert asked(app)  # what they mean is remembered for the file, and for no other


@pytest.mark.parametrize("answers", ["answer", "reference"])
def test_a_file_whose_scores_are_not_recognised_can_be_mapped_all_the_same(app, answers):
    upload(app, written(heading=f"question,rank,correct,{answers}", more=",Ann"))
    if answers == "answer":  # which is judged, and no right one
        assert said(app, "No column is taken for a score.")
    else:
        assert said(app, "right answers and labels in “correct”, and no column taken for a sc")
        settled(of_key(app.checkbox, "scored_").check().run())
    choose_scores(app, "rank")
    assert answered(app) == share(certified(RIGHT, WRONG))


def test_a_score_that_is_1_here_and_there_is_not_taken_for_the_labels(app):
    rows = (f"Item {row},{min(row, 100) / 100},{'good' if row else 'bad'}" for row in range(200))
    upload(app, "\n".join(["prompt,agreement,verdict", *rows]).encode())
    choose_scores(app, "agreement")
    assert asked(app) and said(app, "“verdict” has cells that say neither")


def test_labels_and_directions_are_turned_by_whoever_knows_better(app):
    upload(app, written(heading="question,doubt,incorrect"))
    assert badges(app) == [UNCERTIFIED] and said(app, "“incorrect” is “0” (49 of 200 rows)")
    assert said(app, "The labels speak against the direction of “doubt” (AUROC 0.01")
    press(app, "turn_labels")
    assert of_key(app.checkbox, "turned_").value
    assert badges(app) == [GUARANTEED] and said(app, "“incorrect” is “1” (151 of 200 rows)")
    assert said(app, "As you said, 151 rows in which “incorrect” is “1” were counted as right.")
    assert answered(app) == share(paid(app, RIGHT, WRONG))
    before = look(app)
    choose_scores(app, surer=["doubt"])
    assert badges(app) == [UNCERTIFIED] and look(app) == before + 1
    assert said(app, "Score: “doubt”; larger means a surer answer.")


# --------------------------------------------------------------------- what columns mean


def test_a_score_without_a_mistake_promises_nothing_until_somebody_vouches(app):
    rows = (f"question {row},{row / 100},{int(row < RIGHT)}" for row in range(ROWS))
    upload(app, "\n".join(["question,doubt,correct", *rows]).encode())
    assert asked(app) and has_no_result(app) and said(app, "without a mistake (AUROC 1)")
    read, why = (texts(app).index(*said(app, word)) for word in ("Rows used: 200 of", "AUROC 1"))
    assert read < why and said(app, "Score: “doubt”; larger means more doubt.")
    assert app.button(key="vouch").label == "It was made without a look at the right answers"
    press(app, "vouch")
    assert badges(app) == [GUARANTEED] and "vouch" not in keys(app)
    for page in (app, reloaded(app)):
        assert answered(page) == share(certified(RIGHT, WRONG + 1))
        assert said(page, "As you said, “doubt” was made without a look at the right answers.")


def test_which_model_counts_is_asked_kept_and_can_be_changed(app):
    lines = (
        f"question {row},{row / 100 + at},{int(not is_wrong(row))},{model}"
        for row in range(ROWS)
        for at, model in enumerate(("m", IMAGE))
    )
    upload(app, "\n".join(["question,doubt,correct,model", *lines]).encode())
    assert asked(app) and has_no_result(app)
    choose(app, "filter_", 0)
    before = "As you said, only rows in which “model” is “m” count"
    for page in (app, reloaded(app)):
        assert badges(page) == [GUARANTEED] and look(page) == 1 and said(page, before)
    choose(app, "filter_", 2)
    assert badges(app) == [GUARANTEED] and look(app) == 2 and said(app, "holds for this mix")
    choose(app, "filter_", None)
    assert asked(app) and has_no_result(app)


def test_columns_are_guessed_and_the_person_decides(app):
    upload(app, two_scores(lambda row: ",kind,spread" if row < 0 else f",k{row % 2},{row % 3}"))
    assert said(app, "There is no column with the sem")
    assert of_key(app.multiselect, "doubtful_").value == ["doubt"]
    assert of_key(app.multiselect, "surer_").value == ["sure"]
    assert said(app, "Larger means a surer answer: “sure”.\nLarger means more doubt: “doubt”.")
    assert of_key(app.selectbox, "query_").value == "question"
    best = share(paid(app, ROWS - 10, 10, parts=2))  # each score has half of what is spent
    assert answered(app) == best
    assert said(app, "Best of 2 scores, each tested at δ divided by 2: sure.")
    (each,) = [s.key for s in app.selectbox if s.value == ONE_EACH]
    app.selectbox(key=each).set_value("doubt_correct").run()  # one label for all scores
    settled(app)
    assert answered(app) == share(paid(app, RIGHT, WRONG, parts=2)) != best and look(app) == 2
    app.selectbox(key=each).set_value(ONE_EACH).run()
    assert answered(settled(app)) == best
    choose(app, "source_", "kind")
    choose(app, "entropy_", "spread")
    assert not said(app, "There is no")
    assert any(alt.startswith("k1: ") or "; k1: " in alt for alt in pictures(app))
    assert any("2.0 or more " in alt for alt in pictures(app))
    choose_scores(app)
    assert said(app, "may be scores; no list has any. Choose at least one") and has_no_result(app)
    choose_scores(app, "doubt")
    assert answered(app) == share(paid(app, RIGHT, WRONG, parts=2)) and not said(app, "Best of")
    assert said(app, "doubt was named after 2 scores had been shown, so that it is tested at δ ")


def test_what_larger_means_is_asked_where_no_heading_says_it(app):
    upload(app, written(heading="question,score,correct"))
    assert asked(app) and said(app, "Say whether a larger “score” means a surer answer or more")
    assert [app.button(key=f"direction_0_{way}").label for way in (True, False)] == [
        "Larger means a surer answer",
        "Larger means more doubt",
    ]
    press(app, "direction_0_False")
    assert "direction_0_False" not in keys(app)
    assert answered(app) == share(certified(RIGHT, WRONG)) and badges(app) == [GUARANTEED]
    assert said(app, "Larger means more doubt: “score”.")
    elsewhere_and_back(app)
    assert of_key(app.multiselect, "doubtful_").value == ["score"]
    choose(app, "surer_", ["score"])
    assert badges(app) == [PROBLEM] and has_no_result(app)
    assert said(app, "Both lists of scores have “score”.")
    choose_scores(app, surer=["score"])
    assert badges(app) == [UNCERTIFIED]  # now the wrong ones seem the surest
    assert said(app, "Larger means a surer answer: “score”.")
    assert said(app, "The labels speak against the direction of “score” (AUROC 0.01")
    buttons = [each.key for each in app.button if each.key in ("turn_labels", "turn_direction")]
    assert buttons == ["turn_labels", "turn_direction"]
    press(app, "turn_direction")
    assert of_key(app.multiselect, "doubtful_").value == ["score"]
    assert of_key(app.multiselect, "surer_").value == [] and "turn_direction" not in keys(app)


def test_best_of_all_scores_pays_for_the_choice(app):
    upload(app, two_scores())
    assert score(app).options == [BEST, "doubt", "sure"] and score(app).value == BEST
    score(app).set_value("sure").run()
    assert answered(app) == share(paid(app, ROWS - 10, 10)) and not said(app, "Best of")
    app.selectbox(key="method").set_value("empirical").run()
    assert BEST not in score(app).options  # only the guarantee can pay for it
    app.selectbox(key="method").set_value("ltt").run()
    assert score(app).value == "sure"
    score(app).set_value(BEST).run()
    app.selectbox(key="method").set_value("crc").run()
    assert score(settled(app)).value == "doubt"


def test_what_several_columns_could_say_is_asked_and_then_what_its_values_mean(app):
    """A gold answer and a prediction in the same words look like labels, and neither is."""
    lines = [f"q{i},0.{i:02d},{'yes' if i % 3 else 'no'},yes" for i in range(1, 100)]
    upload(app, "\n".join(["question,confidence,label,prediction", *lines]).encode())
    settled(of_key(app.pills, "grader_").set_value(COLUMN).run())
    (field,) = [box for box in app.selectbox if box.label == "Right or wrong"]
    assert asked(app) and field.value is None and set(field.options) == {"label", "prediction"}
    field.set_value("label").run()
    assert asked(app) and said(app, "“label” does not say which of its values means a right answer")
    assert [box.value for box in meanings(app)] == [None, None]


def test_columns_named_like_our_own_words(app):
    for number, (column, label) in enumerate(
        (
            (BEST, "correct"),
            ("score", f"right ({ONE_EACH})"),
            ("(none)", "correct"),
            ("score", '"it\'s right ""x"" \\"'),
        )
    ):
        heading = f"question,{column},{label}"
        upload(app, written(labels=("right", "wrong"), heading=heading), f"{number}.csv")
        choose_scores(app, column)
        if ONE_EACH in label:  # another word may name what is right
            means(app, Meaning.RIGHT, Meaning.WRONG)
        assert badges(app) == [GUARANTEED]


# ------------------------------------------------------------------------------ targets


def test_another_target_or_method_is_another_promise(app):
    upload(app, written())
    assert look(app) == 1
    set_target(app, alpha=0.11, confidence=0.95)
    assert answered(app) == share(certified(RIGHT, WRONG, 0.11, 1 - 0.05 / 2 ** look(app)))
    assert said(
        app,
        f"With 95% confidence over draws of {ROWS} labelled rows, at most 11% of answered "
        "questions are wrong",
    )
    set_target(app, alpha=0.1)
    settled(app.selectbox(key="method").set_value("crc").run())
    allowed = int(0.1 * (ROWS + 1)) - 1  # (errors + 1) / (rows + 1) is at most α
    assert badges(app) == [GUARANTEED] and answered(app) == share(RIGHT + allowed)
    assert said(app, "This does not bound the error among the answered.")
    assert metrics(app)["Promised"] == "at most 10% wrong of all"
    assert app.number_input(key="sure").disabled
    settled(app.selectbox(key="method").set_value("empirical").run())
    errors = max(e for e in range(WRONG) if e / (RIGHT + e) <= 0.1)
    assert badges(app) == [NO_GUARANTEE] and answered(app) == share(RIGHT + errors)
    assert metrics(app)["Promised"] == "No promise"
    assert not said(app, "no promise")
    settled(app.selectbox(key="method").set_value("ltt").run())
    set_target(app, confidence=0.999)
    assert "the 99.9% interval" in threshold(app)["words"]["band"]
    assert not any("100 %" in c.value or "100%" in c.value for c in app.caption)


def in_groups(*names):
    """Rows whose wrong answers are all of the last group, and the last right one too."""
    others = len(names) - 1
    rows = (
        f"question {row},{row / 100},{int(not RIGHT <= row < ROWS - 1)},"
        + (names[row % others] if row < RIGHT else names[-1])
        for row in range(ROWS)
    )
    return "\n".join(["question,doubt,correct,Band", *rows]).encode()


def test_the_target_that_an_address_names_is_aimed_at():
    page = session("calibration", wrong="10")
    assert page.number_input(key="wrong").value == 10
    assert said(page, "Answered: ≤ 10% wrong (90% sure), for questions like these.")


def test_the_error_of_every_group_stands_beside_the_promise_unless_somebody_says_no(app):
    upload(app, in_groups("easy", "hard"))
    wrong = certified(RIGHT, WRONG) - RIGHT
    assert said(app, f"“easy”. No promise holds by itself for “hard” ({wrong} of {wrong} wrong).")
    worst = f"Not for “hard”: {wrong} of its {wrong} answers are wrong. Check these."
    assert not by_headline(app)  # nobody knows how the scores were made: none decides there
    assert said(app, worst)
    alone = f"easy: 0 of {RIGHT} answered wrong; hard: {wrong} of {wrong} answered wrong, "
    assert pictures(app)[0] == f"{alone}{ROWS - RIGHT - wrong} withheld"
    choose(app, "source_", NO_COLUMN)
    assert not said(app, "by itself for") and not said(app, "Check these")
    assert alone not in pictures(app)
    assert any("All questions count as one group." in c.value for c in app.caption)


def test_of_many_groups_the_largest_are_drawn(app):
    upload(app, in_groups(*(f"group {i:02d}" for i in range(15))))
    assert pictures(app)[0].count("group") == 12
    assert any("the 12 largest groups" in c.value for c in app.caption)


def test_every_look_at_these_labels_is_paid_for_and_the_same_one_once(app):
    """The list of prices is one, once it is opened. Each is said with what it may spend."""
    upload(app, written())
    for alpha, place in ((0.11, 2), (0.05, 1), (0.11, 2)):
        set_target(app, alpha=alpha)
        assert look(app) == place
    press(app, "show_prices")
    assert look(app) == 2 and table(app, "at most wrong") is not None
    for alpha, place in ((0.05, 1), (0.21, 4)):
        set_target(app, alpha=alpha)
        assert look(app) == place and answered(app) == share(paid(app, RIGHT, WRONG, alpha))
        assert said(app, f"Look {place} at these labels: it was tested at")
    assert said(app, f"Looks before it: doubt: at most 5%, {ROWS} rows of")
    # Another file with these rows goes on, in another session too; other rows begin anew.
    more = session("calibration")
    upload(more, written() + b"\nquestion x,0.5,1", "more.csv")
    assert look(more) == 5 and said(more, "5% is look 5 at these labels, and is paid for.")
    other = written().replace(b"question ", b"another ").replace(b",1", b",0", 1)
    upload(more, other.replace(b",0.", b",0.01"), "other.csv")
    assert look(more) == 1


def test_nothing_is_promised_of_labels_while_nobody_can_say_what_was_looked_at_before(
    app, monkeypatch
):
    def locked(*_):
        raise StoreError("Another program has locked the database: close that program.")

    upload(app, written())
    set_target(app, alpha=0.11)
    again = session("calibration")
    with monkeypatch.context() as broken:
        broken.setattr(Storage, "why", "It cannot be opened yet.")  # another one is in its place
        upload(again, written())
        assert said(again, "nothing is promised of them. It cannot be opened yet.")
        assert GUARANTEED not in badges(again)
    with monkeypatch.context() as broken:
        broken.setattr(Looks, "all", locked)
        upload(again, written())
        assert said(again, "nothing is promised of them. Another program has locked")
        assert badges(again) == [PROBLEM]
        assert GUARANTEED in badges(app.run())  # which has read them
    assert look(settled(again.run())) == 1 and GUARANTEED in badges(again)
    with monkeypatch.context() as broken:
        broken.setattr(Looks, "save", locked)
        set_target(again, alpha=0.12)
        assert said(again, f"{words.UNNOTED} Another program has locked")
        assert badges(again) == [PROBLEM]
    assert look(settled(again.run())) == 3 and GUARANTEED in badges(again)
    assert [from_json(*each).place for each in storage().looks.all().items()] == [1, 2, 3]
    storage().looks.save([("of a later Believe", "{}")])
    set_target(again, alpha=0.13)  # it has read all before, and this may be one at these labels
    upload(app := session("calibration"), written())
    for page in (again, app):
        assert said(page, f"nothing is promised of them. {UNKNOWN_LOOK}")
        assert badges(page) == [PROBLEM]


def test_a_look_of_another_page_in_the_same_moment_has_its_place_first(app, monkeypatch):
    rows = study.read(written(), "there.csv")
    known, save, others = [0], Looks.save, []

    def save_after_another(self, looks, earlier=None):
        if others:
            there = replace(calibrate(rows, Target(), looks=()).look, **others.pop())
            assert save(self, [(there.setting, to_text(there))])
        known.append(save(self, looks, earlier))
        return known[-1]

    monkeypatch.setattr(Looks, "save", save_after_another)
    others.append({"setting": "first", "place": 1})
    upload(app, written())
    assert known == [0, False, True] and look(app) == 2
    others.append({"setting": "second", "place": 5})
    press(app, "show_prices")
    assert known[3:] == [False, True] and table(app, "at most wrong") is not None
    set_target(app, alpha=0.1)  # of the list
    assert look(app) == 6
    app.toggle(key="hold").set_value(True).run()
    others.append({"setting": "third", "place": 9})
    press(app, "confirm")
    assert said(app, "This is look 10 at these labels")


def test_a_target_out_of_reach_is_said_and_offers_nothing_to_use(app):
    app.toggle(key="hold").set_value(True).run()
    upload(app, written())
    set_target(app, alpha=0.001)
    assert badges(app) == [UNCERTIFIED] and not cards(app)
    assert said(app, "even if all of them are right") or said(app, "Even if all of them are right")
    assert not {"use_policy", "confirm"} & set(keys(app))
    app.toggle(key="hold").set_value(False).run()
    assert answered(app) == "0.0%" and metrics(app)["Promised"] == "No promise"
    move(app, 0.5)
    assert badges(app) == [UNCERTIFIED, NO_GUARANTEE]
    assert said(app, "0 of 50 answered questions were wrong")


# ------------------------------------------------------------------------- the list of prices


def few():
    """Too few labels for the target that the page begins with, but enough for a larger one."""
    rows = (f"question {row},{row / 100},{int(row < 40 or row == 49)}" for row in range(50))
    return "\n".join(["question,doubt,correct", *rows]).encode()


def test_what_cannot_be_certified_shows_what_can_and_offers_it(app):
    upload(app, few())
    assert badges(app) == [UNCERTIFIED] and said(app, "5% was set before these rows were looked at")
    press(app, "show_prices")
    prices = table(app, "at most wrong")
    assert list(prices["at most wrong"]) == ["2%", "5%", "6%", "8%", "10%", "15%", "20%"]
    # Without an error, 5 % at δ / 7 takes 83 answers, 10 % takes 41, and 15 % takes 27.
    cheapest = certified(40, 9, 0.15, 1 - 0.025 / 7)
    assert list(prices["answered"][:5]) == ["no promise"] * 5
    assert list(prices["answered"][5:]) == [
        share(cheapest, 50),
        share(certified(40, 9, 0.2, 1 - 0.025 / 7), 50),
    ]
    assert app.button(key="promise").label == "Promise at most 15%"
    settled(app.selectbox(key="method").set_value("crc").run())
    assert said(app, "Learn-then-Test alone can pay for a choice among targets.")
    press(app, "promise")
    assert badges(app) == [GUARANTEED] and metrics(app)["Promised"] == "at most 15% wrong"
    assert app.selectbox(key="method").value == "ltt" and answered(app) == share(cheapest, 50)
    assert said(app, "15% was chosen from the list, after a look at these rows.")
    assert said(app, "With 90% confidence over draws of 50 labelled rows, at most 15%")
    assert said(app, "The target was chosen among 7 after a look at the rows")
    assert "promise" not in keys(app)  # it is the smallest


def test_a_target_that_is_set_before_the_file_has_all_of_delta(app):
    set_target(app, alpha=0.1)
    upload(app, written())
    assert said(app, "10% was set before these rows were looked at")
    assert answered(app) == share(certified(RIGHT, WRONG, 0.1))


def test_where_nothing_can_be_promised_the_list_says_so(app):
    upload(app, written(labels=("0", "0")))
    press(app, "show_prices")
    assert badges(app) == [UNCERTIFIED] and "promise" not in keys(app)
    assert said(app, "None of these targets can be promised on these labels.")
    assert set(table(app, "at most wrong")["answered"]) == {"no promise"}


# -------------------------------------------------------------------- the rows behind a point


def behind(page):
    return table(page, "right or wrong")


def show(page, part):
    return settled(page.pills(key="part").set_value(part).run())


def test_the_rows_follow_lambda_and_what_a_person_wants_to_see(app):
    upload(app, written())
    pills = app.pills(key="part")
    assert pills.value == RowSelection.ALL and len(behind(app)) == ROWS
    for part, number in (
        (RowSelection.ANSWERED_RIGHT, RIGHT),
        (RowSelection.ANSWERED_WRONG, 3),
        (RowSelection.WITHHELD_RIGHT, 1),
        (RowSelection.WITHHELD_WRONG, WRONG - 3),
    ):
        show(app, part)
        assert len(behind(app)) == number
        if part is RowSelection.ANSWERED_WRONG:
            assert list(behind(app)["question"]) == [f"question {RIGHT + at}" for at in range(3)]
    move(app, 1.005)
    show(app, RowSelection.WITHHELD_RIGHT)
    assert len(behind(app)) == 50 and set(behind(app)["decision"]) == {"withheld"}
    elsewhere_and_back(app)
    assert app.pills(key="part").value == RowSelection.WITHHELD_RIGHT
    set_target(app, alpha=0.001)  # nothing can be certified: the rows are there all the same
    assert badges(app) == [UNCERTIFIED] and len(behind(app)) == RIGHT + 1
    upload(app, written(labels=("1", "1")))
    show(app, RowSelection.WITHHELD_WRONG)
    assert said(app, "There is no such row.")


def test_many_rows_are_shown_in_part_and_taken_along_whole(app):
    lines = (f"q{row},{row},{int(row % 4 > 0)}" for row in range(2000))
    upload(app, "\n".join(["question,doubt,correct", *lines]).encode())
    assert len(behind(app)) == 1000
    assert any("the first 1,000 rows" in c.value for c in app.caption)


# ---------------------------------------------------------------------- a score's own direction


def test_a_confidence_is_never_shown_as_a_negative_doubt(app):
    rows = (f"question {row},{1 - row / 250:.3f},{int(not is_wrong(row))}" for row in range(ROWS))
    upload(app, "\n".join(["question,agreement_confidence,correct", *rows]).encode())
    at = 1 - (certified(RIGHT, WRONG) - 0.5) / 250
    assert metrics(app)["Threshold"] == f"{at:.3f}" == "0.390"
    assert said(app, "Answer when agreement_confidence > 0.390.")
    assert any(alt.endswith("threshold 0.390.") for alt in pictures(app))
    assert threshold(app)["words"]["title"] == "confidence: agreement_confidence"
    assert threshold(app)["now"] == pytest.approx(at)
    low, high = (threshold(app)["places"]["values"][end] for end in (0, -1))
    assert high == 1 and low == pytest.approx(0.204 - 0.796 / 200)  # a step more: for everything
    first = behind(app)
    assert first["score"][0] == 1 and "doubt" not in first
    for to, λ, some in ((low, "−∞", ROWS), (high, "1.000", 0)):
        move(app, to)
        assert cards(app)[-1][:2] == (λ, share(some))
    move(app, 0.5)
    assert said(app, "Answer when agreement_confidence > 0.49")  # the nearest place
    shown = [*texts(app), *pictures(app), *metrics(app).values()]
    shown += [str(cell) for t in app.dataframe for cell in t.value.to_numpy(object).ravel()]
    assert not [text for text in shown if re.search(r"(?<!\w)[-−]\d", text)]


# -------------------------------------------------------------- going, coming back, moving λ


@pytest.fixture
def work(monkeypatch):
    """What the page computed over all rows, by name, and the comparisons that were begun."""
    done = []

    def counted(module, name):
        function = getattr(module, name)

        def wrapper(*args, **kwargs):
            # What a comparison computes in its own thread, perhaps for the test before, is not
            # the page's doing.
            if name == "compare" or get_script_run_ctx(suppress_warning=True) is not None:
                done.append(name)
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, wrapper)

    for name in ("calibrate", "curves", "by_entropy", "shares", "compare", "halves"):
        counted(OWNERS[name], name)
    for name in ("suggest", "kinds", "labelled_rows", "independent_rows", "column_of"):
        counted(data, name)
    counted(isolation, "parse_isolated")
    return done


OWNERS = {"compare": diagnostics, "halves": holdout} | dict.fromkeys(
    ("calibrate", "curves", "by_entropy", "shares"), result
)


def test_a_rerun_and_a_way_back_compute_nothing_anew_and_keep_what_was_set(app, work):
    upload(app, two_scores(), "mine.csv")
    choose_scores(app, "doubt")
    set_target(app, alpha=0.1, confidence=0.8)
    move(app, 0.5)
    assert {"suggest", "calibrate", "curves", "shares", "labelled_rows"} <= set(work)
    assert work.count("parse_isolated") == work.count("suggest") == 1
    before, found = metrics(app), badges(app)
    work.clear()
    app.run()
    elsewhere_and_back(app)
    assert work == [] and metrics(app) == before
    assert said(app, "mine.csv: 200 rows, 5 columns (CSV)")
    assert of_key(app.multiselect, "doubtful_").value == ["doubt"]
    assert app.number_input(key="wrong").value == 10
    assert app.number_input(key="sure").value == 80
    assert threshold(app)["now"] == pytest.approx(0.5, abs=0.01) and badges(app) == found == [
        GUARANTEED,
        NO_GUARANTEE,
    ]
    set_target(app, alpha=0.2)  # λ that was moved for one target is not moved for another
    assert badges(app) == [GUARANTEED]
    assert "calibrate" in work and "curves" not in work
    assert not {"parse_isolated", "suggest", "kinds", "labelled_rows", "halves"} & set(work)


def test_a_threshold_loses_its_promise_beyond_its_block_and_gets_it_back_at_its_place(app, work):
    """However far it moves, it is no new look, and computes nothing over all rows."""
    scores = [f"{row // 10 / 10:.1f}" for row in range(ROWS)]  # twenty blocks of ten
    upload(app, written(scores=scores))
    places, at = threshold(app)["places"], threshold(app)["now"]
    assert at == pytest.approx(1.45) and places["values"][0] == 0  # 150 right ones, no wrong one
    looked = len(storage().looks.all())
    work.clear()
    for value, is_promised in ((1.41, True), (1.49, True), (1.51, False), (1.39, False)):
        move(app, value)
        place = places["values"].index(threshold(app)["now"])
        assert places["promised"][place] is is_promised
        assert badges(app) == [GUARANTEED] + [NO_GUARANTEE] * (not is_promised)
        assert metrics(app)["Promised"] == ("at most 5% wrong" if is_promised else "No promise")
        assert cards(app)[0] == ("1.450", share(RIGHT), "0")  # what was found stays found
        assert len(cards(app)) == 2
        assert float(app.query_params["threshold"]) == pytest.approx(value, abs=0.01)
    assert said(app, "No promise: λ was chosen by hand. On the 200 labelled rows, 0 of 140 ")
    # Everything means also what is less sure than all that was labelled.
    for end, λ, some, wrong in ((0, "0.000", 0, None), (-1, "∞", ROWS, str(WRONG))):
        move(app, places["values"][end])
        assert cards(app)[-1] == (λ, share(some), wrong)
    assert work == []
    again = reloaded(app)
    assert threshold(again)["now"] == threshold(app)["now"] and cards(again) == cards(app)
    work.clear()
    move(app, at)
    assert badges(app) == [GUARANTEED] and len(cards(app)) == 1
    assert "threshold" not in app.query_params
    assert work == [] and len(storage().looks.all()) == looked


def test_an_address_puts_the_threshold_nowhere_else(app):
    upload(app, written())
    again = reloaded(app, threshold="-1")
    assert threshold(again)["now"] == 1.525 and "threshold" not in again.query_params
    assert threshold(reloaded(app, threshold="1.6"))["now"] == pytest.approx(1.6, abs=0.01)
    set_target(again := reloaded(app, threshold="1.6"), alpha=0.2)
    assert badges(again) == [GUARANTEED]  # moved for one target is not moved for another


# ------------------------------------------------------------------------- after a reload


def reloaded(page, **bound):
    """The same address in another session: what a reload is. Browsers alone write the bound."""
    return session("calibration", **page.query_params, **bound)


def test_a_reload_finds_the_file_what_was_said_of_it_and_what_was_tried(app):
    content = two_scores() + b"\nquestion x,1,0.5,maybe,1"
    upload(app, content, "mine.csv")
    choose_scores(app, "doubt")
    choose(app, "correct_", "doubt_correct")
    means(app, Meaning.OUT)
    set_target(app, alpha=0.11)
    set_target(app, alpha=0.1)
    before, words = metrics(app), texts(app)
    again = reloaded(app, alpha="0.1")
    assert said(again, "mine.csv: 201 rows, 5 columns (CSV)")
    assert metrics(again) == before and texts(again) == words
    assert of_key(again.multiselect, "doubtful_").value == ["doubt"]
    # Chosen from the list after a look: a reload does not make it a target set before.
    assert said(again, "10% was chosen from the list") and look(again) == look(app)
    assert shows_example(press(again, "remove_upload")) and "file" not in again.query_params
    gone = reloaded(app)
    assert badges(gone) == [PROBLEM] and said(gone, "The file that this address names is not saved")
    upload(gone, content, "mine.csv")
    assert PROBLEM not in badges(gone) and said(gone, "mine.csv: 201 rows")


def test_a_reload_keeps_the_policy_in_use_until_it_is_stopped(example):
    use(example)
    again = reloaded(example)
    assert badges(again) == ["Policy in use", *OPENING[:2]]
    for name in ("inspection", "history"):  # a badge of the default would promise more
        page = session(name, policy=again.query_params["policy"])
        assert policy_badges(page) == ["Answered: ≤ 10% *wrong* (90% sure)"]
    assert badges(session("inspection", policy=again.query_params["policy"]))[0] == "Policy in use"
    press(again, "stop_policy")
    assert "policy" not in again.query_params and badges(reloaded(again)) == OPENING
    page = session("calibration", policy="nobody-knows-it")
    assert said(page, "The policy that this address names is not saved here")
    assert badges(page) == [PROBLEM, *OPENING]


def test_what_cannot_be_saved_says_so(app, monkeypatch):
    monkeypatch.setattr(labelled_files, "LARGEST", 100)
    upload(app, written())
    assert badges(app) == [GUARANTEED] and "file" not in app.query_params
    assert said(app, "so it is not saved. After a reload of the page, upload it again.")


def test_what_cannot_be_read_now_is_found_when_it_can(example, monkeypatch):
    """A database that is down or locked says nothing of what it holds."""

    def down(*_, **__):
        raise StoreError("The database could not be reached. Start it.")

    use(example)
    address = dict(example.query_params)
    with monkeypatch.context() as broken:
        for kind, method in ((SavedResults, "open"), (labelled_files.Files, "open")):
            broken.setattr(kind, method, down)
        page = session("calibration", **address)
        assert said(page, "The default policy decides: that of this address cannot be read. The da")
        assert said(page, "The file that this address names cannot be read. The database could")
        assert page.query_params == address and badges(page) == [PROBLEM] * 2
    assert badges(settled(page.run())) == ["Policy in use", *OPENING[:2]]


def test_a_file_and_a_policy_are_used_where_neither_can_be_saved_and_saved_once_they_can(
    app, monkeypatch
):
    with monkeypatch.context() as broken:
        for kind in (SavedResults, labelled_files.Files):
            broken.setattr(kind, "save", disk_full)
        upload(app, EXAMPLE.read_bytes() + b"\n", "mine.csv")
        assert badges(app) == [PROBLEM, OVERALL] and "file" not in app.query_params
        assert said(app, "The disk is full. Make room. Until then, a reload of the page loses")
        use(app)
        assert "Policy in use" in badges(app) and "policy" not in app.query_params
        assert said(app, "The disk is full. Make room. Until then, a reload of the page goes")
        before = metrics(app.run())
        assert badges(app).count(PROBLEM) == 2 and not app.query_params
    app.run()
    assert PROBLEM not in badges(app) and not said(app, "Until then")
    again = reloaded(app)
    assert "Policy in use" in badges(again) and metrics(again) == metrics(app) == before


def test_what_waits_to_be_saved_and_is_given_up_is_not_saved(app, monkeypatch):
    saved = storage().results.search().total
    with monkeypatch.context() as broken:
        for kind in (SavedResults, labelled_files.Files):
            broken.setattr(kind, "save", disk_full)
        upload(app, EXAMPLE.read_bytes(), EXAMPLE.name)
        use(app)
        press(app, "stop_policy")
        press(app, "remove_upload")
    app.run()
    assert badges(app) == OPENING[:-1] and not app.query_params
    assert storage().results.search().total == saved


# ---------------------------------------------------------- held back, and confirmed once


def test_a_half_is_held_back_and_confirms_once(app):
    app.toggle(key="hold").set_value(True).run()  # before anything was seen
    own = EXAMPLE.read_bytes() + b"\n"
    upload(app, own)
    first, second = holdout.halves(study.read(own, EXAMPLE.name))
    half = len(first.kept)
    assert said(app, f"Rows to try settings on: {half}; held back: {len(second.kept)}.")
    found = calibrate(first, Target(), looks=())
    assert answered(app) == f"{found.outcome.coverage:.1%}" and badges(app) == [OVERALL]
    assert words.own_rule(found.policy) in texts(app)  # a λ that is moved is not confirmed
    press(app, "confirm")
    expected = holdout.confirm_half(found.policy, second, ())
    assert expected.confidence == pytest.approx(0.95)
    assert words.confirmation(expected) in texts(app) and app.button(key="confirm").disabled
    assert badges(app) == [OVERALL, "Confirmed" if expected.keeps_target else "Not confirmed"]
    set_target(app, alpha=0.1)  # another threshold
    assert badges(app) == [OVERALL] and not app.button(key="confirm").disabled
    press(app, "confirm")
    assert said(app, "This is look 2 at these labels, so each bound was computed at 97.5%")
    set_target(app, alpha=0.05)  # and the first again: it is as confirmed as it was
    assert app.button(key="confirm").disabled and words.confirmation(expected) in texts(app)
    assert not said(app, "This is look 2")


def test_what_was_tried_on_all_rows_is_held_against_a_confirmation(app):
    upload(app, written())
    set_target(app, alpha=0.1)
    app.toggle(key="hold").set_value(True).run()
    press(app, "confirm")
    assert said(app, "This is look 3 at these labels, so each bound was computed at 98.75%")


# -------------------------------------------------------------------- policies in use


def use(page):
    if "use_policy" not in keys(page):  # of the default policy
        set_target(page, alpha=0.1)
    page.button(key="use_policy").click().run()
    return settled(page.run())  # AppTest loses what a rerun of its own draws


def test_a_policy_is_used_until_it_is_stopped(example):
    assert "stop_policy" not in keys(example)
    use(example)
    policy = example.session_state["policy_in_use"]
    assert badges(example) == ["Policy in use", *OPENING[:2]]
    assert f"{policy.in_short} {policy.caution}" in " ".join(texts(example))
    assert "use_policy" not in keys(example) and "to_inspection" in keys(example)
    assert Headline.BELIEVE not in by_headline(example)
    assert f"doubt below {policy.threshold:.3f}" in texts(example)
    move(example, 0.5)  # another threshold is another policy
    assert "to_inspection" not in keys(example)
    press(example, "stop_policy")
    assert badges(example) == [*OPENING[:2], NO_GUARANTEE]
    set_target(example, confidence=0.8)  # too little for a promised word of Inspection
    assert said(example, UNPROMISED.label) and Headline.PERHAPS not in by_headline(example)
    set_target(example, confidence=0.9)
    choose_scores(example, "semantic_entropy", surer=["sampled_mass"])
    score(example).set_value("sampled_mass")
    set_target(example, alpha=0.3)
    assert "use_policy" not in keys(example)
    assert said(example, "This policy uses the score “sampled_mass”, which is not computed here.")
    choose_scores(example, surer=["semantic_entropy"])
    example.selectbox(key="method").set_value("empirical").run()
    assert badges(example) == [OPENING[0], NO_GUARANTEE] and "use_policy" not in keys(example)
    assert said(example, "takes a large “semantic_entropy” as a sign of a sure answer")


def bring(page, content):
    return upload(page, content.encode(), "policy.json", "policy_file")


def test_a_policy_can_be_brought_and_says_why_where_it_can_decide_nothing(app):
    entropy = default_policies()["semantic_entropy"]
    named = replace(entropy, pipeline=replace(entropy.pipeline, model="x" * 2_001))
    for content, sentence in (
        (to_json(entropy)[:200], "This file is not a policy, as it is not JSON."),
        (to_json(named), "more than 2,000 characters"),  # which History does not take
    ):
        bring(app, content)
        assert badges(app) == [*OPENING, PROBLEM] and said(app, sentence)
        assert "use_uploaded" not in keys(app)
    bring(app, to_json(replace(default_policy(), pipeline=None)))
    assert said(app, "This policy was calibrated on scores of unknown origin")
    assert app.button(key="use_uploaded").disabled
    entropy = replace(entropy, caution="Not for “never seen”.")
    bring(app, to_json(entropy))
    assert f"Not verified: {entropy.sentence}" in texts(app) and badges(app) == OPENING
    press(app, "use_uploaded")
    assert badges(app) == ["Policy in use", *OPENING[:-1]]
    assert said(app, f"Not verified: {entropy.in_short}")
    (saved,) = storage().results.search().results
    assert saved.outcome == f"Not verified: {entropy.in_short}"
    page = session("calibration", saved=saved.id)
    assert "Not verified" in badges(page)
    press(page, "use_kept")  # which is the same
    assert [each.id for each in storage().results.search().results] == [saved.id]


# ----------------------------------------------------------------------- new scores


def new_scores(page, content, name="new.csv"):
    return upload(page, content, name, "new_scores")


def test_new_scores_are_held_against_those_of_the_calibration(app, work):
    upload(app, written())
    assert "use_policy" not in keys(app) and "ask_here" not in keys(app)
    assert said(app, "as the file does not say how its scores were made")
    same = "\n".join(["doubt", *(f"{(row + 0.4) / 50}" for row in range(ROWS // 2))])
    new_scores(app, same.encode())
    assert badges(app) == [GUARANTEED, "No difference visible"]
    assert said(app, "100 new rows, against 200 of the calibration: no difference is visible")
    assert said(app, "76 of 100 rows are answered.")  # 0.008, 0.028, …, 1.508
    assert said(app, "By the λ that was found, wherever it was moved: answer when doubt < 1.5")
    assert not said(app, "Only if they are")
    set_target(app, alpha=0.2)  # what was computed for one policy is not shown for another
    assert said(app, "rows are answered.") and not said(app, "76 of 100")
    set_target(app, alpha=0.05)
    other = "\n".join(["doubt", *(f"{(row + 0.4) / 100 + 1}" for row in range(ROWS))])
    new_scores(app, other.encode())
    assert badges(app) == [GUARANTEED, "Different"] and said(app, "53 of 200 rows are answered.")
    new_scores(app, b"doubt,note\n0.1,\n0.2,\n,missing\n")
    assert badges(app) == [GUARANTEED, "Too few to say"] and said(app, "2 of 3 rows are answered.")
    assert said(app, "What was seen of 3 rows, 2 of them below λ, does not show whether they are")
    new_scores(app, b"other\n0.5\n")
    assert badges(app) == [GUARANTEED, PROBLEM]
    assert said(app, "There is no column “doubt” in new.csv.")
    work.clear()
    new_scores(app, b"doubt\n" + b"1,2\n", "ragged.csv")
    app.run()
    assert said(app, "Line 2 has 2 cells")
    assert work.count("parse_isolated") == 1, "it is not tried again at every rerun"
    upload(app, b"", "bad.csv")
    bring(app, "{")
    assert badges(app).count(PROBLEM) == 3  # each complaint has a place of its own
    new_scores(app, b"doubt\n1\n", "good.csv")
    assert not said(app, "Line 2 has 2 cells")


# --------------------------------------------------------------- the comparison, beside


def has_intervals(page):
    return any("95% interval" in table.value for table in page.dataframe)


@pytest.mark.parametrize("at_once", [ROWS - 1, ROWS])
def test_large_tables_are_compared_when_somebody_asks(app, monkeypatch, at_once):
    monkeypatch.setattr("core.ui.calibration.diagnostics.SMALL_COMPARISON", at_once)
    upload(app, written())
    assert has_intervals(app) == ("compare" not in keys(app)) == (at_once == ROWS)


# ---------------------------------------------------------------- questions, to be scored

GOLD = {  # some right answers on purpose wrong, so that both labels come up
    "What is the capital of France?": "Paris",
    "What is the capital of Germany?": "Bonn",
    "What is the capital of Italy?": "Rome",
    "What is the capital of Spain?": "Toledo",
}


@pytest.fixture
def gold(fresh):
    """A file of questions that nobody has uploaded yet."""
    rows = (f"{question},{answer},capitals" for question, answer in GOLD.items())
    return "\n".join(["question,gold answers,source", *rows]).encode()


def served(question, embedded):
    inspection = run(usual_request(question, embedded.capabilities), embedded)
    return inspection.scores["mutual_information"].answer


def predictions():
    """150 right ones, wrong ones of larger doubt, ten by “same answer” alone, and a right one."""
    texts = [*(["2 days"] * RIGHT), *(["Paris"] * (WRONG - 10)), *(["5 days"] * 10), "2 days"]
    rows = (f"{IMAGE} {row},{text},2 days,{row / 100}" for row, text in enumerate(texts))
    return "\n".join(["question,prediction,gold,doubt", *rows]).encode()


def test_predictions_beside_references_are_graded_by_whom_the_person_says(app):
    upload(app, predictions(), name="predictions.csv")
    assert ASKED in badges(app) and has_no_result(app)
    grader = of_key(app.pills, "grader_")
    settled(grader.set_value("same-answer").run())
    assert answered(app) == share(paid(app, RIGHT, WRONG))
    (sentence,) = said(app, "differ on 5.0% of 200 questions (10;")
    assert "0 right by the first alone, 10 by the second alone" in sentence
    assert said(app, "promises agreement with it, not truth")
    differ = table(app, "same answer")
    assert list(differ["same answer"]) == ["wrong"] * 10
    assert list(differ["the paper’s f1"]) == ["right"] * 10
    assert all(IMAGE in text for text in differ["question"]) and harmless(app)
    look_before = look(app)
    settled(of_key(app.pills, "grader_").set_value("paper").run())
    assert look(app) == look_before + 1  # another grader is another look
    again = session("calibration", **{"file": app.query_params["file"]})
    assert of_key(again.pills, "grader_").value == "paper"
    assert answered(again) == answered(app)


def label(page):
    """Label the row whose turn it is as the rule does."""
    (rules,) = said(page, "Same answer: ")
    press(page, "label_right" if rules.startswith("Same answer: right") else "label_wrong")


def test_a_person_labels_one_row_at_a_time_and_only_labelled_rows_count(app):
    upload(app, predictions(), name="predictions.csv")
    set_target(app, alpha=0.5, confidence=0.5)
    settled(of_key(app.pills, "grader_").set_value("person").run())
    assert said(app, "0 of 200 labelled") and has_no_result(app) and harmless(app)
    assert app.button(key="label_undo").disabled and app.button(key="use_labels").disabled
    for _ in range(5):
        label(app)
    press(app, "label_skip")
    press(app, "label_skip")
    press(app, "label_undo")
    assert said(app, "6 of 200 labelled, 1 of them left out.") and has_no_result(app)
    press(app, "use_labels")
    assert app.button(key="use_labels").disabled
    assert said(app, "The labels were made by a person. 195 rows without a label were left")
    assert said(app, "A person and the rule “same answer” differ on 0.0% of 5 questions (0;")
    assert GUARANTEED in badges(app)
    before = look(app)
    label(app)  # which waits until the person wants it used
    assert look(app) == before and said(app, "7 of 200 labelled")
    address = {"file": app.query_params["file"], "alpha": "0.5", "confidence": "0.5"}
    again = session("calibration", **address)
    assert said(again, "7 of 200 labelled") and not again.button(key="use_labels").disabled
    assert said(again, "195 rows without a label were left out")
    press(again, "use_labels")
    assert said(again, "194 rows without a label were left out") and look(again) == before + 1
    settled(of_key(again.pills, "grader_").set_value("same-answer").run())
    again = session("calibration", **address)  # where nobody labels, the labels are beside it, too
    assert said(again, "The rule “same answer” and a person differ on 0.0% of 6 questions (0;")
    settled(of_key(again.pills, "grader_").set_value("person").run())
    press(again, "label_delete_all")
    assert said(again, "0 of 200 labelled") and has_no_result(again)
    assert said(session("calibration", **address), "0 of 200 labelled")


def test_a_model_judges_once_somebody_agrees_to_what_that_takes(app, monkeypatch):
    gold = [f"{letter}x" for letter in ascii_lowercase * 10][:ROWS]
    texts = [*gold[:RIGHT], *(["?"] * 10), *(f"{word}y" for word in gold[RIGHT + 10 : -1]), "1"]
    lines = [f"{row},{text},{gold[row]},{row / 100}" for row, text in enumerate(texts)]
    content = "\n".join(["question,prediction,gold,doubt", *lines]).encode()
    upload(app, content, name="predictions.csv")
    settled(of_key(app.pills, "grader_").set_value("model").run())
    assert said(app, "The embedded model never learnt to compare answers") and has_no_result(app)
    judge = Judge()
    monkeypatch.setattr(judging, "current", lambda: judge)
    monkeypatch.setattr(judging, "model_or_problem", lambda: judge)
    settled(app.run())
    assert said(app, "judge: at most 78 calls and") and not judge.prompts
    press(app, "pay_judging")
    assert len(judge.prompts) == 70  # twenty controls, and what is written otherwise
    assert answered(app) == share(paid(app, 189, 1), of=190)  # it said nothing of ten
    assert said(app, "The labels were made by the model judge: what it calls wrong counts")
    assert said(app, "10 rows without a label were left out")
    assert said(app, "The model judge and the paper’s rule (token F1 ≥ 0.25) differ on 20.5%")


def test_labels_that_cannot_be_saved_stay_and_are_saved_with_the_next(app, monkeypatch):
    upload(app, predictions(), name="predictions.csv")
    settled(of_key(app.pills, "grader_").set_value("person").run())
    with monkeypatch.context() as patch:

        def refuse(*_):
            raise StoreError("The disk is full.")

        patch.setattr(Labels, "save", refuse)
        press(app, "label_right")
        assert PROBLEM in badges(app) and said(app, "1 of 200 labelled")
        assert said(app, "What you did last is not saved yet")
    press(app, "label_wrong")
    assert PROBLEM not in badges(app)
    with monkeypatch.context() as patch:  # another database is in its place
        patch.setattr(Storage, "why", "It cannot be opened yet.")
        patch.setattr(Labels, "of", lambda *_: {})
        again = session("calibration", **{"file": app.query_params["file"]})
        assert said(again, "0 of 200 labelled")
    assert said(settled(again.run()), "2 of 200 labelled, 0 of them left out")


def test_scores_of_unknown_origin_decide_nothing_here_and_the_questions_can_be_asked(app):
    lines = [f"{line},right {row}" for row, line in enumerate(written().decode().splitlines())]
    upload(app, "\n".join(lines).replace("right 0", "gold answers", 1).encode())
    assert badges(app) == [GUARANTEED] and "use_policy" not in keys(app)
    assert said(app, "for that, have a model asked questions with right answers.")
    press(app, "ask_here")
    assert "start_run" in keys(app) and has_no_result(app)
    settled(of_key(app.checkbox, "scored_").check().run())
    assert badges(app) == [GUARANTEED]  # the scores of the file are there as before


def test_questions_with_right_answers_are_asked_in_a_run_and_calibrated_on(app, gold, embedded):
    upload(app, gold + b"\nWho is it?,,people\n,Nobody,people\n", "gold.csv")
    assert said(app, "Left out: Line 6: there is no right answer.")
    assert said(app, "Left out: Line 7: there is no question.")
    assert said(app, "gold.csv: 4 questions.") and has_no_result(app)
    press(app, "start_run")
    assert said(app, "4 of 4 questions finished. Answered by embedded")
    right = [matches(served(question, embedded), [answer]) for question, answer in GOLD.items()]
    assert 0 < sum(right) < 4
    assert badges(app) == [UNCERTIFIED]  # four are too few
    assert said(app, "Too few labelled answers have a score: 4.")
    alt = f"Histogram of Mutual information for {sum(right)} right and {4 - sum(right)} wrong"
    assert any(text.startswith(alt) for text in pictures(app))
    assert [d.proto.label for d in app.get("download_button")].count("Download the scored table")
    settled(score(app).set_value("semantic_entropy").run())
    assert score(reloaded(app)).value == "semantic_entropy"  # what was said of a run's rows, too
    app.selectbox(key="method").set_value("empirical")
    set_target(app, alpha=0.5)
    assert "use_policy" in keys(app)  # the model here made these scores


def test_a_run_begun_here_survives_a_restart_and_goes_on_where_it_was(world):
    asked = questions(12)
    rows = [f"{q.query},{q.answers[0][0]}" for q in asked]
    content = "\n".join(["question,gold answers", *rows]).encode()
    page = upload(session("calibration"), content, "gold.csv")
    world.free = 5
    page.button(key="start_run").click().run()
    until(page, lambda: len(world.in_runs) == 5)
    key = run_named(page)
    assert page.get("progress") and has_no_result(page)
    page.button(key=f"cancel_evaluation_{key}").click().run()
    assert said(page, "Cancelled. Finished questions are saved.")
    world.open.set()
    world.free = 10**9
    for job in [thread for thread in threading.enumerate() if thread.name == JOB]:
        job.join(LONG)
    st.cache_resource.clear()  # as a restart does
    again = session("calibration", **page.query_params)
    done = Run(runs().find(key)).finished_questions
    assert 0 < done < 12 and said(again, f"{done} of 12 questions finished.")
    assert said(again, "gold.csv: 12 rows")
    alone = session("calibration", run=key)  # where no file is saved, the address has the run
    assert said(alone, f"{done} of 12 questions finished.")
    press(alone, "go_on")
    for here in (alone, settled(again.run())):
        assert said(here, "12 of 12 questions finished.")
        assert said(here, "Too few labelled answers have a score: 12.")
    assert sorted({*world.in_runs}) == list(range(12)) and len(world.in_runs) <= 12 + 1
    assert "run" not in press(alone, "close_run").query_params and shows_example(alone)
    press(again, "remove_upload")
    assert shows_example(again) and session("evaluation", run=key)


# ------------------------------------------------------------ the inspection follows


def inspect(page, question=None, **settings):
    """Go to the inspection, ask, and wait for the verdict."""
    go(page, "inspection").run()
    if question is not None:
        page.text_input(key="q").set_value(question)
    for key, value in settings.items():
        of_key([*page.slider, *page.number_input], key).set_value(value)
    page.run()
    return until(page, lambda: page.code)


def verdict(page):
    """What the scale of doubt says: by which score, and where λ is."""
    return next(alt for alt in pictures(page) if "λ = " in alt)


def decided(page):
    """What the verdict's heading says."""
    (found,) = {heading.value for heading in page.header} & {one.label for one in STAMPS.values()}
    return found


def use_entropy_by_hand(page, value):
    """Semantic entropy decides, at a λ that somebody chose."""
    score(page).set_value("semantic_entropy").run()
    return use(move(page, value))


def test_the_inspection_follows_the_policy_in_use_as_far_as_it_can(example):
    """A question with many answers: much entropy, little mutual information."""
    question = "Name a yellow fruit."
    before = decided(inspect(example, question))
    promise = promise_in_words(BELIEVED, 0.02, 0.9)
    assert [each.replace("*", "") for each in policy_badges(example)] == [promise]
    example.session_state["policy_badge_1"] = True
    example.run()
    assert said(example, default_policy().caution), "where the promise is broken is named"
    assert said(example, "An example that is built in: Learn-then-Test, ") and not said(
        example, NO_FIT
    )
    settled(go(example, "calibration").run())
    use_entropy_by_hand(example, 0.25)
    inspect(example)
    assert badges(example)[0] == "Policy in use" and decided(example) != before
    assert re.search(r"nats by S\.E\.; that is (?:below|at least) λ = 0\.2\d+\.", verdict(example))
    assert said(example, "No promise: λ was chosen by hand.")
    assert policy_badges(example) == ["The policy promises nothing"]
    example.session_state["policy_badge_1"] = True
    example.run()
    assert said(example, "In use until you stop it: chosen by hand, ")
    inspect(example, tau=0.9)
    assert policy_badges(example) == ["The policy does not fit"]
    assert said(example, "τ = 0.25 there, 0.9 here")
    assert example.header[0].value == STAMPS[Headline.UNDECIDED].label
    assert not said(example, "λ = ")  # no other policy takes its place
    example.session_state["policy_badge_0"] = True
    example.run()
    assert said(example, NO_FIT)
    inspect(example, tau=0.25)
    assert not said(example, "different pipeline") and "by S.E." in verdict(example)
    press(example, "stop_policy")
    until(example, lambda: example.code)
    assert decided(example) == before and "M.I." in verdict(example)
    assert "Policy in use" not in badges(example)


def test_a_policy_that_can_decide_nothing_here_breaks_no_inspection(app):
    """However it came to be in use: a session may have outlived an update."""
    policy = default_policies()["semantic_entropy"]
    bring(app, to_json(replace(policy, pipeline=replace(policy.pipeline, samples=30))))
    press(app, "use_uploaded")
    inspect(app, "Name a yellow fruit.")
    assert said(app, "k = 30 there, 8 here")
    assert app.header[0].value == STAMPS[Headline.UNDECIDED].label
    press(app, "mend_policy")  # the default fits, and decides once that is wanted
    assert app.header[0].value == STAMPS[Headline.BELIEVE].label and "M.I." in verdict(app)
    unfit = app.session_state["policy_in_use"] = replace(default_policy(), score="confidence")
    inspect(app)
    assert app.header[0].value == STAMPS[Headline.UNDECIDED].label
    assert said(app, cannot_decide(unfit))
