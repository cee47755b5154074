"""What labels mean: words that judge by themselves, and words that affirm a heading."""

import pytest

from core.data.tabular.label_words import affirmation_is_right, rightness_of


@pytest.mark.parametrize(
    ("headings", "meaning"),
    [
        (["correct", "isCorrect", "is_right", "answer_correct", "accurate", "factual"], True),
        (["supported", "passed", "success", "exact_match", "acc"], True),
        (["richtig", "Korrekt", "est_correcte", "juste", "correcto", "верно"], True),
        (["is_hallucination", "hallucinated?", "incorrect", "wrong", "error", "is_false"], False),
        (["eval.Hallucination.score", "unsupported", "refused", "failed", "mistake"], False),
        (
            ["Halluzination", "falsch", "fehlerhaft", "faux", "erreur", "alucinación", "fallo"],
            False,
        ),
        # What says nothing, both, the opposite, or names the right answer itself.
        (["label", "verdict", "judged", "human_a", "target", "temperature", "x", ""], None),
        (["correct_or_wrong", "not_correct", "no hallucination", "error free"], None),
        (["correct_answer", "right option", "richtige Antwort", "num_correct", "corrected"], None),
        (["passage", "copyright", "counterfactual", "bright"], None),
        (["partially_correct", "teilweise richtig", "almost right", "fehlerfrei"], None),
        # Something else than the answer is right, or the answer of somebody else.
        (["format_correct", "retrieval_success", "context_accuracy", "human_correct"], None),
        (["predicted_correct", "other_model_correct", "correct_count", "pass_id"], None),
        (["previewcorrect", "self_correct", "successor", "correct_flow", "passport"], None),
        (["wrong_format", "code_error", "fallow", "search_success", "Zeile korrekt"], None),
        (["pass@10", "correct@5", "em @ 16", "pass^10", "acc_5"], None),  # one of several answers
        # Turned by a part of the word, or by a sign.
        (["inCorrect", "Model_InCorrect", "in_correct", "InAccurate", "unhallucinated"], None),
        (["Fehlerlos", "fehlerfreie_antwort", "hallucinationfree", "failsafe", "unmistaken"], None),
        (["correct=0", "!correct", "~correct", "1-correct", "0=correct", "correct_is_0"], None),
        (["supported_model"], None),
        (["pass@1", "em@1"], True),
        (["faithful", "groundedness"], None),  # to a text, which may be wrong
        (
            [
                "eval.answer_correct",
                "result.correct",
                "Antwort richtig?",
                "exact_match,strict-match",
            ],
            True,
        ),
        (["has_hallucination", "contains_hallucinations", "answer is wrong"], False),
        (["unrichtig", "uncorrect", "noncorrect", "misaccurate"], False),
    ],
)
def test_what_a_heading_makes_of_yes(headings, meaning):
    assert {heading: affirmation_is_right(heading) for heading in headings} == dict.fromkeys(
        headings, meaning
    )


def test_words_that_judge_need_no_heading_and_words_that_affirm_do():
    def right(word, heading, *others):
        return rightness_of(word, heading, frozenset({word, *others}))

    for heading in ("verdict", "is_hallucination", "correct"):
        assert (right("pass", heading), right("incorrect", heading)) == (True, False)
    assert [right(word, "correct") for word in ("1", "yes", "0", "nein")] == [
        True,
        True,
        False,
        False,
    ]
    assert [right(word, "wrong") for word in ("1", "ja", "0", "false")] == [
        False,
        False,
        True,
        True,
    ]
    assert [right(word, "label") for word in ("1", "yes", "0", "no")] == [None] * 4
    # Whoever met no error and did not refuse may be wrong all the same.
    assert [right(word, "refused") for word in ("true", "false")] == [False, None]
    # Any test may be passed, and anything right.
    for heading in ("format_check", "latency", "spelling", "political_leaning", "refusal_test"):
        assert not {right(word, heading) for word in ("pass", "c", "right", "incorrect")} - {None}
    for heading in ("Ergebnis", "gpt label", "graded by the rule “same answer”", ""):
        assert (right("pass", heading), right("wrong", heading)) == (True, False)
    assert right("supported", "image_input") is None
    assert (right("pass", "human_check"), right("c", "verdict")) == (True, True)
    assert right("falsch", "verdict", "richtig") is False
    assert right("falsch", "is_hallucination", "wahr") is True
