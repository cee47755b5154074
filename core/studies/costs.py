"""What a run will cost, in money or time, said before it begins, and what it did, said after."""

import math
from collections.abc import Sequence
from dataclasses import astuple, replace

from core import prompts
from core.codec import count_of, time_of
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.language_model import MAX_RESPONSE_TOKENS, Capabilities, LanguageModel
from core.language_models.true_false import OPINIONS
from core.language_models.usage import CHARACTERS_A_TOKEN, Usage
from core.studies.amplification.curve import SAMPLES_A_POINT, Case, most_calls
from core.studies.inspection.counter_answers import OTHERS
from core.studies.inspection.recorder import AFTER_OTHERS, OTHER_DRAWS, PAIRS_A_CALL, SECONDS
from core.studies.inspection.recording import EXACT, Estimator, estimator_of
from core.studies.inspection.request import Request

# For a bound: few vocabularies cut English text finer, and chats add marks to each request.
FEWEST_CHARACTERS = 3
MOST_OF_OTHERS = 2  # tokens a character that is not ASCII
MARKUP_TOKENS = 50
HALF = 0.4999999  # of a last digit, by which a bound is moved: but for what computing adds
REPEATS = 0.1  # of the calls, or each of those at once: one time-out can end them all


class Plan(Usage):
    """The most that a run can use; what really comes is usually less.

    Requests: with an empty cache and no failures. Tokens: bounds from the lengths of the prompts
    and answers of full length, thoughts included. A run stops there.
    """


def price(tokens: Usage, price_in: float, price_out: float, unit: int) -> float:
    """Return what tokens cost, in the currency of the prices per `unit` of them."""
    return (tokens.prompt_tokens * price_in + tokens.response_tokens * price_out) / unit


def in_money(tokens: Usage, prices: tuple[float, float], unit: int) -> str:
    """Return what tokens cost in words: “, 0.02 at your prices”; nothing without prices.

    What a `Plan` costs at most is rounded up, what is known of replies that do not say it, down.
    """
    if not (unit and any(prices)):
        return ""
    cost = price(tokens, *prices, unit)
    digits = 4 if cost < 10 else 2
    if isinstance(tokens, Plan):
        cost += HALF * 10**-digits
    elif tokens.unreported:
        cost = max(cost - HALF * 10**-digits, 0.0)
    elif 0 < cost < 0.0001:
        return ", less than 0.0001 at your prices"
    return f", {cost:,.{digits}f} at your prices"


def calls(number: int) -> str:
    """Return a number of calls in words."""
    return count_of(number, "call")


def at_most(offered: Plan, cost: str = "") -> str:
    """Say what a run can take, and its cost if that is known: “, 0.02 at your prices”."""
    tokens = offered.prompt_tokens + offered.response_tokens
    return f"at most {calls(offered.requests)} and {tokens:,} tokens{cost}."


def spending(used: Usage, cost: str = "", *, ended: bool = True) -> str:
    """Say what was really used of a service, and its cost if that is known.

    `ended`: the run is complete, so that no calls means that the cache held every answer.
    """
    if not used.requests:
        return "0 calls: all answers came from the cache." if ended else "0 calls."
    if not (used.prompt_tokens or used.response_tokens):
        return f"{calls(used.requests)}. The service did not report how many tokens."
    tokens = f"{used.prompt_tokens:,} tokens in and {used.response_tokens:,} out"
    if used.unreported:
        cost = cost and f", at least {cost.removeprefix(', ')}"
        replies = "1 reply does" if used.unreported == 1 else f"{used.unreported:,} replies do"
        return (
            f"{calls(used.requests)}, at least {tokens}{cost}: {replies} not say how many tokens."
        )
    return f"{calls(used.requests)}, {tokens} as the service counts them{cost}."


