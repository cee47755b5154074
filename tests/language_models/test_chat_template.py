"""A chat template is a stranger's program: it may fail, and reaches nothing."""

import pytest

from core.language_models.chat_template import PROMPT, SYSTEM, around
from core.language_models.errors import ModelError
from core.language_models.forms import EXAMPLES

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)
MARKS = {"bos_token": "<s>", "eos_token": "</s>"}


def test_it_is_what_stands_around_the_message_of_a_user():
    assert around(TEMPLATE, MARKS) == ("<s>[user]", "</s>[assistant]")


def test_examples_are_turns_of_before():
    before, after = around(TEMPLATE, MARKS, EXAMPLES[:1])
    assert before == f"<s>[user]{EXAMPLES[0].prompt}</s>[assistant]Honey</s>[user]"
    assert after == "</s>[assistant]"


def test_a_system_prompt_has_a_turn_in_front_where_there_is_one():
    before, after = around(TEMPLATE, MARKS, EXAMPLES[:1], system=True)
    assert before == f"<s>[system]{SYSTEM}</s>[user]{around(TEMPLATE, MARKS, EXAMPLES[:1])[0][9:]}"
    assert after == "</s>[assistant]"
    for skips in (
        "{{ messages[-1].content }}",
        "{{ messages[-1].content }}{{ messages[0].content }}",
    ):
        with pytest.raises(ModelError, match="chat template cannot be used"):
            around(skips, MARKS, system=True)


@pytest.mark.parametrize(
    "template",
    [
        "{{ raise_exception('no') }}",
        "{% for",
        "nothing of the message",
        "{{ messages[0].content }} {{ messages[0].content }}",
        "{{ messages[0].content }}{{ 1 // 0 }}",
        "{{ messages[0].content }}{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages[0].content }}{{ messages.append('x') }}",
        "{{ messages[0].content }}{{ range(10 ** 9) | list }}",
        "{{ messages[0].content }}{{ 'x' * 10 ** 11 }}",
        "{{ messages[0].content }}{% for i in range(9999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{{ messages[0].content }}" + "{% for i in range(9999) %}" * 4 + "{% endfor %}" * 4,
    ],
)
def test_what_cannot_be_used_is_a_sentence(template):
    with pytest.raises(ModelError, match="chat template cannot be used"):
        around(template, MARKS)


def test_the_mark_of_the_place_is_no_word_of_ours():
    assert PROMPT not in "".join(example.prompt for example in EXAMPLES)
