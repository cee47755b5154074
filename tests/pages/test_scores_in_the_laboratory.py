"""The laboratory's experiments on scores: each opens on what is shipped, and runs with others."""

from tests.sessions import pictures, press, said, session, settled


def test_pictures_of_one_chart_with_other_settings_are_others():
    page = session("laboratory", experiment="yielding")
    drawn = [chart.proto.spec for chart in page.get("vega_lite_chart")]
    assert len(set(drawn)) == len(drawn) > 4


def test_a_set_of_questions_is_varied_at_the_press_of_a_button():
    page = session("laboratory", experiment="deciding", deciding_about="set", deciding_each="1")
    page.number_input(key="deciding_seeds").set_value(2).run()
    assert said(settled(page), "This has not been computed with these settings.")
    press(page, "start_laboratory_deciding")
    assert said(page, "of 5 verdicts")
    assert [p for p in pictures(page) if p.startswith("By seed, nats: 0: M.I. ")]


def test_related_scores_of_other_questions_are_computed():
    page = session("laboratory", experiment="related", related_each="2")
    press(page, "start_laboratory_related")
    assert said(page, "AUROC for wrong answers on 10 questions")


def test_longer_chains_of_another_question_may_sample_none():
    page = session(
        "laboratory",
        experiment="chains",
        chains_question="Name a metal.",
        chains_chains="0",
        chains_longest="3",
    )
    press(page, "start_laboratory_chains")
    (sentence,) = said(page, "answers have an M.I. of")
    assert "sampled chains" not in sentence