def plan(request: Request, capabilities: Capabilities) -> Plan:
    """Return the most that an inspection can take: when every sample is another text."""
    k, estimator = request.samples, estimator_of(capabilities)
    some_answer = "x" * (FEWEST_CHARACTERS * request.answer_tokens)
    front = request.front
    first = most_tokens(front + prompts.iterative(request.query))
    second = most_tokens(front + prompts.iterative(request.query, [some_answer]))
    judging = most_tokens(front + prompts.self_verification(request.query, some_answer))
    # Characters that may take several tokens stand, most likely, in its answers as well.
    total = _Requests(
        capabilities, bool(several_tokens(front + request.query)), request.answer_tokens
    )
    total.sample(first, k)
    total.sample(first, 1)
    total.sample(first, OTHER_DRAWS)  # where all samples are alike
    pairs = _pairs(request, estimator)
    same = most_tokens(front + prompts.same_meaning(request.query, some_answer, some_answer))
    if estimator in EXACT:
        answer, most = request.answer_tokens, capabilities.pairs_a_call
        total.score(k + 1, k, second + answer, most)
        total.score(1, 1, first + answer, most)  # the greedy answer, if it was not sampled
        total.score(k, 2, judging + 1, most)
        total.score(pairs, 2, same + 1, most)
        total.score(OTHERS, k, second + answer, most)
        return total.plan
    total.sample(second, 1 if estimator is Estimator.CHAINED else SECONDS, times=k)
    total.sample(judging, 1 if capabilities.next_token else OPINIONS, times=k)
    total.sample(same, 1, times=pairs)
    total.sample(second, AFTER_OTHERS, times=OTHERS)
    return total.plan


def quick_plan(request: Request, capabilities: Capabilities) -> Plan:
    """Return the most that a quick look can take."""
    total = _Requests(capabilities)
    total.sample(most_tokens(prompts.iterative(request.query)), request.samples)
    return total.plan


def _pairs(request: Request, estimator: Estimator) -> int:
    """Return how many pairs of answers may have to be compared: of first ones, and with others."""
    if not request.judged:
        return 0
    k = request.samples
    seconds = 0 if estimator in EXACT else k if estimator is Estimator.CHAINED else k * SECONDS
    return k * (k - 1) // 2 + k * seconds


def plan_curves(cases: Sequence[Case], model: LanguageModel, repetitions: Sequence[int]) -> Plan:
    """Return the most that curves can take; nothing where a local model takes time alone."""
    calls = len(cases) * most_calls(model, repetitions)
    if not calls:
        return Plan()
    capabilities = model.capabilities
    total = _Requests(capabilities)
    for case in cases:
        for t in repetitions:
            prompt = most_tokens(case.prompt(t))
            if capabilities.scores_given_text:
                pairs = (2 + capabilities.calls_a_prompt) * (prompt + total.in_front)
                total.add(0, pairs + most_tokens(case.answer) + most_tokens(case.repeated), 0)
            else:
                total.sample(prompt, SAMPLES_A_POINT)
    return replace(total.plan, requests=calls)


def plan_judging(questions: Sequence[str], capabilities: Capabilities) -> Plan:
    """Return the most that asking questions of True or False can take, with `REPEATS`.

    Every question is asked, so that nothing else leaves room for calls that fail.
    """
    total = _Requests(capabilities)
    for question in questions:
        tokens = most_tokens(question)
        if capabilities.scores_given_text:
            total.score(1, 2, tokens + 1, capabilities.pairs_a_call)
        else:
            total.sample(tokens, 1)
    once = total.plan
    if not once.requests:
        return once
    more = max(math.ceil(REPEATS * once.requests), min(AT_ONCE, once.requests))
    return Plan(*(n + math.ceil(n * more / once.requests) for n in astuple(once)))


def plan_chains(
    request: Request, longest: int, chains: int, most_prompts: int, capabilities: Capabilities
) -> Plan:
    """Return the most that longer chains of a question's answers can take, its recording included.

    `longest, chains, most_prompts`: see `core.studies.laboratory.chains.ChainsSettings`.
    """
    k, exact = request.samples, estimator_of(capabilities) in EXACT
    answer = request.answer_tokens
    total = _Requests(capabilities, answer_tokens=answer)
    grown = chains if exact else k  # else the sampled pairs are lengthened
    for length in range(0 if exact else 2, longest):
        some = ["x" * (FEWEST_CHARACTERS * answer)] * length
        prompt = most_tokens(prompts.iterative(request.query, some))
        if exact and length > 1 and k**length <= most_prompts:
            total.score(k**length, k, prompt + answer, capabilities.pairs_a_call)
        if length:  # each chain has a prompt of its own, and so have the answers after it
            total.sample(prompt, 1, times=grown)
        else:
            total.sample(prompt, grown)
        for _ in range(grown if exact and length else exact):
            several = 1 if length else max(grown, 1)
            total.score(1, several, prompt + answer, capabilities.pairs_a_call)
    return plan(request, capabilities) + total.plan


# For a model on this machine: the tokens that a run computes if all answers differ.
# What prompts have in common is read once, and most answers are short.
ANSWER_TOKENS = 6
LONG = 5.0  # seconds: what takes longer says so before it begins


