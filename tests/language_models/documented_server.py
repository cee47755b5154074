"""What vLLM, SGLang and Text Generation Inference document for the scores of given texts.

The replies have the shapes of their documentation; the numbers in them are the embedded model's
own. Elsewhere `serving` answers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.openai import input_logprobs
from tests.language_models.openai_server import END, Server, serving

FLAVOURS = {
    input_logprobs.PROMPT_LOGPROBS: "chat-top",
    input_logprobs.INPUT_TOKENS: "top",
    input_logprobs.PREFILL: "none",
}
NO_INPUTS = b"Failed to deserialize the JSON body into the target type: missing field `inputs`"


class Documented:
    """Answers as one of the three would, where `serving` has no answer of its own.

    `off` is added to each log-probability; `across` has the prompt end within a token of the whole;
    `silent` has no token told; `plain_end` reads the end token as other text; `recut` has the first
    of several draws of tokens that are cut otherwise when it is read. The chat template is the last
    turns and a space between them; `bare` leaves it to the answers.
    """

    def __init__(
        self, way, *, off=0.0, across=False, silent=False, plain_end=False, bare=False, recut=False
    ):
        self.way, self.off, self.across, self.silent = way, off, across, silent
        self.plain_end, self.bare, self.recut = plain_end, bare, recut
        self.model = EmbeddedModel()

    def __call__(self, path, body):
        if self.way == input_logprobs.PROMPT_LOGPROBS and input_logprobs.PROMPT_LOGPROBS in body:
            return self.sent(self.of_chat(body))
        if self.way == input_logprobs.PROMPT_LOGPROBS or path != "/generate":
            return None
        if self.way == input_logprobs.INPUT_TOKENS:
            replies = [self.of_sglang(text, body) for text in body["text"]]
            replies[0]["meta_info"]["output_token_logprobs"] *= 1 + self.recut
            return self.sent(replies)
        if "inputs" not in body:
            return 422, {}, NO_INPUTS
        return self.sent(self.of_tgi(body))

    def sent(self, reply):
        return 200, {}, json.dumps(reply).encode()

    def encode(self, text):
        if self.plain_end:
            return self.model.encode(text)
        first, *others = [self.model.encode(part) for part in text.split(END)]
        return [*first, *(token for part in others for token in (self.model.end, *part))]

    def text(self, token):
        return END if token == self.model.end else self.model.tokenizer.decode([token])

    def rows(self, tokens):
        return self.model.llama.log_softmax(self.model.llama.forward(np.array([tokens]))[0][0])

    def read(self, text):
        """Token, its text, and its log-probability; None for the first."""
        tokens = [] if self.silent else self.encode(text)
        rows = self.rows(tokens) if tokens else []
        known = [float(rows[i - 1, t]) + self.off for i, t in enumerate(tokens) if i]
        if self.across and not text.endswith(":"):
            tokens[len(self.encode(text[: text.index("A:") + 2])) - 1] = 0
        return list(zip(tokens, map(self.text, tokens), [None, *known], strict=False))

    def draw(self, text, limit):
        tokens, drawn = self.encode(text), []
        while len(drawn) < limit and self.model.end not in tokens:
            row = self.rows(tokens)[-1]
            tokens.append(int(row.argmax()))
            drawn.append((tokens[-1], self.text(tokens[-1]), float(row[tokens[-1]])))
        return "".join(text for token, text, _ in drawn if token != self.model.end), drawn

    def of_chat(self, body):
        begun = body["messages"][-1]["role"] == "assistant"
        assert begun is body.get("continue_final_message", False)
        assert begun is not body.get("add_generation_prompt", True)
        texts = [message["content"] for message in body["messages"][-1 - begun :]]
        listed = [
            value and {str(token): {"logprob": value, "rank": 1, "decoded_token": text}}
            for token, text, value in self.read(("" if self.bare else " ").join(texts))
        ]
        message = {"role": "assistant", "content": "."}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "length"}
        return {
            "model": f"{body['model']}-{self.model.revision}",
            "choices": [choice],
            "prompt_logprobs": listed,
        }

    def of_sglang(self, text, body):
        assert body["return_logprob"] and body["logprob_start_len"] == 0
        said, drawn = self.draw(text, body["sampling_params"]["max_new_tokens"])
        about = {
            "finish_reason": {"type": "length", "length": len(drawn)},
            "input_token_logprobs": [[v, token, text] for token, text, v in self.read(text)],
            "output_token_logprobs": [[v, token, text] for token, text, v in drawn],
        }
        return {"text": said, "meta_info": about}

    def of_tgi(self, body):
        asked = body["parameters"]
        assert asked["decoder_input_details"] and asked["details"]
        said, drawn = self.draw(body["inputs"], asked["max_new_tokens"])
        read = [{"id": i, "text": t, "logprob": v} for i, t, v in self.read(body["inputs"])]
        tokens = [{"id": i, "text": t, "logprob": v, "special": t == END} for i, t, v in drawn]
        about = {"finish_reason": "length", "prefill": read, "tokens": tokens}
        return {"generated_text": said, "details": about}


def stripped(reply):
    """As chat templates have it: what stands in front of an answer is the template's."""
    for choice in reply["choices"]:
        if "message" in choice:
            choice["message"]["content"] = choice["message"]["content"].strip()
            for entry in (choice["logprobs"] or {"content": []})["content"][:1]:
                entry["token"] = entry["token"].lstrip(" ")
    return reply


@contextmanager
def documented(way: str, *, key: str | None = None, **wrong) -> Iterator[tuple[Server, Documented]]:
    """Run a server that scores given texts in one of the ways."""
    before = Documented(way, **wrong)
    after = None if before.bare else stripped
    with serving(FLAVOURS[way], before=before, after=after, key=key) as server:
        yield server, before
