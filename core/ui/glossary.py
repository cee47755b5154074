"""The words of this product, each explained once; every page and every tooltip uses these."""

from __future__ import annotations

from typing import Final

import streamlit as st

# In alphabetical order, which the glossary keeps.
TERMS: Final[dict[str, str]] = {
    "Aleatoric uncertainty": "Spread that no knowledge removes: the question has many right "
    "answers. “Name a bird” spreads over many birds, however well one knows them.",
    "Amplification": "Repeating an answer in the prompt, “One answer to question Q is …. Another "
    "answer to question Q is …”, and watching what the model says then.",
    "Answer or abstain": "The decision: serve the model’s answer when the doubt is below λ, else "
    "say that it does not know.",
    "Attention head": "The part of a transformer that decides how much each earlier piece of the "
    "text counts for the next word. Its weights sum to 1, so that what is repeated takes weight "
    "away from what was asked.",
    "AURC": "The area under the risk–coverage curve: the mean error over all shares answered. "
    "Lower is better.",
    "AUROC": "How well a score finds wrong answers: the chance that a wrong one has the larger "
    "doubt, ties counting half. 0.5 is guessing, 1 is perfect.",
    "Band": "How often the embedded model’s training asked and answered a question: never seen, "
    "rarely seen, half known or by heart; questions with many right answers are a band of "
    "their own.",
    "Certified mutual information": "A lower bound of the model’s own mutual information that "
    "holds whatever was not sampled. It only ever errs towards too little. Symbol M.I. ≥.",
    "Cluster": "Sampled texts that count as one answer, named by the likeliest of them.",
    "Confidence 1 − δ": "How sure the promise should be, such as 0.9: of ten calibrations on new "
    "labelled data, at most one breaks it.",
    "Coverage": "The share of all questions that are answered; the paper calls it recall.",
    "Embedded model": "The small transformer that comes with this program. It was trained on a "
    "world of facts whose truth is known, so that every claim can be checked. It is an "
    "instrument, not an assistant.",
    "Entropy": "How much answers differ, in nats: 0 when all are the same, ln 3 = 1.10 when three "
    "are equally likely. Home shows the semantic entropy.",
    "Epistemic uncertainty": "Doubt for want of knowledge: the model has not learnt the answer. "
    "More training would remove it. This is the doubt that should make one abstain.",
    "Greedy answer": "What the model says when it always takes the likeliest next token "
    "(temperature zero).",
    "Greedy probability": "How probable the model finds its greedy answer. Long answers, and one "
    "of many right ones, look doubtful. Symbol T0.",
    "Joint distribution": "How probable each pair is: a first answer, and the next one when the "
    "first has been told.",
    "Learn-then-Test": "The method behind the guarantee. From strict to loose, each threshold is "
    "tested exactly for too many wrong answers, and the last that passes before one fails is "
    "taken. Risk control bounds the wrong answers among all questions instead; the paper’s "
    "empirical rule promises nothing.",
    "Log-likelihood": "The logarithm of the probability that the model gives to a whole text, "
    "in nats. 0 is certain, −2.3 is one in ten, −4.6 one in a hundred.",
    "Minimum conditional entropy": "How undecided the model remains after the suggestion that "
    "decides it most. Low means that it copies, but also that it is simply sure.",
    "Misconception": "A wrong answer that part of the training documents’ authors believe, so "
    "that the model has learnt it beside the right one.",
    "Mutual information": "How much a second answer depends on a first one that the prompt "
    "suggests, in nats. High means that what the model says hangs on what it was told: it does "
    "not know. Many right answers leave it low. Symbol M.I.",
    "Nat": "The unit of information with natural logarithms: ln 2 = 0.69 nats is one yes-or-no "
    "question.",
    "Normalised conditional probability": "The probability of one answer divided by that of two "
    "together, from 0 to 1, after the prompt has told one of them t times: below one half, the "
    "repeated one has overtaken.",
    "Pair covariance": "How much more often the same answer comes twice in a row than it would by "
    "chance. High means that the model repeats what it was told.",
    "Policy": "A threshold for one score, what it promises, and the only pipeline (model, prompt, "
    "samples, settings) that it holds for.",
    "Product distribution": "How probable each pair would be if telling made no difference: the "
    "two columns of chances multiplied. Where joint and product differ, the model does not know.",
    "Risk–coverage curve": "For every threshold, the share of wrong ones among the answered, "
    "against the share answered.",
    "Sample": "One answer that the model gives when it may choose freely by its probabilities.",
    "Sampled mass": "The share of the model’s whole probability that the sampled answers hold. "
    "Scores over a small share mean little.",
    "Samples k": "How many answers are drawn, 1 to 300. More show more of what it might say.",
    "Score": "A number for every answer that says how much to doubt it, or how sure to be. "
    "Thresholds compare it.",
    "Self-verification": "How probable the model finds “True” rather than “False” when asked "
    "whether its own answer is correct. Symbol S.V.",
    "Semantic entropy": "How much the sampled answers differ in meaning, in nats. It is high for "
    "ignorance and for many right answers alike, and cannot tell them apart. Symbol S.E.",
    "Similarity": "How alike two texts are, from 0 to 1. Token F1, the paper’s, counts shared "
    "words: “London” and “London, UK” have 0.67. With “judge”, the model itself is asked whether "
    "two answers mean the same: 1 is surely, 0 surely not.",
    "Similarity threshold τ": "Texts at least this similar count as one answer. The paper takes "
    "0.25.",
    "Stabilisation γ": "Small numbers added inside the logarithm of M.I. that keep pairs hardly "
    "ever seen from dominating it. The paper’s experiments take 0; above 0, M.I. can leave its "
    "range.",
    "Target error α": "The share of the answered questions that may be wrong, such as 0.05.",
    "Temperature": "How freely answers are drawn, 0.05 to 2: low keeps to the likeliest. "
    "Likelihoods are always at temperature 1; counts are of what was drawn.",
    "Threshold λ": "The doubt from which on one abstains. The default was certified on questions "
    "of the embedded model’s world, for its default settings; Calibration finds others.",
    "Told": "An answer that the prompt mentions before it asks: “One answer to question Q is …”. "
    "What a model knows does not depend on it.",
    "Too little sampled": "The samples hold so little of the probability that a low score means "
    "nothing. More samples may decide it.",
}


def button() -> None:
    """Offer every term; stands on every page."""
    with st.popover("Glossary", icon=":material/menu_book:"):
        _terms()


@st.fragment  # what is typed here must not run the page again
def _terms() -> None:
    typed = st.text_input("Find a term", key="glossary_term") or ""
    wanted = typed.casefold().split()
    found = False
    for term, meaning in TERMS.items():
        if all(word in f"{term} {meaning}".casefold() for word in wanted):
            st.markdown(f"**{term}.** {meaning}")
            found = True
    if not found:
        st.text("No term matches. Use fewer words.")