def computed_tokens(request: Request) -> int:
    """Estimate the tokens that an inspection computes at most, by a model that scores any text."""
    k = request.samples
    tokens = max(1, ANSWER_TOKENS * request.answer_tokens // MAX_RESPONSE_TOKENS)
    answer = "x" * (CHARACTERS_A_TOKEN * tokens)
    query = _tokens(request.query)
    first = _tokens(request.front + prompts.iterative(request.query))
    answer_tokens = _tokens(prompts.iterative(request.query, [answer])) - query
    verified = _tokens(prompts.self_verification(request.query, answer)) - query
    return 2 * first + k * (2 * tokens + answer_tokens + verified) + k * k * tokens


def curve_tokens(cases: Sequence[Case], repetitions: Sequence[int]) -> int:
    """Estimate the tokens of curves: each case's longest prompt once, and what differs from it."""
    longest = sum(_tokens(case.prompt(max(repetitions))) for case in cases)
    ends = sum(_tokens(case.prompt(0)) + 2 * ANSWER_TOKENS for case in cases)
    return longest + len(repetitions) * ends


def lasting(tokens: int, model: LanguageModel) -> str | None:
    """Say how long computing so many tokens takes here; None where it is short or unknown."""
    seconds = None if model.capabilities.quick else model.speed.lasts(tokens)
    return None if seconds is None or seconds < LONG else up_to(seconds)


def up_to(seconds: float) -> str:
    """Return a time in words, rounded up."""
    return f"up to {time_of(seconds)}"


class _Requests:
    """Adds up requests."""

    def __init__(
        self,
        capabilities: Capabilities,
        parted: bool = False,
        answer_tokens: int = MAX_RESPONSE_TOKENS,
    ) -> None:
        # What is said of a pair is of answers of the usual limit.
        by_token = capabilities.tokens_a_pair > 1
        longer = math.ceil(answer_tokens / MAX_RESPONSE_TOKENS) if by_token else 1
        self.calls_a_pair = longer * capabilities.calls_a_pair if parted else 1
        self.tokens_a_pair = longer * capabilities.tokens_a_pair
        self.answer_tokens = answer_tokens + capabilities.thoughts
        self.one_by_one = capabilities.pairs_a_call == 1
        self.candidates_a_call = capabilities.candidates_a_call
        self.calls_a_prompt = capabilities.calls_a_prompt
        self.in_front = math.ceil(capabilities.in_front / FEWEST_CHARACTERS) + MARKUP_TOKENS
        self.plan = Plan()

    def sample(self, prompt_tokens: int, count: int, *, times: int = 1) -> None:
        """Count the requests for `count` answers to each of so many prompts."""
        requests = times * math.ceil(count / self.candidates_a_call)
        prompt_tokens_in_all = requests * (self.in_front + prompt_tokens)
        self.add(requests, prompt_tokens_in_all, times * count * self.answer_tokens)

    def score(self, rows: int, columns: int, tokens_a_pair: int, pairs_a_call: int) -> None:
        """Count the requests of whole rows, block by block as the recorder sends them."""
        columns_a_request = min(columns, pairs_a_call)
        rows_a_request = max(1, pairs_a_call // columns_a_request)
        block = max(1, PAIRS_A_CALL // columns)
        requests = sum(
            math.ceil(min(block, rows - start) / rows_a_request) for start in range(0, rows, block)
        ) * math.ceil(columns / columns_a_request)
        alone = rows * self.calls_a_prompt
        pairs = rows * columns * self.calls_a_pair
        requests *= self.calls_a_pair
        # A server that echoes texts also echoes each prompt alone, once a request.
        echoed = 0 if self.one_by_one else rows * math.ceil(columns / columns_a_request)
        texts = pairs + alone + echoed
        response_tokens = pairs * self.tokens_a_pair + alone + echoed
        self.add(requests + alone, texts * (self.in_front + tokens_a_pair), response_tokens)

    def add(self, requests: int, prompt_tokens: int, response_tokens: int) -> None:
        """Add requests and tokens."""
        self.plan += Plan(requests, prompt_tokens, response_tokens)


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


def several_tokens(text: str) -> str:
    """Return the first character of a text that may take several tokens; "" without one."""
    return next((c for c in text if ord(c) > 0x7FF), "")


def most_tokens(text: str) -> int:
    """Return the most tokens that a text may take, as a bound takes it."""
    others = sum(not c.isascii() for c in text)
    return math.ceil((len(text) - others) / FEWEST_CHARACTERS) + MOST_OF_OTHERS * others
