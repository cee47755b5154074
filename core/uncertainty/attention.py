"""Why repeating an answer turns a model that does not know: one idealised attention head.

The paper's Section 3.1. Rows of Z stand for whole statements: the query X first, then t
copies of the statement Y ("One answer to question Q is …"). The end of the input, E,
attends to them,

    f(Z; W_Q, W_K, W_V) = Softmax(E⊤ W_Q (Z W_K)⊤ / √d) Z W_V,

so that the weight on X competes with the total weight on the copies of Y. A query seen
often in training lies in the span of the large principal components of W_Q W_K⊤ and wins,
whatever the context says, until t is huge; one seen rarely does not, and its answer is
whatever stands in the context.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty.validation import Floats


@dataclass(frozen=True)
class Head:
    """One attention head over statements, and the three vectors that meet in it."""

    # query, key: (d', d): W_Q and W_K.
    query: Floats
    key: Floats
    # (d', v): W_V: maps a query to the distribution of its answers, and a statement to the answer
    # that it states.
    value: Floats
    # x, y, end: (d',): the query X, the repeated statement Y, and the end vector E.
    x: Floats
    y: Floats
    end: Floats

    def rows(self, repetitions: int) -> Floats:
        """Return Z: X, then the copies of Y, of shape (1 + t, d')."""
        return np.vstack([self.x, *[self.y] * repetitions])

    def logits(self, z: ArrayLike) -> Floats:
        """Return E⊤ W_Q (Z W_K)⊤ / √d, of shape (n,)."""
        return np.asarray(
            self.end @ self.query @ (np.asarray(z) @ self.key).T / np.sqrt(self.query.shape[1])
        )


def weights(head: Head, z: ArrayLike) -> Floats:
    """Return the head's softmax over the rows of Z, of shape (n,): how E attends to each."""
    logits = head.logits(z)
    raised = np.exp(logits - logits.max())
    return np.asarray(raised / raised.sum())


def output(head: Head, z: ArrayLike) -> Floats:
    """Return f(Z; W_Q, W_K, W_V), of shape (v,)."""
    return np.asarray(weights(head, z) @ np.asarray(z) @ head.value)


def weight_on_query(gap: float, repetitions: ArrayLike) -> Floats:
    """Return the softmax weight on X in closed form: 1 / (1 + t·e^(−gap)).

    `gap` is the logit of X less that of Y; the t `repetitions` of Y have the rest together.
    """
    t = np.asarray(repetitions, float)
    with np.errstate(divide="ignore"):
        return np.asarray(expit(gap - np.log(t)))


def crossing(gap: float) -> float:
    """Return the t at which the copies of Y weigh as much as X: e^gap."""
    return float(np.exp(min(gap, 700.0)))


@dataclass(frozen=True)
class Principal:
    """The large principal components of a key–query product W_Q W_Kᵀ, the largest first."""

    # asking, asked: (d', r): Orthonormal directions: along which the end of the input asks, and
    # along which what it looks at is asked.
    asking: Floats
    asked: Floats
    sizes: Floats  # (r,): the singular values

    def overlap(self, x: ArrayLike) -> Floats:
        """Return the share of the squared length of vectors, (…, d'), in the span of `asked`."""
        rows = np.asarray(x, float)
        return np.asarray(np.square(rows @ self.asked).sum(-1) / np.square(rows).sum(-1))

    def logit(self, end: ArrayLike, x: ArrayLike, width: int) -> Floats:
        """Return E⊤ W_Q W_K⊤ X / √d of the components alone, (…,); `width` is d."""
        query = np.asarray(x, float) @ self.asked
        return np.asarray((query * (np.asarray(end) @ self.asking) @ self.sizes) / np.sqrt(width))


def principal(query: ArrayLike, key: ArrayLike, share: float = 0.5) -> Principal:
    """Return the fewest principal components that hold a share of all squared singular values.

    Of W_Q and W_K, (d', d) each. What is large is nowhere defined; half of all is taken. Raises
    `ValueError` when the share is not in (0, 1], or the product is 0.
    """
    if not 0 < share <= 1:
        raise ValueError(f"The share of the components is {share}; choose one above 0, at most 1.")
    # W_Q W_Kᵀ is d' by d', but of rank d: factors make that the size of what is decomposed.
    q, r_q = np.linalg.qr(np.asarray(query, float))
    k, r_k = np.linalg.qr(np.asarray(key, float))
    left, sizes, right = np.linalg.svd(r_q @ r_k.T)
    if not sizes.any():
        raise ValueError("The key–query product is 0, so that it has no principal components.")
    held = np.cumsum(sizes**2) / np.sum(sizes**2)
    r = int(np.argmax(held >= share - 1e-12)) + 1
    return Principal(q @ left[:, :r], k @ right[:r].T, sizes[:r])


@dataclass(frozen=True)
class HeadRepetition:
    """What the head does as Y is repeated; one entry for every t."""

    repetitions: np.ndarray  # (n,)
    # on_query, on_copies: (n,): Softmax weight on X, and on all copies of Y together.
    on_query: Floats
    on_copies: Floats
    gap: float  # the logit of X less that of Y
    closed_form: Floats  # (n,): `weight_on_query` at this gap, which on_query must equal
    # in_weight, in_context: (n,): the output's shares of the answer that W_V has learnt for X, and
    # of the one that Y states.
    in_weight: Floats
    in_context: Floats


def repeat(head: Head, repetitions: Sequence[int]) -> HeadRepetition:
    """Run the head for every number of repetitions of Y."""
    on_query, in_weight, in_context = [], [], []
    learnt, stated = head.x @ head.value, head.y @ head.value
    basis = np.linalg.pinv(np.column_stack([learnt, stated]))  # (2, v)
    for t in repetitions:
        z = head.rows(t)
        on_query.append(weights(head, z)[0])
        shares = basis @ output(head, z)
        in_weight.append(shares[0])
        in_context.append(shares[1])
    x, y = head.logits(np.vstack([head.x, head.y]))
    gap, first = float(x - y), np.array(on_query)
    return HeadRepetition(
        repetitions=np.asarray(repetitions),
        on_query=first,
        on_copies=1 - first,
        gap=gap,
        closed_form=weight_on_query(gap, repetitions),
        in_weight=np.array(in_weight),
        in_context=np.array(in_context),
    )


def ideal_head(
    *, dimension: int = 512, in_span: float = 1.0, strength: float = 12.0, seed: int = 0
) -> Head:
    """Return a head in which X lies more or less in the span that training has made large.

    W_Q W_K⊤ has one large principal component, a direction u, along which E asks. X has the
    share `in_span` of its length along u, the rest in a random direction. Y is a random
    statement: it touches u by chance alone, less and less as the dimension grows.

    Raises `ValueError` when the dimension or the share is out of range.

    `dimension`: d' = d, at least 3.
    `in_span`: in [0, 1]: 1 is a query known by heart, 0 one never seen.
    `strength`: the logit of a statement that lies entirely along u.
    """
    if dimension < 3:
        raise ValueError(f"The dimension is {dimension}; choose at least 3.")
    if not 0 <= in_span <= 1:
        raise ValueError(f"The share of X in the span is {in_span}; choose one from 0 to 1.")
    u, aside, y = np.random.default_rng(seed).normal(size=(3, dimension))
    u, y = u / np.linalg.norm(u), y / np.linalg.norm(y)
    aside -= (aside @ u) * u
    x = in_span * u + np.sqrt(1 - in_span**2) * aside / np.linalg.norm(aside)
    return Head(
        # so that E⊤ W_Q (V W_K)⊤ / √d = strength · ⟨u, V⟩
        query=np.sqrt(dimension) * strength * np.outer(u, u),
        key=np.outer(u, u),
        value=np.linalg.pinv(np.column_stack([x, y])).T,  # X and Y each to its own answer
        x=x,
        y=y,
        end=u,
    )


def spread(most: int) -> tuple[int, ...]:
    """Return numbers of repetitions from 0 to `most`, dense at first, then further apart."""
    wide = np.geomspace(10, max(most, 10), 20).round().astype(int).tolist()
    return tuple(sorted({t for t in (*range(11), *wide) if t <= most}))


# The three cases of Section 3.1, by how much of X lies in the span.
CASES: dict[str, float] = {"seen often": 1.0, "seen sometimes": 0.4, "never seen": 0.0}
