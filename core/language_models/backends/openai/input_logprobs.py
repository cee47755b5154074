"""Log-probabilities of input tokens, by three interfaces beside OpenAI's, as documented.

vLLM and SGLang were tried here. The probe believes any of them only where a text has the
log-probabilities that it had when it was said, behind exactly the prompt's tokens.

*prompt_logprobs*: chat completions of vLLM (`ChatCompletionRequest` at commit 002032e; 0.32.0 was
tried). The given answer is the last message, which is gone on with. The reply lists each token of
the whole as ``{"ID": {"logprob": …, "rank": …, "decoded_token": …}}``, and null for the first one.

*input_token_logprobs*: ``/generate`` of SGLang (“Sampling Parameters” at commit 0a0dd35; 0.4.6 was
tried), for many texts at once. ``meta_info`` lists each token as ``[logprob, ID, text]``.

*prefill*: ``/generate`` of Text Generation Inference (``openapi.json`` of 2.4.1), for one text.
``details`` lists each token as ``{"id": …, "text": …, "logprob": …}``. From 3.0 on, the server
tells this only if it was started with ``--enable-prefill-logprobs``.

The text of a single token may lack its space, so tokens are told apart by their numbers.
"""

from collections.abc import Sequence
from typing import Any

from core.language_models.backends.openai.replies import Reply, Tokens, log_probability

PROMPT_LOGPROBS = "prompt_logprobs"
INPUT_TOKENS = "input_token_logprobs"
PREFILL = "prefill"
MAKERS = {
    PROMPT_LOGPROBS: "vLLM",
    INPUT_TOKENS: "SGLang",
    PREFILL: "Text Generation Inference; not tried here",
}
PATH = "/generate"  # beside OpenAI's
TOGETHER = {INPUT_TOKENS: 32, PREFILL: 1}  # texts a request to it


def continuation(body: Reply, answer: str | None) -> Reply:
    """Return a request for a chat's prompt as one for all its tokens, with a given answer if any.

    One token is generated behind them, and left out.
    """
    request_body = body | {PROMPT_LOGPROBS: 0}  # of no likely tokens beside those of the text
    if answer is None:
        return request_body
    return request_body | {
        "messages": [*body["messages"], {"role": "assistant", "content": answer}],
        "continue_final_message": True,
        "add_generation_prompt": False,
    }


def request(way: str, texts: Sequence[str], limit: int = 0) -> Reply:
    """Return a request to `PATH` for the tokens of texts, and for up to `limit` drawn behind them.

    Of *prefill*, for one text; it generates a token at least.
    """
    if way == PREFILL:
        options = {"decoder_input_details": True, "details": True, "do_sample": True}
        return {"inputs": texts[0], "parameters": options | {"max_new_tokens": max(limit, 1)}}
    neutral = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0}
    return {
        "text": list(texts),
        "sampling_params": neutral | {"max_new_tokens": limit},
        "return_logprob": True,
        "logprob_start_len": 0,
        "return_text_in_logprobs": True,
    }


def read(way: str, reply: Reply, end: str = "") -> list[Tokens]:
    """Return the tokens of a request's texts, `end` by its text; [] if the server does not say."""
    lists = [reply.get(way)] if way == PROMPT_LOGPROBS else [a.get(way) for _, a in _entries(reply)]
    token_lists = [_tokens(listed, end) for listed in lists]
    return token_lists if all(token_lists) else []


def generations(reply: Reply) -> list[tuple[str, Tokens]]:
    """Return what `PATH` drew behind each text, and the tokens of that with their ends."""
    return [
        (text, _tokens(about.get("output_token_logprobs", about.get("tokens")), ""))
        for text, about in _entries(reply)
        if isinstance(text, str)
    ]


def _entries(reply: Reply) -> list[tuple[Any, dict[str, Any]]]:
    """Return what was generated behind each text, and what is told of its tokens."""
    listed = reply.get("data", [reply])
    entries = []
    for one in listed if isinstance(listed, list) else []:
        about = one.get("meta_info", one.get("details")) if isinstance(one, dict) else None
        if isinstance(about, dict):
            entries.append((one.get("text", one.get("generated_text")), about))
    return entries


def _tokens(listed: Any, end: str) -> Tokens:
    """Read a list of tokens in any of the three spellings; [] where it is none of them."""
    pairs: list[tuple[str, float | None]] = []
    number: Any
    for entry in listed if isinstance(listed, list) else []:
        if entry is None and not pairs:  # nothing is told of the first one
            number, text, value = "", None, None
        elif isinstance(entry, list) and len(entry) == 3:
            value, number, text = entry
        elif isinstance(entry, dict) and "id" in entry:
            number, text, value = entry["id"], entry.get("text"), entry.get("logprob")
        elif isinstance(entry, dict) and [type(about) for about in entry.values()] == [dict]:
            ((number, about),) = entry.items()
            text, value = about.get("decoded_token"), about.get("logprob")
        else:
            return []
        pairs.append((end if end and text == end else str(number), log_probability(value)))
    return pairs
