"""A forest over the last rows, slowly: its window, cuts, trees and groves, one row and one number at a time."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from tests.adwin_oracle import SlowAdwin
from thalweg.learners.base.forest import Grove

WORD = 2**64 - 1
Row = tuple[int, int]  # its number in the stream, and how often it counts
Singles = NDArray[np.float32]


class Chance:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.seed, self.drawn = (seed + 1) * 0xD1B54A32D192ED03 & WORD, 0

    def next(self) -> int:
        self.drawn += 1
        h = (self.seed + self.drawn * 0x9E3779B97F4A7C15) & WORD
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        h = (h ^ (h >> 27)) * 0x94D049BB133111EB & WORD
        return h ^ (h >> 31)

    def below(self, count: int) -> int:
        return (self.next() >> 32) * count >> 32

    def fraction(self) -> float:
        return (self.next() >> 11) * 2.0**-53


@cache
def quantile(level: float, mean: float) -> int:
    return int(poisson.ppf(level, mean))


class Draws:
    """How often rows count: Poisson, six draws out of a number of 64 bits."""

    def __init__(self, mean: float, chance: Chance) -> None:
        self.mean, self.chance = mean, chance
        self.waiting: list[int] = []

    def next(self, weight: float) -> int:
        if not self.waiting:
            bits = self.chance.next()
            self.waiting = [bits // 1024**i % 1024 for i in range(6)]
        level = (self.waiting.pop(0) + 0.5) / 1024
        times = quantile(level, self.mean) if self.mean else 1
        if weight == 1:
            return times
        wanted = min(times * weight, 255.0)
        return math.floor(wanted) + (self.chance.fraction() < wanted - math.floor(wanted))


class Window:
    """The last rows, and the codes of each feature: its values while they are few, else quantiles of 512 rows."""

    def __init__(self, p: int, capacity: int) -> None:
        self.p, self.capacity, self.seen = p, capacity, 0
        self.rows: dict[int, tuple[Singles, int, float]] = {}
        self.exact = [True] * p
        self.bounds: list[list[np.float32]] = [[] for _ in range(p)]

    def holds(self, number: int) -> bool:
        return number in self.rows

    def code(self, number: int, j: int) -> int:
        return bisect_left(self.bounds[j], self.rows[number][0][j])

    def codes(self, j: int) -> int:
        return len(self.bounds[j]) + (not self.exact[j])

    def between(self, j: int, low: int, high: int) -> np.float32:
        return np.float32(0.5) * (self.bounds[j][low] + self.bounds[j][high if self.exact[j] else high - 1])

    def add(self, x: Singles, label: int, weight: float) -> None:
        self.rows.pop(self.seen - self.capacity, None)
        self.rows[self.seen] = x, label, weight
        self.seen += 1
        for j in range(self.p):
            if self.exact[j] and x[j] not in self.bounds[j]:
                if len(self.bounds[j]) == 64:
                    self.refit(j)
                else:
                    self.bounds[j] = sorted([*self.bounds[j], x[j]])
            elif not self.exact[j]:
                at_first = self.seen in (64, 128, 256, 512, 1024, 2048)
                if at_first or (self.seen > 2048 and (self.seen + 37 * j) % 2048 == 0):
                    self.refit(j)

    def refit(self, j: int) -> None:
        newest = sorted(self.rows)[-512:]
        values = sorted(self.rows[number][0][j] for number in newest)
        self.exact[j], bounds = False, set()
        for i in range(1, 64):
            if k := i * len(values) // 64:
                low, high = values[k - 1], values[k]
                bounds.add(np.float32(0.5) * (low + high) if high > low else low)
        self.bounds[j] = sorted(bound for bound in bounds if bound < values[-1])


@cache
def n_log_n(n: int) -> np.float32:
    return np.float32(n * math.log(n) if n > 1 else 0)


def best_cut(
    window: Window, rows: list[Row], classes: int, share: float, least_gain: float, chance: Chance
) -> tuple[int, tuple[int, int, np.float32] | None]:
    """How many numbers are looked at, and the feature, code and threshold of the cut that gains most, if any."""
    count = np.zeros(classes, dtype=int)
    for number, times in rows:
        count[window.rows[number][1]] += times
    by_class = sum(map(n_log_n, count.tolist()), start=np.float32(0))
    most = n_log_n(count.sum()) - by_class
    work, best, found = len(rows), np.float32(least_gain), None
    if most <= best:
        return work, None
    order, left = list(range(window.p)), min(64, math.ceil(share * window.p))
    for i in range(window.p):
        if left == 0:
            break
        at = i + chance.below(window.p - i)
        order[i], order[at] = order[at], order[i]
        j = order[i]
        if window.codes(j) < 2:
            continue
        work += len(rows)
        codes = {number: window.code(number, j) for number, _ in rows}
        met = sorted(set(codes.values()))
        left -= len(met) > 1
        below, children = np.zeros(classes, dtype=int), by_class
        for code, following in pairwise(met):
            for number, times in rows:  # in the order in which numbers of single precision are added up
                if codes[number] == code:
                    k = window.rows[number][1]
                    if classes > 4:
                        children -= n_log_n(below[k]) + n_log_n(count[k] - below[k])
                    below[k] += times
                    if classes > 4:
                        children += n_log_n(below[k]) + n_log_n(count[k] - below[k])
            if classes <= 4:
                pairs = zip(below.tolist(), (count - below).tolist(), strict=True)
                children = sum((n_log_n(a) + n_log_n(b) for a, b in pairs), start=np.float32(0))
            gain = most - (n_log_n(below.sum()) + n_log_n((count - below).sum()) - children)
            if gain > best:
                best, found = gain, (j, code, window.between(j, code, following))
    return work, found


@dataclass
class Leaf:
    """What is known where rows end: counts that fade, what was inherited, weights of the refinement."""

    counts: Singles
    inherited: Singles
    weights: Singles
    squares: Singles
    seen: int = 0
    due: int = 0
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def fresh(cls, classes: int) -> Leaf:
        none = np.zeros(classes, dtype=np.float32)
        return cls(none, np.full(classes, 1 / max(classes, 1), dtype=np.float32), none.copy(), none.copy())

    def widen(self) -> None:
        c = len(self.counts)
        self.inherited = np.append(self.inherited * np.float32(c / (c + 1)), np.float32(1 / (c + 1)))
        for name in ("counts", "weights", "squares"):
            setattr(self, name, np.append(getattr(self, name), np.float32(0)))


@dataclass
class Node:
    """A leaf, or a cut with a node on each side."""

    leaf: Leaf
    feature: int = -1
    threshold: float = 0.0
    sides: tuple[Node, ...] = ()

    def find(self, x: Singles) -> Node:
        return self if not self.sides else self.sides[int(x[self.feature] > self.threshold)].find(x)

    def leaves(self) -> list[Leaf]:
        return [leaf for side in self.sides for leaf in side.leaves()] or [self.leaf]

    def split(self, feature: int, threshold: float, counts: Singles) -> None:
        """Both sides inherit the distribution and the weights."""
        old = self.leaf
        above = (counts + old.inherited) / (1 + counts.sum())
        self.sides = tuple(
            Node(Leaf(np.zeros_like(counts), above.copy(), old.weights.copy(), old.squares.copy())) for _ in range(2)
        )
        self.feature, self.threshold = feature, threshold


#: Rows that belong to a node whose cut has not been sought yet.
Segments = list[tuple[Node, list[Row]]]


@dataclass
class Grown:
    """A tree, its recent mistakes, and the number of rows that it is to be grown anew from, if any."""

    changes: SlowAdwin
    tree: Node
    mistakes: float = 0.0
    judged: float = 0.0
    born: int = 0
    wanted: int = 0

    @property
    def error(self) -> float:
        return self.mistakes / self.judged if self.judged else 0.5


@dataclass
class Opinion:
    """What trees make of a row."""

    nodes: list[Node]
    said: list[int]
    votes: NDArray[np.float64]
    logs: NDArray[np.float64]
    refined: NDArray[np.float64]


class SlowGrove:
    """Trees that learn and forget alike."""

    def __init__(self, options: Grove, window: Window, chance: Chance) -> None:
        self.options, self.window, self.chance, self.classes = options, window, chance, 0
        self.grown = [Grown(SlowAdwin(options.change_level, 32), Node(Leaf.fresh(0))) for _ in range(options.trees)]
        self.vote = np.ones(options.trees)
        self.bias, self.bias_squares = np.zeros(0), np.zeros(0)
        self.slope, self.slope_squares = np.ones(1), np.zeros(1)
        self.growing: Grown | None = None
        self.due = self.budget = 0
        self.young = Node(Leaf.fresh(0))
        self.open: Segments = []

    def widen(self) -> None:
        self.classes += 1
        for tree in [own.tree for own in self.grown] + [self.young]:
            for leaf in tree.leaves():
                leaf.widen()
        self.bias, self.bias_squares = np.append(self.bias, 0), np.append(self.bias_squares, 0)

    def judge(self, x: Singles) -> Opinion:
        nodes = [own.tree.find(x) for own in self.grown]
        parts = [node.leaf.counts + node.leaf.inherited for node in nodes]
        votes = sum(vote * part / max(part.sum(), 1e-9) for vote, part in zip(self.vote, parts, strict=True))
        votes = votes / votes.sum()
        logs = np.log((votes + 0.01) * self.classes)
        scores = self.bias + self.slope * logs + sum(node.leaf.weights.astype(float) for node in nodes)
        refined = np.exp(scores - scores.max())
        return Opinion(nodes, [int(part.argmax()) for part in parts], votes, logs, refined / refined.sum())

    def learn(self, label: int, weight: float, of: Opinion) -> None:
        options, now = self.options, self.window.seen
        for own, said in zip(self.grown, of.said, strict=True):
            own.mistakes = 0.998 * own.mistakes + weight * (said != label)
            own.judged = 0.998 * own.judged + weight
            if options.change_level:
                change = own.changes.update(float(said != label))
                if change and change[2] > change[1]:
                    own.wanted = max(change[0], 64)
        mean_error = float(np.mean([own.error for own in self.grown]))
        self.refine(label, min(weight, 255.0), of)
        draws = Draws(options.bagging, self.chance)
        for own, node in zip(self.grown, of.nodes, strict=True):
            if times := draws.next(weight):
                self.put(own.tree, node, label, (now - 1, times))
        if options.regrow_every and now >= max(self.due, 128):
            self.give_up_worst()
            held = min(now, self.window.capacity)
            self.due = now + max(options.regrow_every, int(options.regrow_share * held))
        self.grow_on(mean_error)
        if now % 16 == 0:
            errors = np.array([own.error for own in self.grown])
            self.vote = np.exp(-10 * (errors - min(1, errors.min())))

    def refine(self, label: int, weight: float, of: Opinion) -> None:
        if self.options.step == 0:
            return
        pull = weight * (of.refined - np.eye(self.classes)[label])

        def descend(values: NDArray, squares: NDArray, gradient: NDArray | float, step: float) -> None:
            squares += gradient**2
            values -= step * gradient / np.sqrt(squares + 1)

        descend(self.bias, self.bias_squares, pull, 0.1)
        descend(self.slope, self.slope_squares, pull @ of.logs, 0.1)
        for node in of.nodes:
            descend(node.leaf.weights, node.leaf.squares, pull, self.options.step / len(of.nodes))

    def put(self, tree: Node, node: Node, label: int, row: Row) -> None:
        """A row reaches a leaf, which may become a cut."""
        leaf = node.leaf
        leaf.counts *= np.float32(self.options.fading)
        leaf.counts[label] += row[1]
        leaf.rows = [*leaf.rows, row][-self.options.leaf_rows :]
        leaf.seen += 1
        if leaf.seen < leaf.due:
            return
        leaf.due = leaf.seen + max(8, min(leaf.seen, 4 * self.options.leaf_rows) // 2)
        rows = [each for each in leaf.rows if self.window.holds(each[0])]
        segments: Segments = []
        self.cut_or_settle(tree, node, rows, segments, leaf.counts)
        while segments:
            self.grow(tree, segments)

    def grow(self, tree: Node, segments: Segments) -> int:
        node, rows = segments.pop()
        return self.cut_or_settle(tree, node, [row for row in rows if self.window.holds(row[0])], segments)

    def cut_or_settle(
        self,
        tree: Node,
        node: Node,
        rows: list[Row],
        segments: Segments,
        counts: Singles | None = None,
    ) -> int:
        """How many numbers are looked at. A leaf of the stream, which has ``counts``, stays as it is without a cut."""
        options, work, cut = self.options, len(rows), None
        if len(rows) >= 8 and len(tree.leaves()) < options.max_leaves:
            work, cut = best_cut(
                self.window, rows, self.classes, options.feature_share, options.least_gain, self.chance
            )
        if cut is None:
            if counts is None:
                self.settle(node.leaf, rows)
            return work
        feature, code, threshold = cut
        if counts is None:
            counts = np.zeros(self.classes, dtype=np.float32)
            for number, times in rows:
                counts[self.window.rows[number][1]] += times
        node.split(feature, threshold, counts)
        sides: tuple[list[Row], list[Row]] = ([], [])
        for row in rows:
            sides[int(self.window.code(row[0], feature) > code)].append(row)
        segments += [(node.sides[1], sides[1]), (node.sides[0], sides[0])]
        return work + len(rows)

    def settle(self, leaf: Leaf, rows: list[Row]) -> None:
        share = 1.0
        for number, times in reversed(rows):
            if share <= 1e-3:
                break
            leaf.counts[self.window.rows[number][1]] += share * times
            share *= self.options.fading
        leaf.rows = rows[-self.options.leaf_rows :]
        leaf.seen, leaf.due = len(rows), len(rows) + max(4, len(rows) // 2)

    def give_up_worst(self) -> None:
        old = [own for own in self.grown if self.window.seen - own.born >= 100 and not own.wanted]
        if old:
            lengths = [self.options.shortest]
            while 2 * lengths[-1] <= self.options.longest:
                lengths.append(2 * lengths[-1])
            max(old, key=lambda own: own.error).wanted = lengths[self.chance.below(len(lengths))]

    def grow_on(self, mean_error: float) -> None:
        """As far as there is a budget, the worst first."""
        self.budget += 512 * len(self.grown)
        while self.budget > 0:
            if self.growing is None:
                wanted = [own for own in self.grown if own.wanted]
                if not wanted:
                    self.budget = 0
                    return
                self.growing = max(wanted, key=lambda own: own.error)
                self.begin_growth(self.growing.wanted)
            while self.budget > 0 and self.open:
                self.budget -= self.grow(self.young, self.open)
            if not self.open:
                old, self.growing = self.growing, None
                old.tree, old.changes = self.young, SlowAdwin(self.options.change_level, 32)
                old.mistakes, old.judged = 20 * mean_error, 20.0
                old.born, old.wanted = self.window.seen, 0

    def begin_growth(self, wanted: int) -> None:
        numbers = sorted(self.window.rows)[-wanted:]
        draws = Draws(self.options.bagging, self.chance)
        rows = [(number, times) for number in numbers if (times := draws.next(self.window.rows[number][2]))]
        self.young = Node(Leaf.fresh(self.classes))
        self.open = [(self.young, rows)]
        self.budget -= len(numbers)


class SlowForest:
    """Groves over one window; a class has a number from its first row on."""

    def __init__(self, p: int, groves: list[Grove], rows: int, seed: int) -> None:
        self.window, self.chance = Window(p, rows), Chance(seed)
        self.groves = [SlowGrove(grove, self.window, self.chance) for grove in groves]
        self.arrivals: list[int] = []

    def predict_then_learn(self, row: NDArray[np.float64], k: int, weight: float = 1.0) -> dict[int, float]:
        """The probability of each class met before this row."""
        x = np.clip(row, -3e38, 3e38).astype(np.float32)
        opinions = [grove.judge(x) for grove in self.groves] if self.arrivals else []
        said = [each for opinion in opinions for each in (opinion.votes, opinion.refined)]
        found = dict(zip(self.arrivals, np.mean(said, axis=0).tolist() if said else [], strict=True))
        if weight == 0:
            return found
        if k not in self.arrivals:
            self.arrivals.append(k)
            for grove in self.groves:
                grove.widen()
            opinions = [grove.judge(x) for grove in self.groves]
        label = self.arrivals.index(k)
        self.window.add(x, label, weight)
        for grove, opinion in zip(self.groves, opinions, strict=True):
            grove.learn(label, weight, opinion)
        return found
