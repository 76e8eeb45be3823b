"""Real contexts: the data sets that come with scikit-learn, as bandits of classification.

A user is a row that is drawn at random, an arm says a class, the reward is 1 if it is the row's
own; K classes are kept, the first ones. One half of the rows, picked by the seed, is public; users
are rows of the other half. On the public half features are standardised, turned into `components`
principal components and divided by their median norm; longer ones are clipped to norm 1. With z for
them,

    x_a = e_a (x) (z, 1)/sqrt 2,    d = K (components + 1):

a linear model of its own for each class; its norm is taken from the least-squares fit of the
public half. That E[2y - 1 | x_a] is linear in x_a is not true of such data: the radius is proved of
a model that they do not follow. What a linear model comes to is about `linear_regret`.

    digits   1797 images of 8 x 8 pixels, 10 classes (Alpaydin, Kaynak 1998, UCI)
    wine     178 wines, 13 features, 3 classes (Forina et al. 1991, UCI)
    cancer   569 tumours, 30 features, 2 classes (Wolberg et al. 1995, UCI)
    iris     150 flowers, 4 features, 3 classes (Fisher 1936)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...common.extra import bring
from ...exact.number import ExactInput, ParameterError, whole
from .setting import MOST_DIMENSIONS

SETS = {"digits": (3, 3), "wine": (2, 3), "cancer": (2, 2), "iris": (2, 3)}  # unless given:
# components and classes
_LOADERS = {name: f"load_{name}" for name in SETS} | {"cancer": "load_breast_cancer"}

Floats = NDArray[np.float64]


@frozen(init=False, eq=False)
class Classification:
    """Say the class, of users who are rows of a data set. Raises ImportError without `data`."""

    kind: str
    components: int
    seed: int
    features: Floats = field(repr=False)  # (z, 1)/sqrt 2, of users' rows
    labels: NDArray[np.intp] = field(repr=False)
    arms: int
    theta: None
    diversity: None
    chosen_diversity: None
    norm: float

    def __init__(
        self,
        kind: str,
        components: ExactInput | None = None,
        classes: ExactInput | None = None,
        seed: ExactInput = 0,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        usual = SETS[kind]
        count = whole(usual[0] if components is None else components, "components", at_least=1)
        put("kind", kind)
        put("components", count)
        put("seed", whole(seed, "seed", at_least=0, at_most=2**32 - 1))
        rows, labels = getattr(bring("sklearn.datasets", "data"), _LOADERS[kind])(return_X_y=True)
        arms = int(labels.max()) + 1
        arms = whole(usual[1] if classes is None else classes, "classes", at_least=2, at_most=arms)
        rows, labels = rows[labels < arms], labels[labels < arms]
        most = min(rows.shape[1], MOST_DIMENSIONS // arms - 1)
        if count > most:
            raise ParameterError(f"components must be at most {most} of {kind}, got {count}")
        order = np.random.default_rng(self.seed).permutation(len(rows))
        public, users = np.split(order, [len(rows) // 2])
        features = _features(rows, public, count)
        put("features", features[users])
        put("labels", labels[users])
        put("arms", arms)
        put("theta", None)
        put("diversity", None)
        put("chosen_diversity", None)
        fitted = np.linalg.norm(_fit(features[public], labels[public], arms))
        put("norm", math.ceil(10 * fitted) / 10)

    @property
    def name(self) -> str:
        return f"{self.kind}:components={self.components},classes={self.arms}"

    @property
    def dimension(self) -> int:
        return self.arms * (self.components + 1)

    def draw(self, rng: np.random.Generator, users: int) -> tuple[Floats, Floats]:
        rows = rng.integers(len(self.labels), size=users)
        contexts = np.zeros((users, self.arms, self.arms, self.components + 1))
        every = np.arange(self.arms)
        contexts[:, every, every] = self.features[rows][:, None]
        means = (self.labels[rows][:, None] == every).astype(np.float64)
        return contexts.reshape(users, self.arms, self.dimension), means

    def linear_regret(self) -> float:
        """How often the least-squares fit to all users' rows says the wrong class of them."""
        fit = _fit(self.features, self.labels, self.arms)
        chosen = (self.features @ fit.T).argmax(axis=1)
        return float(np.mean(chosen != self.labels))


def _features(rows: Floats, public: NDArray[np.intp], components: int) -> Floats:
    decomposition: Any = bring("sklearn.decomposition", "data")
    mean, spread = rows[public].mean(axis=0), rows[public].std(axis=0)
    scaled = (rows - mean) / np.where(spread > 0, spread, np.inf)
    method = decomposition.PCA(components, svd_solver="full").fit(scaled[public])
    found = method.transform(scaled)
    found /= np.median(np.linalg.norm(found[public], axis=1))
    found /= np.maximum(1.0, np.linalg.norm(found, axis=1))[:, None]
    features: Floats = np.hstack([found, np.ones((len(found), 1))]) / np.sqrt(2)
    return features


def _fit(features: Floats, labels: NDArray[np.intp], arms: int) -> Floats:
    """The least-squares theta of each class."""
    signs = np.where(labels[:, None] == np.arange(arms), 1.0, -1.0)
    found = np.linalg.lstsq(features, signs, rcond=None)[0]
    return np.asarray(found.T, dtype=np.float64)
