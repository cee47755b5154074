"""The words of this product, each explained once; every page and every tooltip uses these."""

from typing import Final

import streamlit as st

from core.data.world.nearest import NEAR
from core.studies.inspection.verdict import LARGEST_ERROR

#: The key of the verdicts: of each word, when it is said, the same wherever one asks.
KEY: Final[dict[str, str]] = {
    "✓ Believe it": "The doubt is at most 1/10 of the most possible (ln m for m answers); of a "
    "single answer, at most 50%. It has a promise of its own.",
    "≈ Perhaps": "The doubt is below the limit λ, but larger; or even a model that only repeats "
    f"what it is told stays below it; or more than {LARGEST_ERROR:.0%} may be wrong. The promise "
    "is of all that is served.",
    "≈ Perhaps, no promise": "The doubt is small, but nothing promises how many such answers are "
    "wrong, as where the words were not taught, or nobody here checked the policy.",
    "? I don’t know": "The doubt is λ or more, or nothing near was taught. The answer is withheld.",
    "… Can’t tell yet": "Too little was seen, or the policy does not fit. The answer is withheld.",
}
VERDICTS: Final = "  \n".join([f"**{word}**: {when}" for word, when in KEY.items()])

OF_ONE_ANSWER: Final = (
    "The doubt of a single answer is how likely the model says something else, told others. In "
    "nats it is 0 up to 50%, and −ln of the rest above."
)

