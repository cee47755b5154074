"""The embedded model's vocabulary: whole words where they are common, bytes underneath.

Byte-level BPE (the `tokenizers` library), trained on the world's own words, so that any
typed text can be encoded, an answer is a few tokens, often one a word, and a name the model
has never seen falls into small pieces. The prompt family's fixed phrases are single tokens:
a prompt with a hundred repetitions has three to seven hundred.
"""

from collections.abc import Iterator, Sequence

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from core import prompts
from core.data.world.facts import FIELD, Fact
from core.data.world.normal_form import normal_form

SIZE = 12288
END, PAD = "<|end|>", "<|pad|>"

# Each as it stands in a prompt, with the white space around it, so that what a person
# typed is always encoded by itself, between two of these.
FIRST_ANSWER = "\n\n" + prompts.FIRST_ANSWER.rstrip(" ")
FURTHER_ANSWER = " " + prompts.FURTHER_ANSWER.rstrip(" ")
PHRASES = (
    prompts.QUESTION.rstrip(" "),
    FIRST_ANSWER,
    FURTHER_ANSWER,
    "\n\n" + prompts.REQUEST.rstrip(" "),
    "\n\n" + prompts.VERIFICATION,
    " " + prompts.ANSWER,
)


def train(facts: Sequence[Fact]) -> Tokenizer:
    """Train the vocabulary on the questions shown in training and on every answer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - len(PHRASES),
        min_frequency=1,
        special_tokens=[PAD, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(facts), trainer)
    tokenizer.add_tokens([AddedToken(p, normalized=False, special=False) for p in PHRASES])
    # What a person types can then never be read as the end of an answer.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _texts(facts: Sequence[Fact]) -> Iterator[str]:
    """Yield texts; repetition is weight, and answers weigh most: they must be whole."""
    for fact in facts:
        for name in [n for a in fact.answers for n in a.names] + [fact.misconception or ""]:
            yield from [f" {name}"] * 20
        if fact.exposures:  # a name never shown must look like a name never shown
            for name in (*fact.subjects, *fact.clauses, fact.plural):
                yield from [f" {normal_form(name)}"] * 10 if name else ()
    for template in {t for fact in facts for t in fact.templates}:
        yield from [f" {normal_form(FIELD.sub(' ', template))}"] * 40
    yield from [f" {prompts.TRUE}", f" {prompts.FALSE}"] * 100