# In alphabetical order, which the glossary keeps.
TERMS: Final[dict[str, str]] = {
    "Aleatoric uncertainty": "Spread that no knowledge removes: the question has many right "
    "answers. “Name a yellow fruit” spreads over many fruits, however well the model knows them.",
    "Amplification": "Repeating an answer in the prompt, “One answer to question Q is …. Another "
    "answer to question Q is …”, and watching the model’s next answer.",
    "Answer in the prompt": "An answer that the prompt gives before it asks: “One answer to "
    "question Q is …”. What a model knows does not depend on it.",
    "Attention head": "The part of a transformer that decides how much each earlier piece of the "
    "text counts for the next word. Its weights sum to 1, so repeated text takes weight away "
    "from the question.",
    "AUGRC": "The area under the generalised risk–coverage curve: as AURC, but of wrong answers "
    "among all questions instead of those answered. Lower is better.",
    "AURC": "The area under the risk–coverage curve: the mean error over all shares answered. "
    "Lower is better.",
    "AUROC": "How well a score finds wrong answers: the chance that a wrong one has the larger "
    "doubt, ties counting half. 0.5 is guessing, 1 is perfect.",
    "Band": "How often the embedded model’s training asked and answered a question: never seen, "
    "rarely seen, half known or by heart; questions with many right answers are a separate "
    "band, and so are lists that it never taught.",
    "Certified mutual information": "A lower bound of the model’s own mutual information that "
    "holds whatever answers were not seen. It can only be too low. Symbol M.I. ≥.",
    "Cluster": "Texts that count as one answer, named by the likeliest of them.",
    "Confidence 1 − δ": "How reliable the promise should be, such as 0.9: on "
    "average, at most one in ten calibrations on new labelled data breaks it.",
    "Coverage": "The share of all questions that are answered; the paper calls it recall.",
    "Doubt": "How little to trust an answer: it is given below the limit λ, withheld from λ on. "
    "Usually it is mutual information, M.I.: how much being told an answer changes the next one, "
    "in nats, of which 0.69 are one yes-or-no question.",
    "Embedded model": "The small transformer that comes with this program. It was trained on a "
    "world of facts whose truth is known, so that every claim can be checked. It is an "
    "instrument, not an assistant.",
    "Entropy": "How much answers differ, in nats: 0 when all are the same, ln 3 = 1.10 when three "
    "are equally likely. Home shows the semantic entropy.",
    "Epistemic uncertainty": "Doubt from lack of knowledge: the model has not learnt the answer. "
    "More training would remove it. This doubt is the reason to abstain.",
    "Estimator": "How the joint distribution is found: from exact likelihoods (Algorithm 3), from "
    "the likelihoods of the model’s own answers, or by counting. What the model can do decides it.",
    "Form": "How a model is asked: our prompt alone, behind worked examples, or as a turn of a "
    "chat. The form is found by trying, and belongs to every result.",
    "Greedy answer": "The answer when the model always takes the likeliest next token "
    "(temperature zero).",
    "Greedy probability": "How probable the model finds its greedy answer. Long answers, and one "
    "of many right ones, look doubtful. Symbol T0.",
    "Group": "Questions of one kind, such as those of one source or topic, named by a column of "
    "the labelled data. A promise for all questions together need not hold for each group.",
    "Joint distribution": "How probable each pair is: a first answer, and the next one with the "
    "first in the prompt.",
    "Learn-then-Test": "The method behind the promise. From strict to loose, each threshold is "
    "tested exactly for too many wrong answers; the last one before the first failure is "
    "chosen. If the tests fail early, a second series begins at half of the answers. Risk control "
    "bounds the wrong answers among all questions instead; the paper’s empirical rule promises "
    "nothing.",
    "Likeliest answers": "The k answers to which the model gives the most probability, found by a "
    "search over its words: the same every time. Unlikely ones at the end of the list are left "
    "out. The paper draws answers at random instead.",
    "Log-likelihood": "The logarithm of the probability that the model gives to a whole text, "
    "in nats. 0 is certain, −2.3 is one in ten, −4.6 one in a hundred.",
    "Look": "One calibration on labelled data, or one choice of their rows. All looks at the same "
    "labels share δ: the first may spend half of it, the second a quarter, and so on.",
    "Minimum conditional entropy": "How undecided the model remains after the most decisive "
    "answer in the prompt. Low when the model copies, but also when it is sure.",
    "Misconception": "A wrong answer that part of the training documents’ authors believe, so the "
    "model learnt it beside the right one.",
    "Mutual information": "How much a second answer depends on a first one given in the prompt, "
    "in nats. High means that the model follows the prompt: it does not know. Many right "
    "answers leave it low. Symbol M.I.",
    "Nat": "The unit of information with natural logarithms: ln 2 = 0.69 nats is one yes-or-no "
    "question.",
    "Nearness": "How far a question is from one that the embedded model was taught: how much of "
    "the taught name and of its wording it lacks, rare words counting most. It is near up to "
    f"{1 - NEAR:.0%}, if the likeliest taught one, the diamond, lacks no word on which the answer "
    "depends. Where none is near, the answer is withheld, whatever its doubt.",
    "Normalised conditional probability": "The probability of one answer divided by that of two "
    "together, from 0 to 1, after the prompt repeats one of them t times. Below one half, the "
    "repeated one has overtaken.",
    "Number of answers k": "How many answers are drawn, or how many of the likeliest are "
    "compared at most, 1 to 300. More answers show more of what the model might say.",
    "Pair covariance": "How much more often the same answer comes twice in a row than by chance. "
    "High means that the model repeats the answer in the prompt. It decides for Qwen2.5-Coder, as "
    "recorded.",
    "Policy": "A threshold for one score, its promise, and the only pipeline (model, prompt, "
    "settings) for which it holds.",
    "Price list": "How much is answered for each of seven targets. They are tested as one family, "
    "each at a seventh of δ, so that a promise holds even if it is chosen after looking.",
    "Product distribution": "How probable each pair would be if the answer in the prompt made no "
    "difference: the product of both answers’ probabilities. Where joint and product differ, "
    "the model does not know.",
    "PRR": "The prediction–rejection ratio: how far a score goes from a random order of the "
    "questions, 0, to the best one, 1, by AURC.",
    "Risk–coverage curve": "For every threshold, the share of wrong answers among those answered, "
    "against the share answered.",
    "Sample": "One answer drawn at random by the model’s probabilities.",
    "Sampled mass": "The share of the model’s whole probability that the answers found cover, "
    "whether they were searched for or drawn. Scores over a small share mean little.",
    "Score": "A number for every answer: how much to doubt it, or how sure to be. A threshold is "
    "compared with it.",
    "Self-verification": "How probable the model finds “True” rather than “False” when asked "
    "whether its own answer is correct. Symbol S.V.",
    "Semantic entropy": "How much the answers differ in meaning, in nats. It is high for "
    "ignorance and for many right answers alike, and cannot tell them apart. Symbol S.E.",
    "Similarity": "How alike two texts are, from 0 to 1. “Same answer”, the default, is 0 where "
    "numbers, negations or names differ. Token F1, the paper’s, counts shared words: “London” and "
    "“London, UK” have 0.67. With “judge”, the model itself compares two answers: 1 means surely "
    "the same, 0 surely not.",
    "Similarity threshold τ": "Texts at least this similar count as one answer. The paper uses "
    "0.25.",
    "Stabilisation γ": "Small numbers added inside the logarithm of M.I. that keep rare pairs "
    "from dominating it. The paper’s experiments use 0; above 0, M.I. can leave its range.",
    "Target error α": "The share of the answered questions that may be wrong, such as 0.05.",
    "Temperature": "How freely answers are drawn, 0.05 to 2: a low value favours the likeliest. "
    "Likelihoods are always at temperature 1; counts are at this temperature.",
    "Threshold λ": "Believe abstains when the doubt is at least λ, or the confidence at most λ. "
    "A default was certified on labelled answers of one model, for its default settings; "
    "Calibration finds others.",
    "Tokens of an answer": "An answer is cut after so many tokens; a line break ends it, too. The "
    "default thresholds hold for 32.",
    "Weighted doubt": "Mutual information plus a fixed part of two other doubts, in nats: that of "
    "self-verification, and that so little of the probability was seen. It decides for SmolLM2. "
    "Symbol W.D.",
}


@st.fragment  # what is opened and typed here must not run the page again
def button() -> None:
    """Offer every term; stands on every page, and is sent to who opens it."""
    opened = st.popover("Glossary", icon=":material/menu_book:", key="glossary", on_change="rerun")
    if opened.open:
        with opened:
            st.markdown(VERDICTS)
            _terms()


def _terms() -> None:
    words = (st.text_input("Find a term", key="glossary_term") or "").casefold().split()
    terms = [
        f"**{term}.** {meaning}"
        for term, meaning in TERMS.items()
        if all(word in f"{term} {meaning}".casefold() for word in words)
    ]
    if terms:
        st.markdown("\n\n".join(terms))
    else:
        st.text("No term matches. Use fewer words.")
